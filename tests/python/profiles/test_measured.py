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
    # A device has between 10^8 and 10^15 fused products and bytes a second.
    rates = [each.per_second for each in (*made.fma_rates, *made.bandwidths)]
    assert all(1e7 < each < 1e15 for each in rates)
    # Vectors are at least as fast as scalars, but for what else runs on the machine.
    by_lanes = {each.lanes: each.per_second for each in made.fma_rates if each.dtype == "float32"}
    assert by_lanes[max(by_lanes)] > 0.5 * by_lanes[1]
    assert 1e-10 < made.fma_seconds < 1e-6
    assert 1e-9 < made.latency_seconds < 1e-4
    assert 1e-7 < made.launch_seconds < 1e-2
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
