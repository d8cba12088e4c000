"""Operators that read tensors whose length depends on data together with their counts.

Reductions over counted rows read a tensor whose other rows are masked; a Concat joins the counted
rows; a Shape has the count as an element.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..extents import product
from ..ops import counted as ops
from ..ops.counted.rows import Filling
from .converters.axes import normal_axes, normal_axis
from .converters.normalization import softmax_axes
from .converters.registry import Converter
from .converters.scalars import as_value, extent_of
from .converters.shapes import sizes_of
from .nodes import Node, Value

WHY = "it reads a tensor whose extent is known only when the model runs"


def counted_inputs(node: Node) -> list[tuple[int, Value]]:
    """Return (number, value) for each input that has a count."""
    return [(i, v) for i, v in enumerate(node.inputs) if v is not None and v.count is not None]


def converted_with_count(node: Node, convert: Converter) -> Sequence[Value] | None:
    """Convert a node that needs the counts of its inputs; None if it computes rows from rows."""
    if node.domain:
        return None
    if node.op in _FILLINGS:
        return _masked(node, convert)
    reader = _READERS.get(node.op)
    return reader(node) if reader is not None else None


_FILLINGS: dict[str, Filling] = {
    "ArgMax": "lowest",
    "ArgMin": "highest",
    "CumProd": "one",
    "CumSum": "zero",
    "LogSoftmax": "lowest",
    "ReduceL1": "zero",
    "ReduceL2": "zero",
    "ReduceLogSum": "zero",
    "ReduceLogSumExp": "lowest",
    "ReduceMax": "lowest",
    "ReduceMean": "zero",
    "ReduceMin": "highest",
    "ReduceProd": "one",
    "ReduceSum": "zero",
    "ReduceSumSquare": "zero",
    "Softmax": "lowest",
}
"""What operators along the counted axis read in place of the rows that are not counted."""

_KEEPS_ROWS = ("CumProd", "CumSum", "LogSoftmax", "Softmax")


def _masked(node: Node, convert: Converter) -> Sequence[Value] | None:
    """Convert an operator along the counted axis; None if it goes along other axes."""
    x = node.input(0)
    if x.count is None:
        node.refuse(WHY)
    axes = _axes(node, x)
    if x.counted_axis not in axes:
        return None
    filled = node.emit_part(
        "rows",
        "masked_rows",
        ops.masked_rows,
        [x.counted_by(None), x.count],
        axis=x.counted_axis,
        filling=_FILLINGS[node.op],
    )
    if node.op == "ReduceMean":
        return [_mean(node, x, filled, axes)]
    node.inputs[0] = filled
    made = convert(node)
    outputs = [made] if isinstance(made, Value) else list(made)
    if node.op in _KEEPS_ROWS:
        return [each.counted_by(x.count, x.counted_axis) for each in outputs]
    return outputs


def _axes(node: Node, x: Value) -> Sequence[int]:
    """Return the axes along which an operator of :data:`_FILLINGS` goes."""
    if node.op in ("LogSoftmax", "Softmax"):
        return softmax_axes(node, x.rank)
    if node.op.startswith("Arg"):
        return [normal_axis(node, int(node.attributes.get("axis", 0)), x.rank)]
    if node.op in ("CumProd", "CumSum"):
        return normal_axes(node, node.ints(1), x.rank)
    axes = node.ints_or("axes", 1)
    if not axes:
        return [] if node.attributes.get("noop_with_empty_axes", 0) else range(x.rank)
    return normal_axes(node, axes, x.rank)


def _mean(node: Node, x: Value, filled: Value, axes: Sequence[int]) -> Value:
    """Return a sum, divided by the number of its terms; the mean of no floats is NaN."""
    wide = "float32" if x.dtype == "float16" else x.dtype
    terms = node.cast(filled, wide)
    keepdims = int(node.attributes.get("keepdims", 1))
    total = node.convert("ReduceSum", [terms, node.constant(axes, "int64")], keepdims=keepdims)
    others = as_value(product([x.shape[axis] for axis in axes if axis != x.counted_axis]))
    number = node.convert("Mul", [x.count, others])
    if "int" in wide:
        number = node.convert("Max", [number, node.constant(1, "int64")])
    mean = node.convert("Div", [total, node.cast(number, wide)])
    return node.cast(mean, x.dtype)


def _joined(node: Node) -> Sequence[Value] | None:
    """Convert a Concat along the counted axis; None if it joins along another axis."""
    parts = [node.input(i) for i in range(len(node.inputs))]
    axis = normal_axis(node, int(node.attributes.get("axis", 0)), parts[0].rank)
    if all(each.counted_axis != axis for _, each in counted_inputs(node)):
        return None
    if any(each.counted_axis != axis for _, each in counted_inputs(node)):
        node.refuse("the axis whose extent depends on data is at different positions in its inputs")
    parts = [each for each in parts if not each.is_empty]
    counts = [each.count or extent_of(each, axis) for each in parts]
    bare = [each.counted_by(None) for each in parts]
    joined = node.emit("joined_rows", ops.joined_rows, [*bare, *counts], axis=axis)
    total = counts[0]
    for each in counts[1:]:
        total = node.convert("Add", [total, each])
    return [joined.counted_by(total, axis)]


def _gathered(node: Node) -> Sequence[Value] | None:
    """Convert a Gather along the counted axis; None if it gathers along another axis."""
    data, indices = node.input(0), node.input(1)
    axis = normal_axis(node, int(node.attributes.get("axis", 0)), data.rank)
    if data.count is None or data.counted_axis != axis:
        return None
    places = indices.counted_by(None)
    if indices.array is None or (indices.array < 0).any():
        places = node.emit_part("places", "places", ops.places_from_begin, [places, data.count])
    made = node.convert("Gather", [data.counted_by(None), places], axis=axis)
    if indices.count is not None:
        made = made.counted_by(indices.count, axis + indices.counted_axis)
    return [made]


def _shape(node: Node) -> Sequence[Value]:
    x = node.input(0)
    axes = range(x.rank)[slice(node.attributes.get("start", 0), node.attributes.get("end"))]
    if x.counted_axis not in axes:
        return [sizes_of(node, [x.shape[axis] for axis in axes])]
    place = axes.index(x.counted_axis)
    count = node.convert("Unsqueeze", [x.count, node.constant([0], "int64")])
    parts = [
        *([sizes_of(node, [x.shape[a] for a in axes[:place]])] if place else []),
        count,
        *([sizes_of(node, [x.shape[a] for a in axes[place + 1 :]])] if axes[place + 1 :] else []),
    ]
    return [parts[0] if len(parts) == 1 else node.convert("Concat", parts, axis=0)]


def _size(node: Node) -> Sequence[Value]:
    x = node.input(0)
    others = product([extent for axis, extent in enumerate(x.shape) if axis != x.counted_axis])
    return [node.convert("Mul", [x.count, as_value(others)])]


_READERS: dict[str, Callable[[Node], Any]] = {
    "Concat": _joined,
    "Gather": _gathered,
    "Shape": _shape,
    "Size": _size,
}

__all__ = ["WHY", "converted_with_count", "counted_inputs"]
