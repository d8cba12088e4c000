"""Indices of elements among all elements of a tensor, in row-major order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import te
from ..extents import Extent


def unraveled(index: Any, extents: Sequence[Extent]) -> list[Any]:
    """Return the index along each axis, given the index among all elements."""
    made: list[Any] = []
    for extent in reversed(extents[1:]):
        made.insert(0, te.indexmod(index, extent))
        index = te.indexdiv(index, extent)
    return [index, *made] if extents else []


def raveled(indices: Sequence[Any], extents: Sequence[Extent]) -> Any:
    """Return the index among all elements, given the index along each axis."""
    made: Any = 0
    for index, extent in zip(indices, extents, strict=True):
        made = made * extent + index
    return made


__all__ = ["raveled", "unraveled"]
