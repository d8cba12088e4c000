"""Extents of axes: constants, or values known only at a call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Extent:
    """An expression of the script, and its values."""

    text: str
    values: tuple[int, ...]  # one value if constant, otherwise one for each call

    @property
    def constant(self) -> int | None:
        """The value, if the expression has no symbol."""
        return self.values[0] if len(self.values) == 1 else None

    @property
    def is_symbolic(self) -> bool:
        """Whether the value depends on the call."""
        return len(self.values) > 1

    @property
    def least(self) -> int:
        """The smallest value at any call."""
        return min(self.values)

    @property
    def most(self) -> int:
        """The largest value at any call."""
        return max(self.values)

    def __str__(self) -> str:
        return self.text

    def _with(self, operator: str, other: Extent | int, of: Callable[[int, int], int]) -> Extent:
        other = extent(other)
        values = tuple(of(a, b) for a, b in at_each_call(self, other))
        if len(values) == 1:
            return extent(values[0])
        texts = [f"({x})" if " " in x.text else x.text for x in (self, other)]
        return Extent(f" {operator} ".join(texts), values)

    def __add__(self, other: Extent | int) -> Extent:
        return self._with("+", other, int.__add__)

    def __sub__(self, other: Extent | int) -> Extent:
        return self._with("-", other, int.__sub__)

    def __mul__(self, other: Extent | int) -> Extent:
        return self._with("*", other, int.__mul__)

    def __floordiv__(self, other: Extent | int) -> Extent:
        return self._with("//", other, int.__floordiv__)

    def ceil_div(self, by: int) -> Extent:
        """Divide by a part's length, rounding up."""
        return (self + (by - 1)) // by


Shape = list[Extent]


def extent(n: Extent | int) -> Extent:
    """Convert a number to an extent."""
    return n if isinstance(n, Extent) else Extent(str(n), (n,))


def listed(shape: Shape) -> str:
    """Return the shape as the script spells it."""
    return f"[{', '.join(n.text for n in shape)}]"


def at_each_call(a: Extent, b: Extent) -> list[tuple[int, int]]:
    """Return pairs of values, one pair if both are constant."""
    calls = range(max(len(a.values), len(b.values)))
    return [(a.values[n % len(a.values)], b.values[n % len(b.values)]) for n in calls]


def most_elements(shape: Shape) -> int:
    """Return the size at the call with the largest tensor."""
    size = extent(1)
    for n in shape:
        size = size * n
    return size.most


def is_constant(shape: Shape) -> bool:
    """Whether the extents have the same values at all calls."""
    return not any(n.is_symbolic for n in shape)
