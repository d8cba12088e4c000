"""The positions of the greatest and the least elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import te, tir
from ..._core import Tensor
from .axes import normalized, reduce_over


def argmax(x: Tensor, axis: int = 0, keepdims: bool = True, last: bool = False) -> Tensor:
    """Return the index of the greatest element along an axis, as int64.

    Parameters
    ----------
    x : Tensor
    axis : int
    keepdims : bool
        Whether the axis stays, with extent 1.
    last : bool
        Whether the last of equal elements is taken, instead of the first. NaN is greater than all
        numbers.
    """
    return _place(x, axis, keepdims, last, greatest=True)


def argmin(x: Tensor, axis: int = 0, keepdims: bool = True, last: bool = False) -> Tensor:
    """Return the index of the least element, as :func:`argmax`; NaN is less than all numbers."""
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
    """Return the initial value of the search; no value is worse."""
    if "float" in dtype:
        return te.const(float("-inf") if greatest else float("inf"), dtype)
    return te.min_value(dtype) if greatest else te.max_value(dtype)


__all__ = ["argmax", "argmin"]
