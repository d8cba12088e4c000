"""Profiles of devices: their files, which one a target has, and what depends on it."""

import json
import os
from dataclasses import fields, replace
from math import prod

import numpy as np
import pytest

import texloom
from texloom import profiles, te
from texloom.graph import Graph, load
from texloom.ops.products import matmul
from texloom.ops.schedules.family import KernelTask
from texloom.ops.schedules.gpu import tiles
from texloom.ops.schedules.gpu.channels_last import CONVOLUTIONS, Convolution
from texloom.ops.schedules.gpu.product_family import PRODUCTS, Product
from texloom.ops.schedules.gpu.product_tiles import Limits
from texloom.ops.schedules.gpu.slices import PRODUCTS_OF_FEW_ROWS
from texloom.ops.schedules.gpu_tiles import gpu_tile
from texloom.ops.schedules.reduction import parts_of
from texloom.profiles.device_profile import ProfileError, parsed
from texloom.profiles.kept import folder, kept_file
from texloom.target import Target

PHONE = profiles.DeviceIdentity("Adreno (TM) 740", "QUALCOMM", "QUALCOMM Snapdragon(TM)", "1.0")
WARNED = texloom.TexloomWarning


@pytest.fixture
def caches(tmp_path, monkeypatch):
    """The folder of caches, which is empty."""
    monkeypatch.setenv("TEXLOOM_CACHE_DIR", str(tmp_path))
    return tmp_path


def measured_on(identity, **changes):
    """A profile that looks measured."""
    base = profiles.stated("adreno-7xx")
    curve = (profiles.Bandwidth("buffer", 8192, 1e11),)
    own = {"name": identity.name, "origin": "measured", "device": identity, "bandwidths": curve}
    return replace(base, **{**own, **changes})


def value_of(text):
    return Target(text).value


@pytest.mark.parametrize("name", profiles.stated_names())
def test_stated_profiles_say_where_their_figures_are_from(name):
    profile = profiles.stated(name)
    assert profile.name == name and profile.origin == "stated" and profile.device is None
    assert all(len(each) > 40 for each in profile.sources)
    # Nearer memory is at least as fast as memory that is further away.
    assert profile.near_rate >= profile.cache_rate >= profile.memory_rate
    assert profile.fma_seconds < profile.latency_seconds < profile.launch_seconds
    assert profile.matrix_speed >= 1 and profile.matrix_rate >= profile.fma_rate


@pytest.mark.parametrize("made", [profiles.stated("nvidia-h200"), measured_on(PHONE)])
def test_a_text_is_read_as_what_was_written(made):
    assert parsed(made.text()) == made
    assert parsed(made.text()).digest() == made.digest()


def changed(**changes):
    given = json.loads(measured_on(PHONE).text())
    return json.dumps({**given, **changes})


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not JSON"),
        (measured_on(PHONE).text()[:-30], "not JSON"),
        ("[" * 100000, "not JSON"),
        ("[]", "not a profile"),
        ('{"format": "other"}', "not a profile"),
        (changed(version=1), "version 1"),
        (changed(processors=0), "processors is 0"),
        (changed(processors=True), "processors is True"),
        (changed(near_rate=float("inf")), "near_rate is inf"),
        (changed(near_rate="fast"), "near_rate is 'fast'"),
        (changed(name=3), "name is 3"),
        (changed(has_fast_shared_memory=1), "has_fast_shared_memory is 1"),
        (changed(origin="guessed"), "origin is 'guessed'"),
        (changed(device={"name": "x"}), "device.vendor is missing"),
        (changed(fma_rates=[]), "no rate of float32"),
        (changed(fma_rates={}), "fma_rates is not a list"),
        (changed(fma_rates=[3]), "not an object"),
        (changed(color="red"), "'color' is not known"),
        (changed(**{"\ud800": 1}), "is not known"),
        (changed(near_rate=10**400), "near_rate is 1000"),
        (changed(cache_rate=5e-324), "cache_rate is 5e-324"),
        (changed(warp_threads=10**30), "warp_threads is 1000"),
        (changed(device=[]), "device is not an object"),
    ],
    ids=lambda each: each[:30] if each[:1] not in "{[" else "text",
)
def test_damaged_texts_are_refused(text, says):
    with pytest.raises(ProfileError, match=says):
        parsed(text)


@pytest.mark.parametrize("field", [each.name for each in fields(profiles.DeviceProfile)])
def test_every_field_is_needed(field):
    given = json.loads(measured_on(PHONE).text())
    del given[field]
    with pytest.raises(ProfileError, match=f"{field} is missing"):
        parsed(json.dumps(given))


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("opencl -device=nvidia", "nvidia-h200"),
        ("opencl -device=adreno", "adreno-7xx"),
        ("opencl -device=adreno -profile=adreno-6xx", "adreno-6xx"),
        ("opencl -device=mali", "mali-valhall"),
        ("opencl -device=intel_graphics", "intel-xe"),
        ("opencl -device_class=gpu", "gpu"),
        ("opencl", "cpu"),
        ("llvm", "cpu"),
        ("opencl -device=pocl", "cpu"),
        ("metal", "apple-m1"),
        ("metal -device=m3", "apple-m1"),
        ("metal -device=mac-intel", "intel-xe"),
    ],
)
def test_the_profile_of_a_target(target, name):
    assert profiles.profile_of(value_of(target)).name == name


def test_the_attribute_is_part_of_the_text_of_a_target():
    """So caches, whose keys have the text, do not mix profiles."""
    text = "opencl -device=adreno -profile=adreno-6xx"
    assert str(Target(text)) == text
    assert Target(text) != Target("opencl -device=adreno")


def test_unknown_and_damaged_profiles_are_refused(caches):
    with pytest.raises(texloom.TVMError, match="TL5016.*no profile 'adreno-9xx'"):
        Target("opencl -profile=adreno-9xx")
    with pytest.raises(texloom.TVMError, match="TL5016.*no profile 'measured-00000000-00000000'"):
        Target("opencl -profile=measured-00000000-00000000")
    with pytest.raises(texloom.TVMError, match=r"TL5018.*gone\.json cannot be read: No such file"):
        Target(f"opencl -profile={caches}/gone.json")
    (caches / "cut.json").write_text(measured_on(PHONE).text()[:100])
    with pytest.raises(texloom.TVMError, match=r"TL5019.*cut\.json is damaged: it is not JSON"):
        Target(f"opencl -profile={caches}/cut.json")
    (caches / "bytes.json").write_bytes(b"\xff\xfe")
    with pytest.raises(texloom.TVMError, match=r"TL5019.*bytes\.json is damaged"):
        Target(f"opencl -profile={caches}/bytes.json")


def test_a_file_is_a_profile_of_any_target(caches):
    (caches / "phone.json").write_text(measured_on(PHONE, busy_threads=77).text())
    value = value_of(f"opencl -device=adreno -profile={caches}/phone.json")
    assert profiles.profile_of(value).busy_threads == 77


def test_a_path_means_what_a_process_reads_first(caches):
    """So equal targets have equal schedules in a process, whatever happens to the file."""
    path = caches / "phone.json"
    path.write_text(measured_on(PHONE, busy_threads=77).text())
    text = f"opencl -device=adreno -profile={path}"
    Target(text)
    path.write_text(measured_on(PHONE, busy_threads=78).text())
    assert profiles.profile_of(value_of(text)).busy_threads == 77
    profiles.profile_of.cache_clear()
    assert profiles.profile_of(value_of(text)).busy_threads == 77


def test_a_target_with_a_profile_is_checked():
    value = texloom._core.TargetValue("opencl -profile=none")
    with pytest.raises(texloom.TVMError, match="TL5016"):
        profiles.check_profile(value)
    assert profiles.check_profile(value_of("opencl")) is None


def test_a_kept_profile_replaces_the_earlier_one_of_its_device(caches):
    first = profiles.keep(measured_on(PHONE))
    other = profiles.keep(measured_on(replace(PHONE, name="Adreno (TM) 730")))
    second = profiles.keep(measured_on(PHONE, processors=5))
    assert first != second
    kept = {path.name for path in folder().iterdir()}
    assert kept == {f"{other}.json", f"{second}.json"}
    assert profiles.named_profile(second).processors == 5
    assert profiles.keep(measured_on(PHONE, processors=5)) == second
    assert kept_file(PHONE).stem == second
    assert folder().parent == caches


def test_nothing_is_kept_without_a_folder(monkeypatch):
    monkeypatch.setenv("TEXLOOM_CACHE_DIR", "")
    assert profiles.keep(measured_on(PHONE)) is None
    assert kept_file(PHONE) is None


def test_a_write_that_fails_leaves_the_earlier_profile(caches, monkeypatch):
    name = profiles.keep(measured_on(PHONE))

    def fail(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(KeyboardInterrupt):
        profiles.keep(measured_on(PHONE, processors=5))
    assert [path.name for path in folder().iterdir()] == [f"{name}.json"]


def test_the_target_of_a_device_names_its_measured_profile(dev, caches):
    before = Target.from_device(dev)
    assert "profile" not in before._given or not before.attrs["profile"]
    identity = profiles.DeviceIdentity.of(dev.info)
    name = profiles.keep(measured_on(identity, busy_threads=33))
    target = Target.from_device(dev)
    assert target.attrs["profile"] == name
    assert profiles.profile_of(target.value).busy_threads == 33
    spelled = f"opencl:{dev.device_id}"
    assert Target(spelled) == target
    assert Target(f"{spelled} -profile=adreno-8xx").attrs["profile"] == "adreno-8xx"
    # A target that names no device does not depend on what is measured.
    assert profiles.profile_of(value_of("opencl -device=pocl")).name == "cpu"


def test_profiles_that_do_not_hold_are_told_and_not_used(dev, caches):
    identity = profiles.DeviceIdentity.of(dev.info)
    name = profiles.keep(measured_on(replace(identity, driver="older")))
    with pytest.warns(WARNED, match="TL5022.* is of .*older.*\n.*texloom devices --measure"):
        assert not Target.from_device(dev).attrs["profile"]
    path = folder() / f"{name}.json"
    path.write_text(path.read_text()[:-100])
    with pytest.warns(WARNED, match="TL5022.*is damaged: it is not JSON"):
        assert not Target.from_device(dev).attrs["profile"]
    name = profiles.keep(measured_on(identity))
    path = folder() / f"{name}.json"
    path.write_text(path.read_text().replace('"processors": 6', '"processors": 60'))
    with pytest.warns(WARNED, match="TL5022.*damaged: its figures are not those"):
        assert not Target.from_device(dev).attrs["profile"]
    path.unlink()
    other = profiles.keep(measured_on(PHONE))
    spelled = f"opencl:{dev.device_id}"
    with pytest.warns(WARNED, match=f"TL5022.*{other} is not used for {spelled}: it is of Adreno"):
        target = Target(f"{spelled} -profile={other}")
    assert target.attrs["profile"] != other


@pytest.mark.parametrize(
    ("device", "profile"), [("Adreno (TM) 640", "adreno-6xx"), ("Adreno (TM) 830", "adreno-8xx")]
)
def test_devices_whose_names_tell_more_than_their_presets(device, profile):
    assert profiles.family_named(device) == profile
    assert profiles.profile_for_device("opencl:0", info(device)) == profile


def info(device):
    return {"name": device, "vendor": "", "platform": "", "driver_version": "1"}


def test_a_device_of_its_preset_needs_no_name():
    for device in ("Adreno (TM) 740", "NVIDIA H200", "Mali-G710 8.3.0"):
        assert profiles.profile_for_device("opencl:0", info(device)) == ""


def test_choices_of_tiles_depend_on_the_profile():
    """A device of few processors has larger tiles, and does not divide sums into pieces."""
    large, small = (profiles.stated(name) for name in ("nvidia-h200", "apple-m1"))
    limits = Limits.of(value_of("opencl -device=nvidia"))
    product = Product(1, 197, 768, 3072, limits)
    assert PRODUCTS.best(product, large).pieces > 1
    assert PRODUCTS.best(product, small).pieces == 1
    # Of small products, smaller tiles make enough blocks for many processors.
    product = Product(1, 128, 128, 1024, limits)
    of_many, of_few = (PRODUCTS.best(product, each) for each in (large, small))
    assert of_few.rows * prod(of_few.warps) > of_many.rows * prod(of_many.warps)
    layer = Convolution(tiles.ConvolutionShape(14, 14, 256, 256, (3, 3)), tiles.BlockLimits())
    chosen = {
        name: CONVOLUTIONS.best(layer, profiles.stated(name))
        for name in ("nvidia-h200", "adreno-6xx")
    }
    # Slices of the input channels give 132 processors enough threads; three have them anyway.
    assert chosen["nvidia-h200"].slices > chosen["adreno-6xx"].slices


def test_choices_of_reductions_depend_on_the_profile():
    x = te.placeholder((4, 1 << 20), name="x")
    k = te.reduce_axis((0, 1 << 20), name="k")
    y = te.compute((4,), lambda i: te.sum(x[i, k], axis=k), name="y")
    parts = {
        name: parts_of(y, True, value_of(f"opencl -device={name}"))
        for name in ("nvidia", "adreno", "mali")
    }
    assert parts["nvidia"] == 64  # 256 blocks of 64 threads occupy an H200
    assert parts["adreno"] < parts["nvidia"]
    a, b = te.placeholder((64, 24), name="a"), te.placeholder((24, 32), name="b")
    product = matmul(a, b)
    rows = {
        name: gpu_tile(product, 32, profiles.stated(name), 1024).rows for name in ("gpu", "cpu")
    }
    assert rows["gpu"] < rows["cpu"]  # with fewer busy threads, tiles have more rows


def test_tiles_in_shared_memory_need_fast_shared_memory():
    x, w = te.placeholder((30, 64), name="x"), te.placeholder((64, 48), name="w")
    row = te.placeholder((1, 64), name="row")
    for name, is_fast in (("adreno-7xx", False), ("intel-xe", True)):
        target = value_of(f"opencl -device=adreno -profile={name}")
        sums, few = matmul(x, w), matmul(row, w)
        for family, product in ((PRODUCTS, sums), (PRODUCTS_OF_FEW_ROWS, few)):
            task = KernelTask.of_sums(product, product, target)
            assert (family.default(task) is not None) == is_fast


def test_a_model_for_a_profile_runs_where_the_profile_is_gone(dev, caches):
    """A package has kernels; only compiling asks for the profile."""
    name = profiles.keep(measured_on(profiles.DeviceIdentity.of(dev.info)))
    graph = Graph("twice")
    x = graph.input("x", (64,))
    (y,) = graph.op("y", "twice", lambda t: te.compute((64,), lambda i: t[i] + t[i]), [x])
    graph.output(y)
    graph.compile(f"opencl:{dev.device_id}").save(caches / "twice.tlp")
    (folder() / f"{name}.json").unlink()
    profiles.named_profile.cache_clear()
    profiles.profile_of.cache_clear()
    values = np.arange(64, dtype="float32")
    loaded = load(caches / "twice.tlp")
    np.testing.assert_array_equal(loaded.run({"x": values}, dev)["y"], 2 * values)
