"""The tile of attention in one kernel, which fits the registers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ....profiles import DeviceProfile
from ...attention import Tile
from ..family import Spaces
from .registers import Registers, cycle_seconds

_MOST_ROWS = 8
"""Statements are repeated for each row: more rows take longer to compile."""


@dataclass(frozen=True)
class Attention:
    """The facts of attention in one kernel.

    Attributes
    ----------
    batch : int
        Problems side by side.
    rows, keys, width : int
        Queries, values, and elements of a value.
    item : int
        The bytes of an element of the sums.
    registers : Registers
    """

    batch: int
    rows: int
    keys: int
    width: int
    item: int
    registers: Registers


class RegisterTiles(Spaces[Attention, Tile]):
    """Tiles of attention whose sums are in registers."""

    name = "attention in registers"
    is_estimated = True

    def points(self, facts: Attention) -> Iterator[tuple[Tile, str | None]]:
        """Yield tiles of all vectors and rows."""
        for vectors in range(1, 5):
            for own in range(1, min(facts.rows, _MOST_ROWS) + 1):
                tile = Tile(own, vectors, facts.registers.bytes // facts.item)
                yield tile, None if facts.registers.hold(own, vectors) else "registers"

    def seconds(self, facts: Attention, knobs: Tile, profile: DeviceProfile) -> float:
        """Return the time of the products alone."""
        cycles = facts.batch * _cycles(knobs, facts.rows, facts.keys, facts.width)
        return profile.launch_seconds + cycles * cycle_seconds(profile)


def _cycles(tile: Tile, rows: int, keys: int, width: int) -> float:
    """Return the cycles of all products: for the scores `width` steps, for the sums `keys`."""
    scores = width * _columns(tile, keys)
    sums = keys * _columns(tile, width)
    return -(-rows // tile.rows) * (scores + sums)


def _columns(tile: Tile, columns: int) -> float:
    """Return the cycles of a step for so many columns.

    Two products or loads in a cycle; a sum is ready for the next product after four cycles.
    """
    whole, rest = divmod(-(-columns // tile.lanes), tile.vectors)
    pieces = [(tile.vectors, whole), (rest, 1 if rest else 0)]
    return sum(count * (max(tile.rows * n / 2, (tile.rows + n) / 2, 4) + 1) for n, count in pieces)


ATTENTION = RegisterTiles()

__all__ = ["ATTENTION", "Attention", "RegisterTiles"]
