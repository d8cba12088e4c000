"""Measures what a device can do, by small kernels that run for some milliseconds each."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import inf, prod, sqrt
from typing import Any

import numpy as np

from .. import nd
from .._core import Device, Function, NDArray
from ..profiles import Bandwidth, DeviceIdentity, DeviceProfile, FmaRate, stated
from ..profiles.device_profile import MEASURED
from ..profiles.families import family_named, family_of
from ..target import Target
from . import device_kernels as kernels
from .loop import BatchArm, Sampling, measure, seconds_of

MOST_SECONDS = 10.0
"""After how many seconds no further run of a kernel begins."""

NOT_MEASURED = "not measured, as no time was left: "
"""How the source of a profile begins that names parts which are of the family's profile."""

Progress = Callable[[str, int, int], None]
"""Called with what is measured, the number of parts that are done, and that of all parts."""

_LEAST_SECONDS = 2e-3  # of a run, next to which a launch is short
_LEAST_TICK = 1e-7  # seconds below which a clock says nothing
_REPEATS, _ENOUGH_SECONDS = 6, 0.05  # runs of which the best counts, and their time on slow devices
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


class _NoTimeLeft(Exception):
    """A run would begin after the deadline."""


@dataclass
class Bench:
    """A device, and how kernels are run on it.

    Attributes
    ----------
    device : Device
    target : Target
        Of the device, without a profile.
    deadline : float
        When, by ``time.monotonic()``, no further run may begin.
    """

    device: Device
    target: Target
    deadline: float = inf

    @classmethod
    def of(cls, device: Device, deadline: float = inf) -> Bench:
        """Return the bench of a device."""
        return cls(device, Target(device._target), deadline)

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

    def empty(self, *shape: int, dtype: str = "float32") -> NDArray:
        """Return an array on the device."""
        return nd.empty(shape, dtype, self.device)

    def filled(self, *shape: int, scope: str = "") -> NDArray:
        """Return an array of float32 on the device that was written.

        Memory that was never written may be one page of zeros, again and again.
        """
        return nd.array(np.ones(shape, "float32"), self.device, scope or None)

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

        def seconds(steps: int) -> float:
            given = arguments(steps)
            return self._seconds_of(lambda: function.enqueue(1, *given))

        return _steps_per_second(seconds, stride)

    def seconds(self, function: Function, *arguments: Any) -> float:
        """Return the seconds of a run that takes far longer than a launch."""
        return _best(lambda: self._seconds_of(lambda: function(*arguments)))

    def launch_seconds(self, function: Function, *arguments: Any) -> float:
        """Return the seconds that a launch of a kernel takes in a sequence."""
        arm = BatchArm(lambda runs: self._seconds_of(lambda: function.enqueue(runs, *arguments)))
        return measure([arm], Sampling(rounds=5, sample_seconds=5e-3))[0].min

    def check_time(self) -> None:
        """Raise _NoTimeLeft after the deadline."""
        if time.monotonic() >= self.deadline:
            raise _NoTimeLeft

    def _seconds_of(self, run: Callable[[], object]) -> float:
        self.check_time()
        return max(seconds_of(run, self.device.sync), _LEAST_TICK)


def _steps_per_second(seconds: Callable[[int], float], stride: int) -> float:
    """Return the rate of a kernel, given the seconds of a run of some steps.

    Runs get longer until they take long enough, or until the index of the last step is as large as
    it may be. Runs have a multiple of the unrolled steps.
    """
    most = _MOST_INDEX // stride // kernels.UNROLLED * kernels.UNROLLED
    steps = kernels.UNROLLED
    seconds(steps)  # compiles
    while True:
        taken = seconds(steps)
        # A short run may take long while other work has the processor: the best of several counts.
        best = taken if taken < _LEAST_SECONDS else _best(lambda steps=steps: seconds(steps))
        if best >= _LEAST_SECONDS:
            return steps / best
        wanted = int(steps * 1.3 * _LEAST_SECONDS / best)
        longer = min(most, max(2 * steps, min(wanted, 64 * steps)))
        longer -= longer % kernels.UNROLLED
        if longer <= steps:
            return steps / _best(lambda steps=steps: seconds(steps))
        steps = longer


def _best(run: Callable[[], float]) -> float:
    """Return the least seconds of some runs; the first one may compile the kernel."""
    best, spent = run(), 0.0
    for _ in range(_REPEATS):
        taken = run()
        best, spent = min(best, taken), spent + taken
        if spent > _ENOUGH_SECONDS:
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
    source, copied = (bench.filled(vectors, lanes) for _ in range(2))
    seconds = bench.seconds(kernels.copies(lanes, bench.target), source, copied)
    return 2 * bench.sizes.bytes / seconds


@dataclass(frozen=True)
class _Walk:
    """Where threads read.

    Attributes
    ----------
    apart : int or None
        How many vectors neighboring threads begin apart; None: as many as a thread reads.
    stride : int
        By how many vectors a thread goes on in a step.
    """

    apart: int | None
    stride: int

    @classmethod
    def of(cls, bench: Bench) -> _Walk:
        """Return the walk of a device."""
        return cls.of_blocks(bench.blocks) if bench.is_gpu else cls.of_processor()

    @classmethod
    def of_blocks(cls, blocks: int) -> _Walk:
        """Return the walk of a GPU, where neighboring threads read neighboring vectors.

        Blocks read on from each other, and in a step each goes on by an odd multiple of the vectors
        that it reads. The footprint is a power of two, so a block comes to all of it before it
        reads a vector again; and since it goes past what the other blocks read in this step, all
        blocks together do so, too.
        """
        return cls(1, (blocks | 1) * kernels.THREADS)

    @classmethod
    def of_processor(cls) -> _Walk:
        """Return the walk of a processor, which runs one thread after the other.

        A thread reads vector after vector, and the next one reads on where it ends.
        """
        return cls(None, 1)

    def rate(self, bench: Bench, function: Function, x: NDArray, out: NDArray) -> float:
        """Return the bytes a second that threads read of `x`."""
        threads = prod(out.shape[:2])

        def arguments(steps: int) -> tuple[Any, ...]:
            return x, out, steps, steps if self.apart is None else self.apart, self.stride

        largest = threads if self.apart is None else self.stride
        return bench.rate(function, arguments, largest) * 4 * prod(out.shape)


def _footprints(most: int) -> list[int]:
    count = (most // _LEAST_FOOTPRINT).bit_length()
    return [_LEAST_FOOTPRINT << i for i in range(0, count, 2)]


def buffer_rates(bench: Bench) -> list[Bandwidth]:
    """Measure the reads of buffers of several sizes."""
    lanes = bench.sizes.read_lanes
    function = kernels.reads("buffer", lanes, bench.target)
    out = bench.results(bench.blocks, lanes)
    walk = _Walk.of(bench)
    found = []
    for footprint in _footprints(bench.sizes.bytes):
        x = bench.filled(footprint // (4 * lanes), lanes)
        found.append(Bandwidth("buffer", footprint, walk.rate(bench, function, x, out)))
    return found


def texture_rates(bench: Bench) -> list[Bandwidth]:
    """Measure the reads of textures of several sizes."""
    lanes, row = kernels.LANES, 4 * kernels.LANES * kernels.TEXELS
    function = kernels.reads("texture", lanes, bench.target)
    out = bench.results(bench.blocks, lanes)
    walk = _Walk.of(bench)
    found = []
    rows = min(bench.target.value.max_image_size, kernels.MOST_ROWS)
    for footprint in _footprints(min(bench.sizes.bytes, rows * row)):
        x = bench.filled(footprint // row, kernels.TEXELS, lanes, scope="global.texture")
        found.append(Bandwidth("texture", footprint, walk.rate(bench, function, x, out)))
    return found


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
    """Return what is measured, in this order, by what the progress reports of it.

    What schedules read is measured before what is only printed.
    """
    info, sizes = bench.device.info, bench.sizes
    variants = [("float32", lanes) for lanes in sizes.lanes]
    further = [("float16", lanes) for lanes in sizes.lanes if info["float16_arithmetic"]]
    further += [("float64", sizes.lanes[-1])] if info["float64"] else []

    def products(variants: list[tuple[str, int]]) -> dict[str, Callable[[], Any]]:
        return {
            f"fused products of {dtype} x {lanes}": partial(fma_rate, bench, dtype, lanes)
            for dtype, lanes in variants
        }

    textures = {"reads of textures": partial(texture_rates, bench)} if info["images"] else {}
    return {
        **products(variants),
        _COPIES: partial(copy_rate, bench),
        "reads of buffers": partial(buffer_rates, bench),
        _LATENCY: partial(latency_seconds, bench),
        _LAUNCHES: partial(_one_thread, bench),
        _BUSY_THREADS: partial(busy_threads, bench),
        **products(further),
        **textures,
        "reads of shared memory": partial(shared_rates, bench),
        _BARRIERS: partial(barrier_seconds, bench),
    }


def _measured(
    bench: Bench, parts: Mapping[str, Callable[[], Any]], progress: Progress
) -> tuple[dict[str, Any], list[str]]:
    """Measure parts; return what was found, and the names of those without time left."""
    found: dict[str, Any] = {}
    left_out: list[str] = []
    for number, (what, work) in enumerate(parts.items()):
        progress(what, number, len(parts))
        try:
            bench.check_time()
            found[what] = work()
        except _NoTimeLeft:
            left_out.append(what)
    return found, left_out


def measure_profile(
    device: Device, progress: Progress = lambda *_: None, most_seconds: float = MOST_SECONDS
) -> DeviceProfile:
    """Return the profile of a device, measured in some seconds.

    What kernels do not tell, such as the number of registers, is that of the family's profile. So
    are parts for which no time is left after `most_seconds`; the profile's sources name them. A run
    that has begun is completed.

    Raises
    ------
    TVMError
        TL5009 on a device without memory for the largest arrays, 256 MiB on GPUs.
    """
    bench = Bench.of(device, time.monotonic() + most_seconds)
    info = device.info
    found, left_out = _measured(bench, _parts(bench), progress)
    base = stated(family_named(info["name"]) or family_of(bench.target.value))
    sources = [
        "texloom devices --measure",
        f"registers, blocks, threads, shared bytes and lines: the profile {base.name}",
    ]
    if left_out:
        sources.append(f"{NOT_MEASURED}{', '.join(left_out)}: the profile {base.name}")
    return replace(
        base,
        name=info["name"],
        origin=MEASURED,
        sources=tuple(sources),
        device=DeviceIdentity.of(info),
        processors=info["compute_units"],
        **_figures(found, base, info["images"]),
    )


def _figures(found: Mapping[str, Any], base: DeviceProfile, has_images: bool) -> dict[str, Any]:
    """Return the measured fields of a profile; those that were not measured are of `base`.

    Without images, textures are buffers.
    """
    fmas = tuple(each for each in found.values() if isinstance(each, FmaRate))
    curves = tuple(x for each in found.values() if isinstance(each, list) for x in each)
    product_seconds, launch_seconds = found.get(_LAUNCHES, (base.fma_seconds, base.launch_seconds))

    def best(memory: str, otherwise: float) -> float:
        rates = [x.per_second for x in curves if x.memory == memory and x.footprint <= _NEAR]
        return max(rates, default=otherwise)

    near = best("buffer", base.near_rate)
    memory = found.get(_COPIES, base.memory_rate)
    buffers = [x.per_second for x in curves if x.memory == "buffer"]
    return {
        "busy_threads": found.get(_BUSY_THREADS, base.busy_threads),
        "near_rate": near,
        "cache_rate": _middle(buffers, near, memory) if buffers else base.cache_rate,
        "memory_rate": memory,
        "texture_rate": best("texture", base.texture_rate) if has_images else near,
        "shared_rate": best("shared", base.shared_rate),
        "launch_seconds": launch_seconds,
        "barrier_seconds": found.get(_BARRIERS, base.barrier_seconds),
        "latency_seconds": found.get(_LATENCY, base.latency_seconds),
        "fma_seconds": product_seconds,
        "fma_rates": fmas if any(x.dtype == "float32" for x in fmas) else base.fma_rates,
        "bandwidths": curves,
    }


__all__ = ["MOST_SECONDS", "NOT_MEASURED", "Bench", "copy_rate", "fma_rate", "measure_profile"]
