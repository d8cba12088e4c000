"""The vector registers of a processor, which hold the sums of a tile."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...._core import TargetValue
from ....profiles import DeviceProfile

MANY = 32
"""The registers of processors whose products take an element for all lanes (AVX-512, Arm)."""


@dataclass(frozen=True)
class Registers:
    """The vector registers that a tile may use.

    Attributes
    ----------
    bytes : int
        Of a register.
    count : int
    sums : int
        The most registers with sums.
    has_tails : bool, optional
        Whether loops over vectors may end inside a vector.
    """

    bytes: int
    count: int
    sums: int
    has_tails: bool = False

    @classmethod
    def of(cls, target: TargetValue, dtype: str = "float32") -> Registers:
        """Return the registers of a target for processors, for sums of a type.

        A product of integers is in a register before it is added. Where registers are few, the sums
        leave one for it.
        """
        made = ANY if target.vectors is None else _of_vectors(*target.vectors)
        is_full = made.has_tails and made.count < MANY and dtype.startswith("int")
        return replace(made, count=made.count - 1) if is_full else made

    def hold(self, rows: int, vectors: int) -> bool:
        """Whether they hold the sums of a tile, its `vectors` of columns and a row's factor."""
        sums = rows * vectors
        return sums <= self.sums and sums + vectors + 1 <= self.count

    def lanes_of(self, extent: int) -> int:
        """Return the lanes of the widest vectors of float32 that divide the extent, or 0."""
        return next((n for n in (self.bytes // 4, 8, 4) if extent % n == 0), 0)

    def most_rows(self, vectors: int) -> int:
        """Return the rows of the largest tile of so many vectors of columns."""
        return max(n for n in range(1, self.count) if n == 1 or self.hold(n, vectors))


def _of_vectors(count: int, size: int) -> Registers:
    return Registers(size, count, count, has_tails=True)


def cycle_seconds(profile: DeviceProfile) -> float:
    """Return the seconds in which all cores together compute what one computes in a cycle.

    The result of a fused product is ready for the next one after four cycles.
    """
    return profile.fma_seconds / 4 / profile.processors


ANY = Registers(32, 32, 16)
"""For OpenCL's targets that do not name the registers: these suit most processors."""

__all__ = ["ANY", "MANY", "Registers", "cycle_seconds"]
