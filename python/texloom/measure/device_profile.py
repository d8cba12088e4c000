"""Measures what a device can do, by small kernels that run for some milliseconds each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from math import prod, sqrt
from typing import Any

from .. import nd
from .._core import Device, Function, NDArray
from ..profiles import Bandwidth, DeviceIdentity, DeviceProfile, FmaRate, stated
from ..profiles.device_profile import MEASURED
from ..profiles.families import family_named, family_of
from ..target import Target
from . import device_kernels as kernels
from .loop import BatchArm, Sampling, measure, seconds_of

Progress = Callable[[str, int, int], None]
"""Called with what is measured, the number of parts that are done, and that of all parts."""

_LEAST_SECONDS = 2e-3  # of a run, next to which a launch is short
_REPEATS, _MOST_SECONDS = 6, 0.05  # runs of which the best counts, and their time on slow devices
_MOST_INDEX = 1 << 30
_KIB, _MIB = 1 << 10, 1 << 20
_NEAR = 16 * _KIB  # bytes that are in the near cache of every device
_BUSY = 0.8  # the part of the best rate at which a device is busy
_LEAST_FOOTPRINT = 8 * _KIB
_COPIES, _BARRIERS, _LATENCY = "copies", "barriers", "the latency of memory"
_LAUNCHES, _BUSY_THREADS = "launches", "threads that hide latency"


@dataclass(frozen=True)
class _Sizes:
    """How much work suits a kind of device.

    Attributes
    ----------
    blocks_per_processor : int
    bytes : int
        Of the largest array: larger than most caches.
    lanes : tuple of int
        Lanes of vectors in the kernels of fused products.
    read_lanes : int
        Lanes of the vectors that are read.
    """

    blocks_per_processor: int
    bytes: int
    lanes: tuple[int, ...]
    read_lanes: int


_SIZES = {"gpu": _Sizes(32, 128 * _MIB, (1, 4), 4), "cpu": _Sizes(8, 64 * _MIB, (1, 4, 16), 16)}


@dataclass
class Bench:
    """A device, and how kernels are run on it.

    Attributes
    ----------
    device : Device
    target : Target
        Of the device, without a profile.
    """

    device: Device
    target: Target

    @classmethod
    def of(cls, device: Device) -> Bench:
        """Return the bench of a device."""
        return cls(device, Target(device._target))

    @property
    def is_gpu(self) -> bool:
        """Whether the device is a GPU."""
        return self.device.info["type"] == "gpu"

    @property
    def sizes(self) -> _Sizes:
        """How much work suits the device."""
        return _SIZES["gpu" if self.is_gpu else "cpu"]

    @property
    def blocks(self) -> int:
        """Blocks that occupy the whole device."""
        return self.device.info["compute_units"] * self.sizes.blocks_per_processor

    def empty(self, *shape: int, dtype: str = "float32", scope: str = "") -> NDArray:
        """Return an array on the device."""
        return nd.empty(shape, dtype, self.device, scope or None)

    def results(self, blocks: int, *shape: int, dtype: str = "float32") -> NDArray:
        """Return the array that the threads of blocks write."""
        return self.empty(blocks, kernels.THREADS, *shape, dtype=dtype)

    def rate(self, function: Function, arguments: Callable[[int], Any], stride: int = 1) -> float:
        """Return the steps a second of a kernel.

        Parameters
        ----------
        function : Function
        arguments : callable
            ``arguments(steps)``.
        stride : int
            By how much each step increases an index, so that all are numbers of 32 bits.
        """
        most = _MOST_INDEX // stride

        def seconds(steps: int) -> float:
            given = arguments(steps)
            return seconds_of(lambda: function.enqueue(1, *given), self.device.sync)

        steps = kernels.UNROLLED
        seconds(steps)  # compiles
        while (taken := seconds(steps)) < _LEAST_SECONDS and steps < most:
            wanted = int(steps * 1.3 * _LEAST_SECONDS / max(taken, 1e-7))
            steps = min(most, max(2 * steps, min(wanted, 64 * steps)))
            steps -= steps % kernels.UNROLLED
        return steps / _best(lambda: seconds(steps))

    def seconds(self, function: Function, *arguments: Any) -> float:
        """Return the seconds of a run that takes far longer than a launch."""
        return _best(lambda: seconds_of(lambda: function(*arguments), self.device.sync))

    def launch_seconds(self, function: Function, *arguments: Any) -> float:
        """Return the seconds that a launch of a kernel takes in a sequence."""
        arm = BatchArm(
            lambda runs: seconds_of(lambda: function.enqueue(runs, *arguments), self.device.sync)
        )
        return measure([arm], Sampling(rounds=5, sample_seconds=5e-3, least_runs=10))[0].min


def _best(run: Callable[[], float]) -> float:
    """Return the least seconds of some runs; the first one may compile the kernel."""
    best, spent = run(), 0.0
    for _ in range(_REPEATS):
        taken = run()
        best, spent = min(best, taken), spent + taken
        if spent > _MOST_SECONDS:
            break
    return best


def fma_rate(bench: Bench, dtype: str, lanes: int) -> FmaRate:
    """Measure fused products of vectors."""
    function = kernels.fmas(dtype, lanes, kernels.CHAINS, kernels.THREADS, bench.target)
    return FmaRate(dtype, lanes, _fmas_of_blocks(bench, function, bench.blocks, dtype, lanes))


def _fmas_of_blocks(
    bench: Bench, function: Function, blocks: int, dtype: str = "float32", lanes: int = 1
) -> float:
    out = bench.results(blocks, lanes, dtype=dtype)
    threads = blocks * kernels.THREADS
    steps = bench.rate(function, lambda steps: (out, steps))
    return steps * threads * kernels.CHAINS * lanes


def copy_rate(bench: Bench) -> float:
    """Measure the bytes a second that a copy of a large array reads and writes."""
    lanes = bench.sizes.read_lanes
    vectors = bench.sizes.bytes // (4 * lanes)
    source, copied = (bench.empty(vectors, lanes) for _ in range(2))
    seconds = bench.seconds(kernels.copies(lanes, bench.target), source, copied)
    return 2 * bench.sizes.bytes / seconds


def _footprints(most: int) -> list[int]:
    count = (most // _LEAST_FOOTPRINT).bit_length()
    return [_LEAST_FOOTPRINT << i for i in range(0, count, 2)]


def buffer_rates(bench: Bench) -> list[Bandwidth]:
    """Measure the reads of buffers of several sizes."""
    lanes, threads = bench.sizes.read_lanes, bench.blocks * kernels.THREADS
    function = kernels.reads("buffer", lanes, bench.target)
    out = bench.results(bench.blocks, lanes)
    found = []
    for footprint in _footprints(bench.sizes.bytes):
        vectors = footprint // (4 * lanes)
        x = bench.empty(vectors, lanes)
        # Neighboring threads of a GPU read neighboring vectors; a thread of a processor reads on.
        order = (1, threads) if bench.is_gpu else (max(1, vectors // threads), 1)
        found.append(Bandwidth("buffer", footprint, _read_rate(bench, function, x, out, order)))
    return found


def texture_rates(bench: Bench) -> list[Bandwidth]:
    """Measure the reads of textures of several sizes."""
    lanes, row = kernels.LANES, 4 * kernels.LANES * kernels.TEXELS
    function = kernels.reads("texture", lanes, bench.target)
    out = bench.results(bench.blocks, lanes)
    found = []
    rows = min(bench.target.value.max_image_size, kernels.MOST_ROWS)
    for footprint in _footprints(min(bench.sizes.bytes, rows * row)):
        x = bench.empty(footprint // row, kernels.TEXELS, lanes, scope="global.texture")
        order = (1, bench.blocks * kernels.THREADS)
        found.append(Bandwidth("texture", footprint, _read_rate(bench, function, x, out, order)))
    return found


def _read_rate(
    bench: Bench, function: Function, x: NDArray, out: NDArray, order: tuple[int, int]
) -> float:
    steps = bench.rate(function, lambda steps: (x, out, steps, *order), order[1])
    return steps * 4 * prod(out.shape)


def shared_rates(bench: Bench) -> list[Bandwidth]:
    """Measure the reads of shared memory, of a part of it and of all of it."""
    lanes = bench.sizes.read_lanes
    vectors = _NEAR // (4 * lanes)
    function = kernels.shared_reads(vectors, lanes, bench.target)
    out = bench.results(bench.blocks, lanes)
    found = []
    for count in (vectors // 4, vectors):
        steps = bench.rate(
            function, lambda steps, count=count: (out, steps, count), kernels.THREADS
        )
        found.append(Bandwidth("shared", count * 4 * lanes, steps * 4 * prod(out.shape)))
    return found


def barrier_seconds(bench: Bench) -> float:
    """Measure a barrier, with a store and a load of shared memory for two of them."""
    out = bench.results(1)
    function = kernels.exchanges(bench.target)
    return 0.5 / bench.rate(function, lambda steps: (out, steps))


def latency_seconds(bench: Bench) -> float:
    """Measure a load from memory that waits for the load before it."""
    chain = bench.empty(bench.sizes.bytes // (4 * kernels.LINE), kernels.LINE, dtype="int32")
    kernels.links(bench.target)(chain)
    out = bench.empty(1, dtype="int32")
    return 1 / bench.rate(kernels.walks(bench.target), lambda steps: (chain, out, steps))


def busy_threads(bench: Bench) -> int:
    """Measure with how many threads fused products reach most of their rate."""
    function = kernels.fmas("float32", 1, kernels.CHAINS, kernels.THREADS, bench.target)
    rates = {}
    blocks = 1
    while blocks <= bench.blocks:
        rates[blocks] = _fmas_of_blocks(bench, function, blocks)
        blocks *= 2
    wanted = _BUSY * max(rates.values())
    return kernels.THREADS * next(n for n, rate in rates.items() if rate >= wanted)


def _one_thread(bench: Bench) -> tuple[float, float]:
    """Measure the latency of a fused product, and a launch."""
    function = kernels.fmas("float32", 1, 1, 1, bench.target)
    out = bench.empty(1, 1, 1)
    latency = 1 / bench.rate(function, lambda steps: (out, steps))
    return latency, bench.launch_seconds(function, out, kernels.UNROLLED)


def _middle(rates: list[float], near: float, memory: float) -> float:
    """Return the rate of the cache that processors share: of sizes neither near nor far."""
    between = [each for each in rates if 1.25 * memory < each < 0.8 * near]
    return between[len(between) // 2] if between else sqrt(near * memory)


def _parts(bench: Bench) -> dict[str, Callable[[], Any]]:
    """Return what is measured, in this order, by what is told of it."""
    info, sizes = bench.device.info, bench.sizes
    variants = [("float32", lanes) for lanes in sizes.lanes]
    variants += [("float16", lanes) for lanes in sizes.lanes if info["float16_arithmetic"]]
    variants += [("float64", sizes.lanes[-1])] if info["float64"] else []
    parts: dict[str, Callable[[], Any]] = {
        f"fused products of {dtype} x {lanes}": partial(fma_rate, bench, dtype, lanes)
        for dtype, lanes in variants
    }
    if info["images"]:
        parts["reads of textures"] = partial(texture_rates, bench)
    return parts | {
        "reads of buffers": partial(buffer_rates, bench),
        "reads of shared memory": partial(shared_rates, bench),
        _COPIES: partial(copy_rate, bench),
        _BARRIERS: partial(barrier_seconds, bench),
        _LATENCY: partial(latency_seconds, bench),
        _LAUNCHES: partial(_one_thread, bench),
        _BUSY_THREADS: partial(busy_threads, bench),
    }


def measure_profile(device: Device, progress: Progress = lambda *_: None) -> DeviceProfile:
    """Return the profile of a device, measured in some seconds.

    What kernels do not tell, such as the number of registers, is that of the family's profile.

    Raises
    ------
    TVMError
        TL5009 on a device without memory for the largest arrays, 256 MiB on GPUs.
    """
    bench = Bench.of(device)
    info = device.info
    parts = _parts(bench)
    found: dict[str, Any] = {}
    for what, work in parts.items():
        progress(what, len(found), len(parts))
        found[what] = work()
    fmas = tuple(each for each in found.values() if isinstance(each, FmaRate))
    curves = tuple(x for each in found.values() if isinstance(each, list) for x in each)
    product_seconds, launch_seconds = found[_LAUNCHES]

    def best(memory: str, most: int) -> float:
        return max(x.per_second for x in curves if x.memory == memory and x.footprint <= most)

    near = best("buffer", _NEAR)
    base = stated(family_named(info["name"]) or family_of(bench.target.value))
    return replace(
        base,
        name=info["name"],
        origin=MEASURED,
        sources=(
            "texloom devices --measure",
            f"registers, blocks, threads, shared bytes and lines: the profile {base.name}",
        ),
        device=DeviceIdentity.of(info),
        processors=info["compute_units"],
        busy_threads=found[_BUSY_THREADS],
        near_rate=near,
        cache_rate=_middle(
            [x.per_second for x in curves if x.memory == "buffer"], near, found[_COPIES]
        ),
        memory_rate=found[_COPIES],
        texture_rate=best("texture", _NEAR) if info["images"] else near,
        shared_rate=best("shared", _NEAR),
        launch_seconds=launch_seconds,
        barrier_seconds=found[_BARRIERS],
        latency_seconds=found[_LATENCY],
        fma_seconds=product_seconds,
        fma_rates=fmas,
        bandwidths=curves,
    )


__all__ = ["Bench", "copy_rate", "fma_rate", "measure_profile"]
