"""Elements for which a condition holds, and their positions."""

from __future__ import annotations

from typing import Any

from ... import te, tir
from ..._core import Tensor
from ...extents import product
from ..raveling import unraveled
from ..reductions.axes import extents
from .compaction import numbers_of_held, total


def nonzero(x: Tensor) -> tuple[Tensor, Tensor]:
    """Return the indices of the elements that are not 0, in row-major order.

    Parameters
    ----------
    x : Tensor
        Of one axis or more. NaN is not 0.

    Returns
    -------
    indices : Tensor
        ``[rank, number of elements]`` of int64.
    count : Tensor
        How many columns are results.
    """
    shape = extents(x)
    length = product(shape)

    def is_held(i: Any) -> Any:
        value = x(*unraveled(i, shape))
        return tir.Not(value.equal(te.const(0, x.dtype))).astype("int32")

    held, counts = numbers_of_held(te.compute((length,), is_held, name="flags"))

    def index(axis: Any, i: Any) -> Any:
        made, *rest = unraveled(held(i), shape)
        for number, each in enumerate(rest, 1):
            made = te.if_then_else(axis.equal(number), each, made)
        return made.astype("int64")

    return te.compute((len(shape), length), index, name="nonzero"), total(counts)


def compress(x: Tensor, condition: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """Return the slices along an axis at which a condition holds.

    Parameters
    ----------
    x : Tensor
    condition : Tensor
        ``[length]``, bools, for the first slices; slices beyond `length` are left out.
    axis : int

    Returns
    -------
    chosen : Tensor
        As `x`, but as long as `condition` along the axis.
    count : Tensor
        How many slices are results.
    """
    (length,) = extents(condition)
    flags = te.compute((length,), lambda i: condition(i).astype("int32"), name="flags")
    held, counts = numbers_of_held(flags)
    last = length - 1

    def chosen(*i: Any) -> Any:
        value = x(*i[:axis], held(i[axis]), *i[axis + 1 :])
        return te.if_then_else(i[axis] < counts(last), value, te.const(0, x.dtype))

    shape = (*x.shape[:axis], length, *x.shape[axis + 1 :])
    return te.compute(shape, chosen, name="compressed"), total(counts)


__all__ = ["compress", "nonzero"]
