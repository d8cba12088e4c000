"""The rates of a device, bytes and float32 operations per second, measured by small kernels."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from .. import building, nd, te
from .._core import Device, Function, NDArray, Schedule, Tensor, say_notice
from ..target import Target

_CHAINS, _STEPS = 8, 16  # independent chains of fmas, which hide their latency
_BYTES = {"cpu": 1 << 25, "gpu": 1 << 27}  # of each copied array: larger than most caches
_THREADS = {"cpu": 1 << 18, "gpu": 1 << 22}  # threads of the fma kernel
_REPEATS, _REPEAT_MS = 5, 10


@dataclass(frozen=True)
class Rates:
    """The best rates that were measured on a device.

    Attributes
    ----------
    bytes : float
        Bytes per second that a copy reads and writes in global memory.
    operations : float
        Operations per second of float32 fmas, each of which is two operations.
    """

    bytes: float
    operations: float


@functools.cache
def rates_of(device: Device) -> Rates:
    """Measure the device once per process, in a fraction of a second, and print a notice."""
    say_notice(f"measuring what {device} can do ...")
    kind = "gpu" if device.info["type"] == "gpu" else "cpu"
    target = Target.from_device(device)
    count = _BYTES[kind] // 4
    source, copied = (nd.empty((count,), device=device) for _ in range(2))
    seconds = _best(_copy(count, target), device, source, copied)
    fast = nd.empty((_THREADS[kind],), device=device)
    fma_seconds = _best(_fmas(_THREADS[kind], target), device, fast)
    return Rates(
        bytes=2 * 4 * count / seconds,
        operations=2 * _CHAINS * _STEPS * _THREADS[kind] / fma_seconds,
    )


def _best(function: Function, device: Device, *arrays: NDArray) -> float:
    timed = function.time_evaluator(
        function.name, device, number=1, repeat=_REPEATS, min_repeat_ms=_REPEAT_MS
    )
    return timed(*arrays).min


def _in_threads(output: Tensor, target: Target, vector: int) -> Schedule:
    """Schedule a vector of elements for each thread."""
    s = te.create_schedule(output.op)
    block, rest = s[output].split(output.op.axis[0], 256 * vector)
    thread, lanes = s[output].split(rest, vector)
    s[output].bind(block, te.thread_axis("blockIdx.x"))
    s[output].bind(thread, te.thread_axis("threadIdx.x"))
    s[output].vectorize(lanes)
    return s


def _copy(count: int, target: Target) -> Function:
    source = te.placeholder((count,), name="source")
    copied = te.compute((count,), lambda i: source[i], name="copied")
    schedule = _in_threads(copied, target, 4)
    return building.build(schedule, [source, copied], target, name="copy")


def _fmas(threads: int, target: Target) -> Function:
    """Return a kernel of chains of x * a + b; a is close to 1 and b to 0, so x stays finite."""

    def chains(i: Any) -> Any:
        start = i.astype("float32")
        results = []
        for chain in range(_CHAINS):
            value = start + float(chain)
            for _ in range(_STEPS):
                value = value * 0.999 + 0.001
            results.append(value)
        return te.sum(*results)

    output = te.compute((threads,), chains, name="output")
    return building.build(_in_threads(output, target, 1), [output], target, name="fmas")


__all__ = ["Rates", "rates_of"]
