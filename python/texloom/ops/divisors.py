"""Divisors of extents, so that no part of a loop has to test for the loop's end."""

from __future__ import annotations


def divisors_of(extent: int) -> list[int]:
    """Return the divisors of `extent`, the least first."""
    return [n for n in range(1, extent + 1) if extent % n == 0]


def largest_divisor(extent: int, most: int, above: int = 0) -> int | None:
    """Return the largest divisor of `extent` that is at most `most` and above another number."""
    return next((n for n in range(min(most, extent), above, -1) if extent % n == 0), None)


def nearest_divisor(extent: int, wanted: int) -> int:
    """Return a divisor of about `wanted`, or `wanted` if there is none; a shorter extent itself."""
    if extent <= wanted:
        return extent
    near = [n for n in range(-(-wanted // 2), 2 * wanted + 1) if extent % n == 0]
    return min(near, key=lambda n: abs(n - wanted), default=wanted)


def vector_lanes(extent: int, most: int = 8) -> int:
    """Return the most lanes of vectors that divide an extent: 8, 4, 2 or 1, at most `most`."""
    return next(n for n in (8, 4, 2, 1) if n <= most and extent % n == 0)


__all__ = ["divisors_of", "largest_divisor", "nearest_divisor", "vector_lanes"]
