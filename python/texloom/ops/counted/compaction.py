"""Compaction: the positions of the elements for which a condition holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import te, tir
from ..._core import Tensor
from ...extents import plain, shape_of
from ..reductions import cumsum
from ..threads import each_thread


def numbers_of_held(flags: Tensor) -> tuple[Tensor, Tensor]:
    """Return the indices of the flags that are 1, in order.

    Parameters
    ----------
    flags : Tensor
        ``[length]`` of int32, each 0 or 1.

    Returns
    -------
    indices : Tensor
        ``[length]`` of int32, 0 after the last index.
    counts : Tensor
        ``[length]`` of int32: how many flags are 1, up to and including each flag.
    """
    (length,) = shape_of(flags)
    counts = cumsum(flags, 0)

    def body(inputs: Sequence[Any], outputs: Sequence[Any]) -> Any:
        ib = tir.ir_builder.create()
        count, result = ib.buffer_ptr(inputs[0]), ib.buffer_ptr(outputs[0])
        with each_thread(ib, length) as i:
            before = ib.let("before", te.if_then_else(i > 0, count[tir.max(i - 1, 0)], 0))
            is_held = ib.let("is_held", count[i] > before)
            place = place_of(is_held, before, count[length - 1], i, before)
            result[ib.let("place", place)] = te.if_then_else(is_held, i, 0)
        return ib.get()

    return te.extern((length,), [counts], body, name="held", dtype="int32"), counts


def place_of(is_held: Any, place: Any, count: Any, i: Any, before: Any) -> Any:
    """Return where element `i` is written. Elements that are kept come first, then all others.

    Parameters
    ----------
    is_held : Expr
        Whether the element is kept; if it is, it is written to `place`.
    count : Expr
        How many elements are kept.
    before : Expr
        How many elements before `i` are kept.
    """
    return te.if_then_else(is_held, place, count + i - before)


def total(counts: Tensor) -> Tensor:
    """Return the last count, as an int64 scalar."""
    last = plain(counts.shape[0]) - 1
    return te.compute((), lambda: counts(last).astype("int64"), name="count")


__all__ = ["numbers_of_held", "place_of", "total"]
