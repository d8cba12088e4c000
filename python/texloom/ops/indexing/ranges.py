"""Ranges of consecutive positions along an axis; each example has a first position of its own."""

from __future__ import annotations

from typing import Any

from ... import te, tir
from ..._core import Tensor
from ...extents import shape_of, value_of


def write_range(
    x: Tensor, update: Tensor, begins: Tensor | None = None, *, axis: int, is_circular: bool = False
) -> Tensor:
    """Return `x` with consecutive elements replaced along an axis.

    Parameters
    ----------
    x : Tensor
        ``[B, ..., L, ...]``.
    update : Tensor
        ``[B, ..., S, ...]``, with S of at most L.
    begins : Tensor, optional
        ``[B]`` of int64: the first position that is replaced in each example; 0 by default.
    axis : int
        The axis of L and S; not the first.
    is_circular : bool
        Whether the position after the last is the first. Otherwise, elements of `update` past the
        last position are dropped.
    """
    extent, length = shape_of(x)[axis], shape_of(update)[axis]

    def at(*i: Any) -> Any:
        place = i[axis]
        if begins is not None:
            place = place.astype(begins.dtype) - begins(i[0])
        if is_circular:
            place = tir.floormod(place, value_of(extent, place.dtype))
        is_inside = te.all(place >= 0, place < value_of(length, place.dtype))
        own = update(*i[:axis], place, *i[axis + 1 :])
        return te.if_then_else(is_inside, own, x(*i))

    return te.compute(shape_of(x), at, name="written")


__all__ = ["write_range"]
