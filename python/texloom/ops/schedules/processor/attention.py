"""The tile of attention in one kernel, which fits the registers."""

from __future__ import annotations

from functools import lru_cache

from ...attention import Tile
from .registers import Registers

_MOST_ROWS = 8
"""Statements are repeated for each row: more rows take longer to compile."""


@lru_cache(maxsize=256)
def attention_tile(rows: int, keys: int, width: int, item: int, registers: Registers) -> Tile:
    """Return the tile for `rows` queries, and for `keys` values of `width` elements.

    Parameters
    ----------
    rows, keys, width : int
    item : int
        The bytes of an element of the sums.
    registers : Registers
    """
    lanes = registers.bytes // item
    tiles = [
        Tile(own, vectors, lanes)
        for vectors in range(1, 5)
        for own in range(1, min(rows, _MOST_ROWS) + 1)
        if registers.hold(own, vectors)
    ]
    return min(tiles, key=lambda tile: _cycles(tile, rows, keys, width))


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


__all__ = ["attention_tile"]
