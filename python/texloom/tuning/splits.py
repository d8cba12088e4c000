"""Ways to split a loop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isqrt, prod


def factors(extent: int) -> list[int]:
    """Return the divisors of a number, in order."""
    small = [each for each in range(1, isqrt(extent) + 1) if extent % each == 0]
    return sorted({*small, *(extent // each for each in small)})


def powers_of_two(extent: int) -> list[int]:
    """Return the powers of two that are at most a number."""
    return [1 << each for each in range(extent.bit_length())]


def inner_parts(
    extent: int, parts: int, values: Sequence[int], divides: bool
) -> Iterator[tuple[int, ...]]:
    """Yield the extents of some loops inside of an outer one, the innermost first changing last.

    Parameters
    ----------
    extent : int
        Of the loop that is split.
    parts : int
        The number of inner loops.
    values : sequence of int
        The extents that they may have, in order.
    divides : bool
        Whether the product of the inner extents must divide `extent`; else it may be smaller.
    """
    if parts == 0:
        yield ()
        return
    for value in values:
        left = extent // value
        if value > extent or (divides and extent % value):
            continue
        for outer in inner_parts(left, parts - 1, values, divides):
            yield (*outer, value)


def splits(extent: int, parts: int, most: int | None = None) -> list[tuple[int, ...]]:
    """Return all ways to write a number as a product, for knobs that split a loop.

    Parameters
    ----------
    extent, parts : int
        The number, and how many factors a product has.
    most : int, optional
        The largest factor, except of the first one.
    """
    values = [each for each in factors(extent) if most is None or each <= most]
    inner = inner_parts(extent, parts - 1, values, divides=True)
    return [(extent // prod(each), *each) for each in inner]


__all__ = ["factors", "inner_parts", "powers_of_two", "splits"]
