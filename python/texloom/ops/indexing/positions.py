"""Positions that data gives: they never lead outside of a tensor."""

from __future__ import annotations

from typing import Any

from ... import te, tir


def from_start(position: Any, extent: int) -> Any:
    """Return a position that is counted from the first element; a negative one is from the end."""
    return te.if_then_else(position < 0, position + te.const(extent, position.dtype), position)


def inside(position: Any, extent: int) -> Any:
    """Return :func:`from_start`, or the nearest position that exists."""
    last = te.const(extent - 1, position.dtype)
    first = te.const(0, position.dtype)
    return tir.max(tir.min(from_start(position, extent), last), first)


__all__ = ["from_start", "inside"]
