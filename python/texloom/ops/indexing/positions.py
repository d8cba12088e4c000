"""Positions that are data, clamped to the extents of the tensor."""

from __future__ import annotations

from typing import Any

from ... import te, tir
from ...extents import Extent, value_of


def names(position: Any, i: Any, extent: Extent) -> Any:
    """Return whether a position, which counts from the end if it is negative, equals `i`."""
    place = i.astype(position.dtype)
    return te.any(position == place, position == place - value_of(extent, position.dtype))


def inside(position: Any, extent: Extent) -> Any:
    """Return a position as a nonnegative index, clamped to the extent.

    A negative position counts from the end.
    """
    last = value_of(extent - 1, position.dtype)
    first = te.const(0, position.dtype)
    counted = te.if_then_else(position < 0, position + value_of(extent, position.dtype), position)
    return tir.max(tir.min(counted, last), first)


__all__ = ["inside", "names"]
