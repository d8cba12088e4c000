"""Operators of onnxruntime on quantized tensors.

An input is three inputs in a row: integers, their scale, and their zero point, which may be left
out. Results are computed in float32, and rounded once.
"""

from __future__ import annotations

from ....extents import agree, number_of
from ....ops import normalization
from ....ops.reductions import reduce_mean
from ...nodes import Node, Value
from ..casts import dequantize, quantize
from ..reductions import checked_axes
from ..registry import MICROSOFT, converts
from ..words import requantize
from .activations import check_row
from .products import channels_first, channels_last, transposed

converts("QuantizeLinear", domain=MICROSOFT)(quantize)
converts("DequantizeLinear", domain=MICROSOFT)(dequantize)

_POOLING = ("auto_pad", "ceil_mode", "count_include_pad", "kernel_shape", "pads", "strides")
_TYPES = ("int8", "uint8")


@converts("QLinearAdd", "QLinearMul", domain=MICROSOFT)
def arithmetic(node: Node) -> Value:
    """Add or multiply quantized tensors, which are broadcast."""
    factors = [_numbers(node, 0), _numbers(node, 3)]
    made = node.convert(node.op.removeprefix("QLinear"), factors)
    return _integers(node, made, 6, node.input(0).dtype)


@converts("QLinearSigmoid", "QLinearLeakyRelu", domain=MICROSOFT)
def activation(node: Node) -> Value:
    """Apply an activation function to a quantized tensor."""
    made = node.convert(node.op.removeprefix("QLinear"), [_numbers(node, 0)], **node.attributes)
    return _integers(node, made, 3, node.input(0).dtype)


@converts("QLinearSoftmax", domain=MICROSOFT)
def softmax(node: Node) -> Value:
    """Convert a softmax; before the operator set 13, over all axes from the given one on."""
    data = node.input(0)
    (axis,) = checked_axes(node, [node.attributes.get("axis", -1)], data.rank)
    axes = (axis,) if node.attributes["opset"] >= 13 else tuple(range(axis, data.rank))
    numbers = _numbers(node, 0)
    made = node.emit_part("softmax", "softmax", normalization.softmax, [numbers], axes=axes)
    return _integers(node, made, 3, data.dtype)


@converts("QLinearGlobalAveragePool", domain=MICROSOFT)
def global_average_pool(node: Node) -> Value:
    """Average each channel; channels are the second axis or the last."""
    data = node.input(0)
    if data.rank < 3:
        node.refuse(f"its input has the rank {data.rank}, so it has no spatial axes")
    first = 1 if node.attributes.get("channels_last", 0) else 2
    axes = tuple(range(first, first + data.rank - 2))
    made = node.emit_part("mean", "reduce_mean", reduce_mean, [_numbers(node, 0)], axes=axes)
    return _integers(node, made, 3, data.dtype)


@converts("QLinearAveragePool", domain=MICROSOFT)
def average_pool(node: Node) -> Value:
    """Average windows; channels are the second axis or the last."""
    own = {name: node.attributes[name] for name in _POOLING if name in node.attributes}
    is_last = bool(node.attributes.get("channels_last", 0))
    numbers = _numbers(node, 0)
    if numbers.rank < 3:
        node.refuse(f"its input has the rank {numbers.rank}, so it has no spatial axes")
    made = node.convert(
        "AveragePool", [channels_first(node, numbers) if is_last else numbers], **own
    )
    return _integers(node, channels_last(node, made) if is_last else made, 3, node.input(0).dtype)


@converts("QLinearConcat", domain=MICROSOFT)
def concat(node: Node) -> Value:
    """Join tensors, each with a scale and a zero point of its own."""
    if len(node.inputs) < 5 or len(node.inputs) % 3 != 2:
        node.refuse(
            f"it has {len(node.inputs)} inputs, not 2 and then 3 for each tensor: its integers, "
            "scale and zero point"
        )
    dtype = node.input(1).dtype
    parts = []
    for first in range(2, len(node.inputs), 3):
        if node.input(first).dtype not in _TYPES:
            node.refuse(f"its input {first} is {node.input(first).dtype}, neither int8 nor uint8")
        parts.append(_integers(node, _numbers(node, first), 0, dtype))
    return node.convert("Concat", parts, axis=node.attributes["axis"])


def _numbers(node: Node, first: int) -> Value:
    """Return the numbers that integers, their scale and zero point stand for."""
    scale = _single(node, first + 1, "scale")
    zero = _single(node, first + 2, "zero point") if node.has(first + 2) else None
    return node.convert("DequantizeLinear", [node.input(first), scale, zero])


def _integers(node: Node, x: Value, first: int, dtype: str) -> Value:
    """Quantize numbers by the scale and the zero point among the inputs."""
    zero = _single(node, first + 1, "zero point") if node.has(first + 1) else None
    if zero is None:
        zero = node.constant(0, dtype)
    elif zero.dtype != dtype:
        node.refuse(f"its result is {dtype}, but the zero point of its result is {zero.dtype}")
    return node.convert("QuantizeLinear", [x, _single(node, first, "scale"), zero])


def _single(node: Node, index: int, name: str) -> Value:
    """Return an input of one element as a scalar."""
    value = node.input(index)
    if not all(agree(each, 1) for each in value.shape):
        node.refuse(f"its input {index}, a {name}, has the shape {value.shape}, not one element")
    return value if not value.rank else node.convert("Reshape", [value, node.constant([], "int64")])


@converts("QGemm", domain=MICROSOFT)
def gemm(node: Node) -> Value:
    """Multiply quantized matrices and add integers; the result is float32 without `y_scale`."""
    a, b = (_matrix(node, i, name) for i, name in ((0, "transA"), (3, "transB")))
    sums = _sums(node, a, b, 2, 5)
    if node.has(6):
        sums = node.convert("Add", [sums, node.input(6)])
    alpha = node.constant(node.attributes.get("alpha", 1.0), "float32")
    scale = node.convert("Mul", [_single(node, 1, "scale"), alpha])
    _check_columns(node, 4, b)
    if not node.has(7):
        if node.has(8):
            node.refuse("it has y_zero_point, but not y_scale")
        return _scaled(node, sums, [scale, node.input(4)])
    zero = node.input(8) if node.has(8) else node.constant(0, a.dtype)
    scales = scale, node.input(4)
    return requantize(node, sums, scales, _single(node, 7, "scale"), zero, sums.rank - 1)


def _matrix(node: Node, index: int, name: str) -> Value:
    x = node.input(index)
    if x.rank != 2:
        node.refuse(f"it multiplies a tensor of the shape {x.shape}, which is not a matrix")
    return transposed(node, x, [1, 0] if node.attributes.get(name, 0) else [0, 1])


def _sums(node: Node, a: Value, b: Value, a_zero: int, b_zero: int) -> Value:
    """Return int32 sums of products, given the places of the zero points among the inputs."""
    zeros: list[Value | None] = []
    if node.has(a_zero) or node.has(b_zero):
        zeros.append(_single(node, a_zero, "zero point") if node.has(a_zero) else None)
    if node.has(b_zero):
        _check_columns(node, b_zero, b)
        zeros.append(node.input(b_zero))
    return node.convert("MatMulInteger", [a, b, *zeros])


def _check_columns(node: Node, index: int, b: Value) -> None:
    """Refuse a scale or zero point that has neither one element nor one for each column of `b`."""
    value = node.input(index)
    is_single = all(number_of(each) == 1 for each in value.shape)
    if value.rank > 1 or not (is_single or agree(value.shape[0], b.shape[-1])):
        node.refuse(
            f"its input {index} has the shape {value.shape}, neither one element nor one for each "
            f"of {b.shape[-1]} columns"
        )


def _scaled(node: Node, sums: Value, scales: list[Value]) -> Value:
    """Return integers times scales."""
    scale = node.convert("Mul", scales)
    return node.convert("Mul", [node.cast(sums, "float32"), scale])


@converts("DynamicQuantizeMatMul", domain=MICROSOFT)
def dynamic_quantize_matmul(node: Node) -> Value:
    """Quantize the first factor by its extreme elements, multiply, and return numbers."""
    a, b = node.input(0), node.input(1)
    _check_columns(node, 2, b)
    x, scale, zero = node.convert_all("DynamicQuantizeLinear", [a], outputs=3)
    zeros: list[Value] = [zero]
    if node.has(3):
        _check_columns(node, 3, b)
        zeros.append(node.input(3))
    sums = node.convert("MatMulInteger", [x, b, *zeros])
    return _plus_bias(node, _scaled(node, sums, [scale, node.input(2)]), 4)


@converts("MatMulIntegerToFloat", domain=MICROSOFT)
def matmul_integer_to_float(node: Node) -> Value:
    """Multiply quantized matrices, and return numbers."""
    a, b = node.input(0), node.input(1)
    _check_columns(node, 3, b)
    sums = _sums(node, a, b, 4, 5)
    made = _scaled(node, sums, [_single(node, 2, "scale"), node.input(3)])
    return _plus_bias(node, made, 6)


@converts("DynamicQuantizeLSTM", domain=MICROSOFT)
def dynamic_quantize_lstm(node: Node) -> list[Value]:
    """Convert an LSTM with quantized weights, whose input is quantized by its extreme elements.

    The states remain numbers, where onnxruntime quantizes the state of each step.
    """
    quantized = node.convert_all("DynamicQuantizeLinear", [node.input(0)], outputs=3)
    x = node.convert("DequantizeLinear", quantized)
    others = [node.inputs[i] for i in range(3, 8)]
    weights = [_gate_weights(node, 1, 8), _gate_weights(node, 2, 10)]
    given = {name: value for name, value in node.attributes.items() if value != []}
    return node.convert_all("LSTM", [x, *weights, *others], outputs=3, **given)


def _gate_weights(node: Node, index: int, scale: int) -> Value:
    """Return the numbers of quantized weights, whose columns are the gates, in LSTM's order.

    `scale` is the place of the scales among the inputs; the zero points follow. Each has one
    element for each direction, or one for each of its columns.
    """
    weights = node.input(index)
    if weights.rank != 3:
        node.refuse(f"its input {index} has the shape {weights.shape}, not 3 axes")
    directions, _, columns = weights.shape
    parts = []
    for place in (scale, scale + 1):
        value = node.input(place)
        if value.shape not in ((directions,), (directions, columns)):
            node.refuse(
                f"its input {place} has the shape {value.shape}, not one element for each of "
                f"{directions} directions, or of their {columns} columns"
            )
        axes = node.constant([1, 2] if value.rank == 1 else [1], "int64")
        parts.append(node.cast(node.convert("Unsqueeze", [value, axes]), "float32"))
    centered = node.convert("Sub", [node.cast(weights, "float32"), parts[1]])
    return transposed(node, node.convert("Mul", [centered, parts[0]]), [0, 2, 1])


def _plus_bias(node: Node, x: Value, index: int) -> Value:
    if not node.has(index):
        return x
    check_row(node, "bias", node.input(index), x)
    return node.convert("Add", [x, node.input(index)])


__all__ = [
    "activation",
    "arithmetic",
    "average_pool",
    "concat",
    "dynamic_quantize_lstm",
    "dynamic_quantize_matmul",
    "gemm",
    "global_average_pool",
    "matmul_integer_to_float",
    "softmax",
]
