"""Reductions, cumulative sums, and the largest elements with their positions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ...extents import are_known, at_least, number_of
from ...ops import reductions, sorting
from ...ops.reductions.axes import normalized
from ..nodes import Node, Value, empty
from .registry import converts

_REDUCE = {
    "ReduceL1": reductions.reduce_l1,
    "ReduceL2": reductions.reduce_l2,
    "ReduceLogSum": reductions.reduce_log_sum,
    "ReduceLogSumExp": reductions.reduce_log_sum_exp,
    "ReduceMax": reductions.reduce_max,
    "ReduceMean": reductions.reduce_mean,
    "ReduceMin": reductions.reduce_min,
    "ReduceProd": reductions.reduce_prod,
    "ReduceSum": reductions.reduce_sum,
    "ReduceSumSquare": reductions.reduce_sum_square,
}
_OF_NOTHING = {  # results of empty reductions in the standard; others give 0
    "ReduceLogSum": -np.inf,
    "ReduceLogSumExp": -np.inf,
    "ReduceMax": -np.inf,
    "ReduceMean": np.nan,
    "ReduceMin": np.inf,
    "ReduceProd": 1,
}
_TERMS = ("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare")
"""Reductions that change an element also where it is the only one."""

_PLACE = {"ArgMax": reductions.argmax, "ArgMin": reductions.argmin}


@converts(*_REDUCE)
def reduce(node: Node) -> Value:
    """Reduce over axes, which older versions have as an attribute; by default, over all axes."""
    data = node.input(0)
    axes = node.ints_or("axes", 1)
    keepdims = bool(node.attributes.get("keepdims", 1))
    if not axes and node.attributes.get("noop_with_empty_axes", 0):
        if node.op not in _TERMS:
            return data
        axes, keepdims = [data.rank], False
        data = node.convert("Unsqueeze", [data, node.constant(axes)])
    own = checked_axes(node, axes or range(data.rank), data.rank)
    if 0 in data.shape:
        return _of_nothing(node, data, own, keepdims)
    return node.emit(node.op.lower(), _REDUCE[node.op], [data], axes=own, keepdims=keepdims)


def _of_nothing(node: Node, data: Value, axes: Sequence[int], keepdims: bool) -> Value:
    """Return the result of a reduction of a tensor without elements."""
    number = _OF_NOTHING.get(node.op, 0)
    if data.dtype == "bool":
        number = node.op == "ReduceMin"
    elif "int" in data.dtype and not np.isfinite(number):
        if np.isnan(number):
            node.refuse("the mean of an empty tensor of integers is not defined")
        limits = np.iinfo(data.dtype)
        number = limits.max if number > 0 else limits.min
    kept = [1 if a in axes else e for a, e in enumerate(data.shape) if keepdims or a not in axes]
    if not are_known(kept):
        node.refuse("it reduces a tensor without elements to a result with open extents")
    return node.constant(np.full(kept, number), data.dtype)


@converts(*_PLACE)
def place(node: Node) -> Value:
    """Find the index of the greatest or least element along an axis."""
    data = node.input(0)
    (axis,) = checked_axes(node, [node.attributes.get("axis", 0)], data.rank)
    return node.emit(
        node.op.lower(),
        _PLACE[node.op],
        [data],
        axis=axis,
        keepdims=bool(node.attributes.get("keepdims", 1)),
        last=bool(node.attributes.get("select_last_index", 0)),
    )


_CUMULATIVE = {"CumProd": reductions.cumprod, "CumSum": reductions.cumsum}


@converts(*_CUMULATIVE)
def cumulative(node: Node) -> Value:
    """Compute cumulative sums or products along an axis."""
    data = node.input(0)
    (axis,) = checked_axes(node, node.ints(1), data.rank)
    return node.emit(
        node.op.lower(),
        _CUMULATIVE[node.op],
        [data],
        axis=axis,
        exclusive=bool(node.attributes.get("exclusive", 0)),
        reverse=bool(node.attributes.get("reverse", 0)),
    )


@converts("TopK")
def top_k(node: Node) -> list[Value]:
    """Find the k greatest or least elements, always in sorted order."""
    data = node.input(0)
    (axis,) = checked_axes(node, [node.attributes.get("axis", -1)], data.rank)
    k = node.ints(1) if node.version >= 10 else [node.attributes["k"]]
    if len(k) != 1 or not at_least(k[0], 0) or not at_least(data.shape[axis], k[0]):
        node.refuse(f"its k is {k}, but the axis has {data.shape[axis]} elements")
    if number_of(k[0]) == 0:
        shape = (*data.shape[:axis], 0, *data.shape[axis + 1 :])
        return [empty(shape, data.dtype), empty(shape, "int64")]
    largest = bool(node.attributes.get("largest", 1))
    return node.emit_all("top_k", sorting.top_k, [data], k=k[0], axis=axis, largest=largest)


def checked_axes(node: Node, axes: Iterable[int], rank: int) -> tuple[int, ...]:
    """Return the axes as nonnegative numbers; refuse axes that the rank does not have."""
    try:
        return normalized(tuple(axes), rank)
    except ValueError as error:
        node.refuse(str(error))


__all__ = ["checked_axes", "cumulative", "place", "reduce", "top_k"]
