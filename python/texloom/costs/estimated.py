"""Costs of call sites that nobody measured, estimated from the profile of a device.

The time of a kernel is that of its launch, and the longest of these: arithmetic, what its threads
read and write in buffers, the same in textures and in shared memory, the bytes of its arguments in
memory, each counted once, and the latency of loads that the threads in flight do not hide. What a
kernel does is counted in its code (src/lower/analysis/kernel_work.h), so that kernels over buffers
and over textures, of any schedule, are compared by one rule. What the device can do is in its
profile; no figure is here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from .._core import _KernelWork
from ..profiles import Bound, DeviceProfile, kernel_limits
from .table import key_of

LEAST_GAIN = 0.05
"""The share of a graph's estimated time that textures must save: less is not worth conversions."""


@dataclass(frozen=True)
class Estimate:
    """The estimated time of a call site.

    Attributes
    ----------
    spent : mapping of Bound to float
        Seconds by what bounds the kernels: their launches, and the longest limit of each.
    """

    spent: Mapping[Bound, float]

    @property
    def seconds(self) -> float:
        """The whole time."""
        return sum(self.spent.values())


def estimated(
    work: Iterable[_KernelWork],
    launches: int,
    size: float,
    operations: float,
    profile: DeviceProfile,
) -> Estimate:
    """Return the estimate of a call site.

    Parameters
    ----------
    work : iterable of _KernelWork
        Of its kernels, which have equally many of the launches; empty if it is not known.
    launches : int
    size, operations : float
        Bytes of the arguments, each counted once, and operations, of which a product with a sum is
        two: these two count if the work is not known.
    profile : DeviceProfile
    """
    limits = [kernel_limits(each, profile) for each in work]
    if not limits:
        arithmetic, memory = operations / 2 / profile.fma_rate, size / profile.memory_rate
        limits = [{Bound.ARITHMETIC: arithmetic, Bound.MEMORY: memory}]
    times = max(1.0, launches / len(limits))
    spent = {Bound.LAUNCH: launches * profile.launch_seconds}
    for own in limits:
        longest = max(own, key=own.__getitem__)
        spent[longest] = spent.get(longest, 0.0) + times * own[longest]
    return Estimate(spent)


class EstimatedCosts:
    """The function by which the compiler looks up the cost of a call site, without measurements.

    Parameters
    ----------
    profile : DeviceProfile

    Attributes
    ----------
    profile : DeviceProfile
    asked : dict of str to Estimate
        All call sites that the compiler looked up, by key.
    """

    def __init__(self, profile: DeviceProfile) -> None:
        self.profile = profile
        self.asked: dict[str, Estimate] = {}

    def __call__(
        self,
        kind: str,
        signature: str,
        sources: Sequence[str],
        size: float,
        operations: float,
        launches: int,
        textures: int,
        work: Sequence[_KernelWork],
    ) -> tuple[float, str]:
        """Return the nanoseconds of a call site, and its key."""
        del kind, sources, textures
        key = key_of(signature, ())
        if key not in self.asked:
            self.asked[key] = estimated(work, launches, size, operations, self.profile)
        return self.asked[key].seconds * 1e9, key


__all__ = ["LEAST_GAIN", "Estimate", "EstimatedCosts", "estimated"]
