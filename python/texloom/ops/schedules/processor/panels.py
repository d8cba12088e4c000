"""What the caches of a core hold of a product: panels of the right side, and blocks of sums.

A panel has some consecutive columns, which are channels of a convolution.
"""

from __future__ import annotations

from math import gcd

from ...divisors import largest_divisor
from .registers import Registers

PANEL_BYTES = 24 << 10
"""What a panel has in the first level of the cache while the tiles of a block read it."""

WIDE_PANEL_BYTES = 256 << 10
"""What a panel has in the second level of the cache, where that is large and fast enough.

A tile reads a panel there only once for many products, so that its sums may as well stay in
registers for more steps. The next panel is fetched meanwhile.
"""

LEFT_BYTES = 352 << 10
"""What a block reads of the left side again for each panel, in the second level of the cache."""

COPY_BYTES = 28 << 10
"""What a thread copies of the pixels that it reads, in the first level of the cache."""

RESULT_BYTES = 176 << 10
"""What a block of a product has of the result, if the whole right side stays in the second level.

All panels write a block's rows before the next block, so that lines next to one another are written
soon after one another.
"""

SUMS_BYTES = 16 << 10
"""What the sums of a block have in memory between two parts of the steps."""

_SETS_BYTES, _WAYS = 4 << 10, 8
"""The first level of the cache holds so many lines whose addresses differ by multiples of that."""


def stall_cycles(rows: int, pitch: int) -> float:
    """Return the cycles that a step of a tile waits for its rows' elements.

    Rows whose lines the first level of the cache cannot hold together are read from the second.

    Parameters
    ----------
    rows : int
        Of the tile, or its pixels.
    pitch : int
        Bytes from one row to the next.
    """
    fits = _WAYS * (_SETS_BYTES // gcd(pitch, _SETS_BYTES))
    return 0 if rows <= fits else 4 * rows


def feeds_products(registers: Registers) -> bool:
    """Whether the second level of the cache is large and fast enough for panels.

    Processors with registers of 64 bytes have 1 MiB or more there, and read 64 bytes of it in a
    cycle or two.
    """
    return registers.bytes >= 64


def panel_bytes(registers: Registers) -> int:
    """Return the most bytes of a panel of a product."""
    return WIDE_PANEL_BYTES if feeds_products(registers) else PANEL_BYTES


def rows_of(registers: Registers, steps: int, columns: int, item: int, part: int) -> int:
    """Return the most rows of a block of a product.

    Parameters
    ----------
    registers : Registers
    steps, columns : int
        Of the right side.
    item : int
        Bytes of an element.
    part : int
        Steps that a block computes at once.
    """
    rows = LEFT_BYTES // (part * item)
    if steps * columns * item <= 3 * panel_bytes(registers):
        rows = min(rows, RESULT_BYTES // (columns * item))
    return rows


def part_of(steps: int, most: int) -> int | None:
    """Return a divisor of the steps that is at most `most`, and not much less.

    None if the steps are few enough, or if there is no such divisor.
    """
    if steps <= most * 3 // 2:
        return None
    return largest_divisor(steps, most, most // 3)


def block_of(tiles: int, most: int) -> int:
    """Return the tiles of a block: a divisor of all tiles, so that no tile tests for their end.

    All tiles, if they are at most `most`, or if no divisor comes near to `most`.
    """
    return largest_divisor(tiles, most, most // 4) or tiles


__all__ = [
    "COPY_BYTES",
    "LEFT_BYTES",
    "PANEL_BYTES",
    "SUMS_BYTES",
    "block_of",
    "feeds_products",
    "panel_bytes",
    "part_of",
    "rows_of",
    "stall_cycles",
]
