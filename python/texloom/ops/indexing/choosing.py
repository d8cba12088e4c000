"""Elements selected by data: one-hot vectors, and reversed sequences."""

from __future__ import annotations

from typing import Any

from ... import te, tir
from ..._core import Tensor
from ...extents import Extent, plain, value_of
from .positions import names


def one_hot(indices: Tensor, values: Tensor, depth: Extent, axis: int) -> Tensor:
    """Return vectors along a new axis; in each vector, all elements but one are equal.

    Parameters
    ----------
    indices : Tensor
        The index of the different element. Numbers of any type are truncated to integers; negative
        indices count from the end. A vector whose index is out of range has no different element.
    values : Tensor
        ``[2]``: the value of the equal elements, and that of the different element.
    depth : int or Expr
        The vectors' length.
    axis : int
        The new axis, from 0 to the rank of `indices`.
    """
    shape = (*indices.shape[:axis], depth, *indices.shape[axis:])

    def at(*i: Any) -> Any:
        position = indices(*i[:axis], *i[axis + 1 :]).astype("int64")
        return te.if_then_else(names(position, i[axis], depth), values[1], values[0])

    return te.compute(shape, at, name="one_hot")


def reverse_sequence(x: Tensor, lengths: Tensor, batch_axis: int, time_axis: int) -> Tensor:
    """Reverse the first elements of each sequence; elements after the sequence's end stay in place.

    Parameters
    ----------
    x : Tensor
    lengths : Tensor
        ``[batch]``, integers; a length beyond the extent counts as the extent.
    batch_axis, time_axis : int
        Axes of `x`.
    """
    extent = plain(x.shape[time_axis])

    def at(*i: Any) -> Any:
        length = tir.min(lengths(i[batch_axis]), value_of(extent, lengths.dtype))
        length = length.astype("int32")
        time = i[time_axis]
        source = te.if_then_else(time < length, length - 1 - time, time)
        return x(*(source if axis == time_axis else each for axis, each in enumerate(i)))

    return te.compute(tuple(x.shape), at, name="reversed")


__all__ = ["one_hot", "reverse_sequence"]
