"""Nodes that read tensors whose length depends on data.

Such a tensor has memory for the greatest possible length, and a count (``Value.count``). *Counted
rows* are the rows with an index below the count. If a node computes counted rows from counted rows
alone, it is converted as if all rows were counted, and its output has the same count.
:data:`_RULES` lists these operators, with the counted axis. Some other operators are converted with
the count (:mod:`.count_readers`). All others are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .. import te
from ..extents import plain, product
from .converters.axes import normal_axes, normal_axis
from .converters.normalization import softmax_axes
from .converters.registry import MICROSOFT, Converter
from .count_readers import WHY, converted_with_count, counted_inputs
from .nodes import Node, Value

Rule = Callable[[Node, Sequence[Value]], "int | list[int]"]
"""Takes a node, and its outputs as if all rows were counted. Returns the counted axis of all
outputs, or a list with the counted axis of each output."""


def has_count(node: Node) -> bool:
    """Whether a node reads a tensor whose length depends on data."""
    return bool(counted_inputs(node))


def converted_counted(node: Node, convert: Converter) -> Sequence[Value]:
    """Convert a node that reads tensors whose length depends on data.

    Raises
    ------
    Unsupported
        If the operator is not known to have the right rows.
    """
    made = converted_with_count(node, convert)
    if made is not None:
        return made
    rule = _RULES.get((node.domain, node.op))
    if rule is None:
        node.refuse(WHY)
    counts = {id(each.count): each.count for _, each in counted_inputs(node)}
    if len(counts) > 1:
        node.refuse("the lengths of its inputs depend on different data")
    (count,) = counts.values()
    if node.op == "Slice" and (cut := _cut(node, count)) is not None:  # type: ignore[arg-type]
        return [cut]
    inputs = list(node.inputs)
    node.inputs = [None if each is None else each.counted_by(None) for each in inputs]
    converted = convert(node)
    outputs = [converted] if isinstance(converted, Value) else list(converted)
    node.inputs = inputs
    axes = rule(node, outputs)
    numbers = axes if isinstance(axes, list) else [axes] * len(outputs)
    return [each.counted_by(count, axis) for each, axis in zip(outputs, numbers, strict=True)]


def _only(node: Node, *numbers: int) -> Value:
    """Return the only input with a count; refuse unless its number is among `numbers`."""
    found = counted_inputs(node)
    if len(found) != 1 or found[0][0] not in numbers:
        node.refuse(WHY)
    return found[0][1]


def _element_by_element(node: Node, outputs: Sequence[Value]) -> int:
    rank = max(each.rank for each in node.inputs if each is not None)
    from_end = {value.rank - value.counted_axis for _, value in counted_inputs(node)}
    if len(from_end) != 1:
        node.refuse("the axis whose extent depends on data is at different positions in its inputs")
    (end,) = from_end
    for each in node.inputs:
        if each is not None and each.count is None and each.rank >= end and each.shape[-end] != 1:
            node.refuse("it joins its rows with rows whose number is known only at run time")
    return rank - end


def _transposed(node: Node, outputs: Sequence[Value]) -> int:
    x = _only(node, 0)
    order = list(node.attributes.get("perm", range(x.rank)[::-1]))
    return order.index(x.counted_axis)


def _gathered(node: Node, outputs: Sequence[Value]) -> int:
    found = _only(node, 0, 1)
    data, indices = node.input(0), node.input(1)
    axis = normal_axis(node, int(node.attributes.get("axis", 0)), data.rank)
    if found is indices:
        return axis + indices.counted_axis
    return _beside(node, data, axis, indices.rank)


def _beside(node: Node, x: Value, axis: int, extents: int) -> int:
    """Return the output's counted axis for a node that replaces `axis` of x by `extents` axes."""
    if x.counted_axis == axis:
        node.refuse(WHY)
    return x.counted_axis + (extents - 1 if axis < x.counted_axis else 0)


def _gathered_by_tuples(node: Node, outputs: Sequence[Value]) -> int:
    indices = _only(node, 1)
    if indices.counted_axis == indices.rank - 1 or node.attributes.get("batch_dims", 0):
        node.refuse(WHY)
    return indices.counted_axis


def _gathered_by_element(node: Node, outputs: Sequence[Value]) -> int:
    return _only(node, 1).counted_axis


def _reshaped(node: Node, outputs: Sequence[Value]) -> int:
    """Return the output axis that keeps the counted axis's extent and number of outer elements."""
    x = _only(node, 0)
    before, extent = product(x.shape[: x.counted_axis]), x.shape[x.counted_axis]
    (made,) = outputs
    for axis, own in enumerate(made.shape):
        if own == extent and product(made.shape[:axis]) == before:
            return axis
    node.refuse("its output mixes rows whose number is known only at run time with others")


def _with_axes(node: Node, outputs: Sequence[Value]) -> int:
    x = _only(node, 0)
    axes = node.ints_or("axes", 1, [])
    added = normal_axes(node, axes, x.rank + len(axes))
    return [a for a in range(x.rank + len(added)) if a not in added][x.counted_axis]


def _without_axes(node: Node, outputs: Sequence[Value]) -> int:
    x = _only(node, 0)
    axes = node.ints_or("axes", 1)
    if axes is None:
        if 1 in x.shape[x.counted_axis : x.counted_axis + 1]:
            node.refuse(WHY)
        axes = [a for a, extent in enumerate(x.shape) if extent == 1]
    removed = normal_axes(node, axes, x.rank)
    return _left(node, x, removed)


def _left(node: Node, x: Value, removed: Sequence[int]) -> int:
    """Return the position of the counted axis after the axes `removed` are dropped."""
    if x.counted_axis in removed:
        node.refuse(WHY)
    return [a for a in range(x.rank) if a not in removed].index(x.counted_axis)


def _along_other(default: int) -> Rule:
    """Return the rule of operators that work along an axis other than the counted axis."""

    def rule(node: Node, outputs: Sequence[Value]) -> int:
        values = [value for _, value in counted_inputs(node)]
        x = values[0]
        axis = normal_axis(node, int(node.attributes.get("axis", default)), x.rank)
        own = {each.counted_axis for each in values}
        if len(own) != 1 or axis in own:
            node.refuse(WHY)
        return x.counted_axis

    return rule


def _normalized(node: Node, outputs: Sequence[Value]) -> int:
    x = _only(node, 0)
    if x.counted_axis in softmax_axes(node, x.rank):
        node.refuse(WHY)
    return x.counted_axis


def _joined(node: Node, outputs: Sequence[Value]) -> int:
    if len(counted_inputs(node)) != len(node.inputs):
        node.refuse(WHY)
    return _along_other(0)(node, outputs)


def _sliced(node: Node, outputs: Sequence[Value]) -> int:
    x = _only(node, 0)
    axes = node.ints(3) if node.has(3) else node.attributes.get("axes")
    if axes is None:
        axes = range(len(node.ints_or("starts", 1, [])))
    if x.counted_axis in normal_axes(node, axes, x.rank):
        node.refuse("it slices a tensor along the axis whose extent is known only at run time")
    return x.counted_axis


def _cut(node: Node, count: Value) -> Value | None:
    """Convert a slice of the first rows by limiting the count; None for other slices."""
    x = _only(node, 0)
    parts = [node.ints_or(name, i) for i, name in enumerate(("starts", "ends", "axes"), 1)]
    starts, ends, axes = parts[0], parts[1], parts[2] or [0]
    steps = node.ints(4) if node.has(4) else [1]
    if normal_axes(node, axes, x.rank) != [x.counted_axis] or starts != [0] or steps != [1]:
        return None
    if ends[0] < 0:
        return None
    most = plain(te.min(ends[0], x.shape[x.counted_axis]))
    if not isinstance(most, int):
        node.refuse(f"it slices up to {ends[0]} of rows whose largest number is open")
    limits = [node.constant([each], "int64") for each in (0, most, x.counted_axis)]
    made = node.convert("Slice", [x.counted_by(None), *limits])
    fewer = node.convert("Min", [count, node.constant(most, "int64")])
    return made.counted_by(fewer, x.counted_axis)


def _reduced(node: Node, outputs: Sequence[Value]) -> int:
    x = _only(node, 0)
    axes = node.ints_or("axes", 1)
    if node.op.startswith("Arg"):
        axes = [node.attributes.get("axis", 0)]
    if not axes:
        node.refuse(WHY)
    reduced = normal_axes(node, axes, x.rank)
    kept = _left(node, x, reduced)
    return x.counted_axis if node.attributes.get("keepdims", 1) else kept


def _product(node: Node, outputs: Sequence[Value]) -> int:
    """The counted rows are rows of the first factor, or batches that the second does not have."""
    x = _only(node, 0)
    if x.counted_axis > x.rank - 2 or node.attributes.get("transA", 0):
        node.refuse(WHY)
    if x.counted_axis < x.rank - 2 and node.input(1).rank > 2:
        node.refuse(WHY)
    addend = node.inputs[2] if len(node.inputs) > 2 else None
    if addend is not None and addend.rank == 2 and addend.shape[0] != 1:
        node.refuse(WHY)
    return outputs[0].rank - (x.rank - x.counted_axis)


def _of_batch(node: Node, outputs: Sequence[Value]) -> int:
    """The counted rows are images, which are computed one by one."""
    if _only(node, 0).counted_axis != 0 or node.attributes.get("training_mode", 0):
        node.refuse(WHY)
    return 0


def _normalized_from(node: Node, outputs: Sequence[Value]) -> int:
    """The axes from one on are normalized; the counted axis is before them."""
    x = _only(node, 0)
    axis = normal_axis(node, int(node.attributes.get("axis", -1)), x.rank)
    if x.counted_axis >= axis:
        node.refuse(WHY)
    return x.counted_axis


def _regions(node: Node, outputs: Sequence[Value]) -> int:
    """The counted rows are regions of images."""
    if any(i == 0 or value.counted_axis for i, value in counted_inputs(node)):
        node.refuse(WHY)
    return 0


_ELEMENT_BY_ELEMENT = (
    ["Abs", "Acos", "Acosh", "Add", "And", "Asin", "Asinh", "Atan", "Atanh", "BitwiseAnd"]
    + ["BitwiseNot", "BitwiseOr", "BitwiseXor", "Cast", "Ceil", "Celu", "Clip", "Cos", "Cosh"]
    + ["Div", "Elu", "Equal", "Erf", "Exp", "Floor", "Gelu", "Greater", "GreaterOrEqual"]
    + ["HardSigmoid", "HardSwish", "Identity", "IsInf", "IsNaN", "LeakyRelu", "Less"]
    + ["LessOrEqual", "Log", "Max", "Mean", "Min", "Mish", "Mod", "Mul", "Neg", "Not", "Or"]
    + ["PRelu", "Pow", "Reciprocal", "Relu", "Round", "Selu", "Shrink", "Sigmoid", "Sign", "Sin"]
    + ["Sinh", "Softplus", "Softsign", "Sqrt", "Sub", "Sum", "Tan", "Tanh", "ThresholdedRelu"]
    + ["Where", "Xor"]
)
_REDUCTIONS = [
    "ArgMax",
    "ArgMin",
    "ReduceL1",
    "ReduceL2",
    "ReduceLogSum",
    "ReduceLogSumExp",
    "ReduceMax",
] + ["ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare"]
_BATCHED = ["AveragePool", "BatchNormalization", "Conv", "ConvTranspose", "GlobalAveragePool"]
_BATCHED += ["GlobalMaxPool", "InstanceNormalization", "MaxPool"]

_OF_ONNX: dict[str, Rule] = {
    **dict.fromkeys(_ELEMENT_BY_ELEMENT, _element_by_element),
    **dict.fromkeys(_REDUCTIONS, _reduced),
    **dict.fromkeys(_BATCHED, _of_batch),
    **dict.fromkeys(["Gemm", "MatMul"], _product),
    **dict.fromkeys(["MaxRoiPool", "RoiAlign"], _regions),
    **dict.fromkeys(["Flatten", "Reshape"], _reshaped),
    **dict.fromkeys(["LogSoftmax", "Softmax"], _normalized),
    **dict.fromkeys(["LayerNormalization", "RMSNormalization"], _normalized_from),
    "Concat": _joined,
    "Gather": _gathered,
    "GatherElements": _gathered_by_element,
    "GatherND": _gathered_by_tuples,
    "Slice": _sliced,
    "Split": _along_other(0),
    "Squeeze": _without_axes,
    "TopK": _along_other(-1),
    "Transpose": _transposed,
    "Unsqueeze": _with_axes,
}
_RULES: dict[tuple[str, str], Rule] = {("", op): rule for op, rule in _OF_ONNX.items()}
_RULES |= {(MICROSOFT, op): _element_by_element for op in ("FastGelu", "Gelu", "QuickGelu")}

__all__ = ["converted_counted", "has_count"]
