"""The rates of a device with which benchmarks are compared: bytes and operations per second."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from .._core import Device, say_notice
from ..devices.lookup import name_of
from ..profiles import kept_profile
from .device_profile import Bench, copy_rate, fma_rate


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
    """Return the rates of the device's measured profile.

    Without one, measure the device once per process, in a fraction of a second, and print a notice.
    """
    kept = kept_profile(name_of(device), device.info)
    if kept is not None:
        return Rates(kept[1].memory_rate, 2 * kept[1].fma_rate)
    say_notice(f"measuring what {device} can do ...")
    bench = Bench.of(device)
    fmas = max(fma_rate(bench, "float32", lanes).per_second for lanes in bench.sizes.lanes)
    return Rates(copy_rate(bench), 2 * fmas)


__all__ = ["Rates", "rates_of"]
