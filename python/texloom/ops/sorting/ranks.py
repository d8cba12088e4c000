"""The order of few elements, found by comparing all pairs, with vector operations."""

from __future__ import annotations

from typing import Any

from ... import te
from ..._core import Tensor
from ...extents import shape_of


def ranked_order(x: Tensor, keep: int, largest: bool) -> Tensor:
    """Return the indices of the first elements of each row ``[rows, length]``, as int32.

    The rank of an element is the number of elements before it. Each place of the result then finds
    the element whose rank it is.
    """
    rows, length = shape_of(x)

    def rank(r: Any, i: Any) -> Any:
        j = te.reduce_axis((0, length), name="j")
        return te.sum(_comes_before(x(r, j.var), x(r, i), _number(j.var < i), largest), axis=j)

    ranks = te.compute((rows, length), rank, name="rank")

    def place(r: Any, p: Any) -> Any:
        j = te.reduce_axis((0, length), name="j")
        return te.sum(_number(ranks(r, j.var).equal(p)) * j.var, axis=j)

    return te.compute((rows, keep), place, name="order")


def _comes_before(v: Any, w: Any, earlier: Any, largest: bool) -> Any:
    """Return 1 if `v` comes before `w`, else 0; `earlier` is 1 if the index of `v` is smaller.

    The result is computed by sums and products, because conditions are not vectorized.
    """
    better = _number(v > w if largest else v < w)
    before = better + _number(v.equal(w)) * earlier
    if "float" not in v.dtype:
        return before
    nan, other_nan = _number(te.isnan(v)), _number(te.isnan(w))
    both = nan * other_nan * earlier
    return before + both + (nan * (1 - other_nan) if largest else other_nan * (1 - nan))


def _number(condition: Any) -> Any:
    return condition.astype("int32")


__all__ = ["ranked_order"]
