"""Where the greatest and the least elements are, and the k greatest or least ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import te, tir
from ..._core import Tensor
from .axes import extents, normalized, reduce_over


def argmax(x: Tensor, axis: int = 0, keepdims: bool = True, last: bool = False) -> Tensor:
    """Return the index of the greatest element along an axis, as int64.

    Parameters
    ----------
    x : Tensor
    axis : int
    keepdims : bool
        Whether the axis stays, with extent 1.
    last : bool
        Among equal elements the last one is taken, not the first. NaN is greater than all numbers.
    """
    return _place(x, axis, keepdims, last, greatest=True)


def argmin(x: Tensor, axis: int = 0, keepdims: bool = True, last: bool = False) -> Tensor:
    """Return the index of the least element along an axis, as :func:`argmax`; NaN comes first."""
    return _place(x, axis, keepdims, last, greatest=False)


def _place(x: Tensor, axis: int, keepdims: bool, last: bool, greatest: bool) -> Tensor:
    own = normalized([axis], len(x.shape))
    better = _better(greatest, nan_first=True)

    def combine(a: Any, b: Any) -> Any:
        (v, i), (w, j) = a, b
        earlier = i > j if last else i < j
        first = te.any(better(v, w), te.all(tir.Not(better(w, v)), earlier))
        return [te.if_then_else(first, v, w), te.if_then_else(first, i, j)]

    def nothing(dtype: str, index: str) -> tuple[Any, Any]:
        return _least(dtype, greatest), te.const(-1, index) if last else te.max_value(index)

    reducer = te.comm_reducer(combine, nothing, name="place")
    _, places = reduce_over(x, own, reducer, lambda v, *i: (v, i[own[0]]), keepdims, "place")
    return te.compute(places.shape, lambda *i: places(*i).astype("int64"), name="index")


def _better(greatest: bool, nan_first: bool) -> Callable[[Any, Any], Any]:
    """Return a strict order: whether the first value comes before the second."""

    def better(v: Any, w: Any) -> Any:
        wins = v > w if greatest else v < w
        if "float" not in v.dtype:
            return wins
        (nan, number) = (v, w) if nan_first else (w, v)
        return te.any(wins, te.all(te.isnan(nan), tir.Not(te.isnan(number))))

    return better


def _least(dtype: str, greatest: bool) -> Any:
    """Return a value that comes after all others, or is equal to them."""
    if "float" in dtype:
        return te.const(float("-inf") if greatest else float("inf"), dtype)
    return te.min_value(dtype) if greatest else te.max_value(dtype)


def top_k(x: Tensor, k: int, axis: int = -1, largest: bool = True) -> tuple[Tensor, Tensor]:
    """Return the k greatest or least elements along an axis in order, and their indices.

    Among equal elements those with lower indices come first. NaN is greater than all numbers.

    Parameters
    ----------
    x : Tensor
    k : int
        At most the extent of the axis.
    axis : int
    largest : bool
        Whether the greatest elements are wanted, from the greatest down.

    Returns
    -------
    values : Tensor
        As `x`, but with extent `k` along the axis.
    indices : Tensor of int64
    """
    (own,) = normalized([axis], len(x.shape))
    shape = extents(x)
    rank = _ranks(x, own, largest)
    shape_k = (*shape[:own], k, *shape[own + 1 :])

    def place(*i: Any) -> Any:
        j = te.reduce_axis((0, shape[own]), name="j")
        return te.sum(_number(rank(*_with(i, own, j.var)).equal(i[own])) * j.var, axis=j)

    places = te.compute(shape_k, place, name="place")
    values = te.compute(shape_k, lambda *i: x(*_with(i, own, places(*i))), name="values")
    indices = te.compute(shape_k, lambda *i: places(*i).astype("int64"), name="indices")
    return values, indices


def _ranks(x: Tensor, axis: int, largest: bool) -> Tensor:
    """Return for each element how many along the axis come before it."""

    def rank(*i: Any) -> Any:
        j = te.reduce_axis((0, extents(x)[axis]), name="j")
        own, other = x(*i), x(*_with(i, axis, j.var))
        return te.sum(_comes_before(other, own, _number(j.var < i[axis]), largest), axis=j)

    return te.compute(extents(x), rank, name="rank")


def _comes_before(v: Any, w: Any, earlier: Any, largest: bool) -> Any:
    """Return 1 if `v` comes before `w`, else 0; `earlier` is 1 if it stands before it.

    Sums and products of numbers, unlike conditions, are computed as vectors.
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


def _with(indices: Any, axis: int, index: Any) -> list[Any]:
    return [*indices[:axis], index, *indices[axis + 1 :]]


__all__ = ["argmax", "argmin", "top_k"]
