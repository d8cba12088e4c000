"""Measuring a device: the profile is sane, kept, and used; the command shows and tells it."""

import json
from dataclasses import replace

import numpy as np
import pytest
from command_model import fails, run_command, succeeds

import texloom
from texloom import profiles
from texloom.command_line.device_report import profile_lines
from texloom.measure import device_kernels as kernels
from texloom.measure import device_profile
from texloom.measure.device_profile import NOT_MEASURED
from texloom.measure.device_rates import Rates, rates_of
from texloom.profiles.device_profile import parsed
from texloom.profiles.kept import folder
from texloom.target import Target


@pytest.fixture(scope="module")
def profile():
    """A measured profile of the first device, and what was told while it was measured."""
    told = []
    made = device_profile.measure_profile(texloom.opencl(0), lambda *part: told.append(part))
    return made, told


@pytest.fixture
def caches(tmp_path, monkeypatch):
    monkeypatch.setenv("TEXLOOM_CACHE_DIR", str(tmp_path))
    return tmp_path


def test_a_measured_profile_is_sane(profile):
    made, told = profile
    info = texloom.opencl(0).info
    assert made.origin == "measured" and made.device == profiles.DeviceIdentity.of(info)
    assert made.processors == info["compute_units"]
    # A device, also one that is simulated, has between 10^7 and 10^15 products and bytes a second.
    rates = [each.per_second for each in (*made.fma_rates, *made.bandwidths)]
    assert all(1e7 < each < 1e15 for each in rates)
    lanes = {each.lanes for each in made.fma_rates if each.dtype == "float32"}
    assert lanes == ({1, 4} if info["type"] == "gpu" else {1, 4, 16})
    # Times are no rates. Other work may hold all runs up, by some milliseconds each.
    assert 1e-10 < made.fma_seconds < 0.1
    assert 1e-9 < made.latency_seconds < 0.1
    assert 1e-7 < made.launch_seconds < 0.1
    assert made.busy_threads % 64 == 0
    memories = {each.memory for each in made.bandwidths}
    assert memories == {"buffer", "texture", "shared"} if info["images"] else {"buffer", "shared"}
    footprints = [each.footprint for each in made.bandwidths if each.memory == "buffer"]
    assert footprints == sorted(footprints) and footprints[-1] >= 1000 * footprints[0]
    assert parsed(made.text()) == made
    assert [number for _, number, _ in told] == list(range(told[0][2]))


def test_kernels_read_what_they_say(dev):
    """Each thread adds up the vectors at its places, so no read is left out."""
    target, steps, threads = Target.from_device(dev), 12, np.arange(kernels.THREADS)
    x = np.random.default_rng(1).integers(0, 9, (64, 4)).astype("float32")
    for apart, stride in ((1, kernels.THREADS), (3, 1)):
        out = texloom.nd.empty((1, kernels.THREADS, 4), device=dev)
        read = kernels.reads("buffer", 4, target)
        read(texloom.nd.array(x, dev), out, steps, apart, stride)
        places = (threads[:, None] * apart + np.arange(steps) * stride) % 64
        np.testing.assert_array_equal(out.numpy()[0], x[places].sum(axis=1))
    texels = np.random.default_rng(2).integers(0, 9, (2, kernels.TEXELS, 4)).astype("float32")
    out = texloom.nd.empty((1, kernels.THREADS, 4), device=dev)
    image = texloom.nd.array(texels, dev, "global.texture")
    kernels.reads("texture", 4, target)(image, out, steps, 1, kernels.THREADS)
    places = (threads[:, None] + np.arange(steps) * kernels.THREADS) % (2 * kernels.TEXELS)
    np.testing.assert_array_equal(out.numpy()[0], texels.reshape(-1, 4)[places].sum(axis=1))
    kernels.shared_reads(256, 4, target)(out, steps, 128)
    places = (threads[:, None] + np.arange(steps) * kernels.THREADS) % 128
    expected = np.repeat(places.sum(axis=1)[:, None], 4, axis=1)  # a vector holds its number
    np.testing.assert_array_equal(out.numpy()[0], expected)


@pytest.mark.parametrize("blocks", [7, 16 * 32, 132 * 32])
def test_the_steps_of_a_block_come_to_the_whole_footprint(blocks):
    """Otherwise, the near cache would have what is read of larger memory."""
    walk = device_profile._Walk.of_blocks(blocks)
    stride, threads = walk.stride, np.arange(kernels.THREADS)
    most = device_profile._MOST_INDEX // stride
    assert walk.apart == 1  # neighboring threads read neighboring vectors
    for vectors in (1 << 9, 1 << 13, 1 << 19, 1 << 23):
        steps = min(vectors // kernels.THREADS, most, 1 << 13)
        places = (threads[:, None] + np.arange(steps) * stride) % vectors
        assert len(np.unique(places)) == steps * kernels.THREADS
        # The blocks of an even number leave out what one block reads, or meet there.
        begins = (np.arange(blocks) * kernels.THREADS + stride * np.arange(2)[:, None]) % vectors
        assert len(np.unique(begins)) >= min(2 * blocks, vectors // kernels.THREADS) - 1


def test_threads_of_a_processor_read_on_from_each_other():
    """Otherwise, a thread would find in the near cache what the one before it has read."""
    given = []

    class Counting:
        def rate(self, _, arguments, stride):
            given.append((stride, arguments(12)))
            return 2.0

    out = np.empty((3, kernels.THREADS, 16))
    assert device_profile._Walk.of_processor().rate(Counting(), None, "x", out) == 8 * out.size
    assert given == [(3 * kernels.THREADS, ("x", out, 12, 12, 1))]


@pytest.mark.parametrize("stride", [1, 64, 270336, 270400, 1 << 29, 1 << 31])
@pytest.mark.parametrize("per_step", [0, 1e-12])
def test_runs_on_fast_devices_do_not_get_longer_for_ever(stride, per_step):
    """Runs have a multiple of the unrolled steps, which the largest index need not have."""
    runs = []

    def seconds(steps):
        runs.append(steps)
        assert len(runs) < 100
        return 1e-7 + steps * per_step

    assert device_profile._steps_per_second(seconds, stride) > 0
    assert all(steps % kernels.UNROLLED == 0 for steps in runs)
    assert runs[-1] == kernels.UNROLLED or runs[-1] * stride <= device_profile._MOST_INDEX


def test_runs_on_slow_devices_stay_short():
    runs = []

    def seconds(steps):
        runs.append(steps)
        return 3.0 * steps

    assert device_profile._steps_per_second(seconds, 1) == pytest.approx(1 / 3)
    assert runs == [kernels.UNROLLED] * 4


def test_runs_that_are_held_up_do_not_count():
    """Otherwise, the time of a launch would be taken for that of a few steps."""
    runs = []

    def seconds(steps):
        runs.append(steps)
        return 1e-5 + steps * 1e-9 + (0.01 if 2 <= len(runs) <= 4 else 0)

    assert device_profile._steps_per_second(seconds, 1) == pytest.approx(1e9, rel=0.02)


def test_parts_without_time_left_are_of_the_family(dev):
    """A measurement ends in time; its profile and its report name what it has not measured."""
    told = []
    made = device_profile.measure_profile(dev, lambda *part: told.append(part[0]), 0.0)
    base = made.sources[1].split()[-1]
    family = profiles.stated(base)
    assert made.sources[2] == f"{NOT_MEASURED}{', '.join(told)}: the profile {base}"
    own = {key: getattr(made, key) for key in ("name", "origin", "sources", "device", "processors")}
    texture = family.texture_rate if dev.info["images"] else family.near_rate
    assert made == replace(family, **own, texture_rate=texture, bandwidths=())
    assert parsed(made.text()) == made
    assert made.sources[2] in profile_lines(made)


def test_some_parts_without_time_left(dev):
    """What was measured before the deadline counts."""
    bench = device_profile.Bench.of(dev)

    def latency():
        bench.deadline = 0.0  # is reached between two runs
        bench.seconds(lambda: pytest.fail("a run begins"))

    parts = {"copies": lambda: 5e9, "latency": latency, "barriers": lambda: pytest.fail("begun")}
    found, left_out = device_profile._measured(bench, parts, lambda *_: None)
    assert found == {"copies": 5e9} and left_out == ["latency", "barriers"]
    base = profiles.stated("gpu")
    figures = device_profile._figures(found, base, True)
    assert figures["memory_rate"] == 5e9
    assert figures["barrier_seconds"] == base.barrier_seconds


def test_a_chain_has_all_links(dev):
    """A walk of half of the links has not come back to the first one, and a whole one has."""
    target, count = Target.from_device(dev), 1 << 10
    chain = texloom.nd.empty((count, kernels.LINE), "int32", dev)
    kernels.links(target)(chain)
    links = chain.numpy()[:, 0]
    at, seen = 0, []
    for _ in range(count):
        at = links[at]
        seen.append(at)
    assert sorted(seen) == list(range(count))
    out = texloom.nd.empty((1,), "int32", dev)
    walk = kernels.walks(target)
    for steps in (count // 2, count):
        walk(chain, out, steps)
        assert out.numpy()[0] == seen[steps - 1]


def test_exchanges_pass_numbers_on(dev):
    """After n steps, a thread has the number of the thread n places further on."""
    out = texloom.nd.empty((2, kernels.THREADS), device=dev)
    kernels.exchanges(Target.from_device(dev))(out, 5)
    expected = (np.arange(kernels.THREADS) + 5) % kernels.THREADS
    np.testing.assert_array_equal(out.numpy(), [expected, expected])


def test_slow_devices_are_measured_by_few_runs():
    """A run that takes longer than all of them should is not repeated five times."""
    runs = []

    def run():
        runs.append(1)
        return 0.04

    assert device_profile._best(run) == 0.04
    assert len(runs) == 3


def test_the_report_has_a_bar_for_each_bandwidth(profile):
    made, _ = profile
    lines = profile_lines(made)
    bars = [line for line in lines if line.endswith("#")]
    assert len(bars) == len(made.bandwidths)
    assert max(line.count("#") for line in bars) == 40
    assert any(line.startswith("a launch") and " us " in line for line in lines)


def test_benchmarks_take_the_rates_of_a_measured_profile(dev, caches, capsys):
    identity = profiles.DeviceIdentity.of(dev.info)
    base = profiles.stated("cpu")
    profiles.keep(replace(base, name="x", origin="measured", device=identity))
    rates_of.cache_clear()
    try:
        assert rates_of(dev) == Rates(base.memory_rate, 2 * base.fma_rate)
    finally:
        rates_of.cache_clear()
    assert capsys.readouterr().err == ""


def test_the_command_measures_keeps_and_lists(profile, caches, monkeypatch, capsys):
    monkeypatch.setattr("texloom.command_line.devices.measure_profile", lambda *_: profile[0])
    (listed, *_) = json.loads(succeeds(capsys, "devices", "--json"))
    assert listed["profile"] in profiles.stated_names()
    told = succeeds(capsys, "devices", "--measure")
    (path,) = folder().iterdir()
    assert f"kept as {path.stem}" in told and str(folder()) in told
    assert profiles.named_profile(path.stem) == profile[0]
    (listed, *_) = json.loads(succeeds(capsys, "devices", "--json"))
    assert listed["profile"] == path.stem
    assert path.stem in succeeds(capsys, "devices")
    assert parsed(succeeds(capsys, "devices", "--measure", "--json")) == profile[0]
    monkeypatch.setenv("TEXLOOM_CACHE_DIR", "")
    assert "not kept: set TEXLOOM_CACHE_DIR" in succeeds(capsys, "devices", "--measure")


@pytest.mark.filterwarnings("always::texloom.errors.TexloomWarning")
def test_a_profile_that_cannot_be_kept_is_printed(profile, tmp_path, monkeypatch, capsys):
    """A measurement is not lost because of a full disk, or of a file in place of the folder."""
    monkeypatch.setattr("texloom.command_line.devices.measure_profile", lambda *_: profile[0])
    (tmp_path / "profiles").write_text("")
    monkeypatch.setenv("TEXLOOM_CACHE_DIR", str(tmp_path))
    for options in ([], ["--json"]):
        assert run_command(["devices", "--measure", *options]) == 0
        told = capsys.readouterr()
        assert "warning[TL5018]: the profile is not kept in " in told.err
        assert "help: set TEXLOOM_CACHE_DIR" in told.err
        if options:
            assert parsed(told.out) == profile[0]
        else:
            assert "reads of buffers" in told.out and "kept as" not in told.out


def test_an_interrupted_measurement_keeps_nothing(caches, monkeypatch, capsys):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("texloom.command_line.devices.measure_profile", interrupted)
    assert run_command(["devices", "--measure"]) == 130
    assert capsys.readouterr().err == "\ntexloom devices: interrupted\n"
    assert not folder().exists()


def test_devices_that_are_not_measured(capsys):
    told = fails(capsys, "devices", "--measure", "--device", "host:0")
    assert "TL7001" in told and "--device opencl:0" in told
    assert "add --measure" in fails(capsys, "devices", "--device", "opencl:0")
