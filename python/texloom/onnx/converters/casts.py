"""Conversions of element types, and quantization."""

from __future__ import annotations

import numpy as np

from ...ops import elementwise, quantization
from ..nodes import Node, Value
from ..nodes.types import DTYPES, dtype_name
from .registry import converts

_QUANTIZED = ("int8", "uint8", "int16", "uint16")


@converts("Cast")
def cast(node: Node) -> Value:
    """Convert to the type that an attribute names."""
    return _cast(node, dtype_name(node.attributes["to"]))


@converts("CastLike")
def cast_like(node: Node) -> Value:
    """Convert to the type of the second input."""
    return _cast(node, node.input(1).dtype)


def _cast(node: Node, dtype: str) -> Value:
    x = _unpacked(node, node.input(0))
    if dtype not in DTYPES:
        node.refuse(f"it converts to {dtype}, which is not supported")
    if x.dtype == dtype:
        return x
    return node.emit("cast", elementwise.cast, [x], dtype=dtype)


@converts("QuantizeLinear")
def quantize(node: Node) -> Value:
    """Quantize numbers to integers."""
    x, scale = node.input(0), node.input(1)
    dtype = node.input(2).dtype if node.has(2) else _given_type(node, "output_dtype", "uint8")
    if dtype not in _QUANTIZED:
        node.refuse(f"it makes elements of type {dtype}, not of {', '.join(_QUANTIZED)}")
    return node.emit(
        "quantizelinear",
        quantization.quantize,
        [x, scale, *_zero_point(node)],
        dtype=dtype,
        precision=_given_type(node, "precision", scale.dtype),
        **_granularity(node, x, scale),
    )


@converts("DequantizeLinear")
def dequantize(node: Node) -> Value:
    """Dequantize integers to numbers."""
    x, scale = _unpacked(node, node.input(0)), node.input(1)
    if x.dtype not in (*_QUANTIZED, "int32") and x.dtype == node.input(0).dtype:
        node.refuse(f"it reads elements of type {x.dtype}, which is not supported")
    return node.emit(
        "dequantizelinear",
        quantization.dequantize,
        [x, scale, *_zero_point(node)],
        dtype=_given_type(node, "output_dtype", scale.dtype),
        **_granularity(node, x, scale),
    )


def _given_type(node: Node, attribute: str, default: str) -> str:
    element_type = node.attributes.get(attribute, 0)
    return dtype_name(element_type) if element_type else default


def _unpacked(node: Node, value: Value) -> Value:
    """Return a constant converted to a dtype that kernels support and that holds all its values.

    Files store weights as small integers, small floats and bfloat16.
    """
    is_small = value.dtype not in DTYPES or value.dtype == "bfloat16"
    if value.array is None or not is_small or value.dtype == "string":
        return value
    unsigned, signed = value.dtype.startswith("uint"), value.dtype.startswith("int")
    return node.constant(
        value.array.astype("uint8" if unsigned else "int8" if signed else "float32")
    )


def _zero_point(node: Node) -> list[Value]:
    """Return the zero points, or nothing if all of them are 0."""
    if not node.has(2):
        return []
    value = _unpacked(node, node.input(2))
    if value.dtype not in (*_QUANTIZED, "int32") and value.dtype == node.input(2).dtype:
        node.refuse(f"its zero points are of type {value.dtype}, which is not supported")
    return [] if value.array is not None and not np.any(value.array) else [value]


def _granularity(node: Node, x: Value, scale: Value) -> dict[str, int]:
    """Return the attributes that say which elements share a scale."""
    axis, block_size = node.attributes.get("axis", 1), node.attributes.get("block_size", 0)
    if np.prod(scale.shape, dtype=np.int64) == 1:
        return {"axis": 0, "block_size": 0}
    if not -x.rank <= axis < x.rank:
        node.refuse(f"its axis is {axis}, but its input has {x.rank} axes")
    expected = (x.shape[axis],)
    if block_size:
        extents = list(x.shape)
        extents[axis] = -(-extents[axis] // block_size)
        expected = tuple(extents)
    if scale.shape != expected:
        node.refuse(f"its scales have the shape {scale.shape}, not {expected}")
    return {"axis": axis % x.rank, "block_size": block_size}


__all__ = ["cast", "cast_like", "dequantize", "quantize"]
