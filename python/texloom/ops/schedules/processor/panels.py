"""What the caches of a core hold of a product: panels of the right side, and blocks of sums.

A panel has some consecutive columns, which are channels of a convolution.
"""

from __future__ import annotations

from ...divisors import largest_divisor

PANEL_BYTES = 24 << 10
"""What a panel has in the first level of the cache while the tiles of a block read it."""

LEFT_BYTES = 352 << 10
"""What a block reads of the left side again for each panel, in the second level of the cache."""

COPY_BYTES = 28 << 10
"""What a thread copies of the pixels that it reads, in the first level of the cache."""

SUMS_BYTES = 16 << 10
"""What the sums of a block have in memory between two parts of the steps."""


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


__all__ = ["COPY_BYTES", "LEFT_BYTES", "PANEL_BYTES", "SUMS_BYTES", "block_of", "part_of"]
