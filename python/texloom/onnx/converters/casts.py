"""Conversions of element types, and quantization."""

from __future__ import annotations

from math import prod

import numpy as np

from ...ops import elementwise, quantization
from ..nodes import Node, Value, as_stored, of_stored
from ..nodes.types import DTYPES, STORED, dtype_name, numpy_dtype
from .registry import converts

_QUANTIZED = ("int8", "uint8", "int16", "uint16")
_BITS = {"int4": 4, "uint4": 4, "int2": 2, "uint2": 2}  # of small integers
_SMALL_FLOATS = STORED.keys() - _BITS.keys()


@converts("Cast")
def cast(node: Node) -> Value:
    """Convert to the type that an attribute names."""
    return _cast(node, dtype_name(node.attributes["to"]))


@converts("CastLike")
def cast_like(node: Node) -> Value:
    """Convert to the type of the second input."""
    return _cast(node, node.input(1).dtype)


def _cast(node: Node, dtype: str) -> Value:
    x = node.input(0)
    if x.dtype == dtype:
        return x
    if dtype not in DTYPES and dtype not in STORED:
        node.refuse(f"it converts to {dtype}, which is not supported")
    x = _numbers(node, x)
    if dtype in _SMALL_FLOATS:
        return _to_small_floats(node, x, dtype)
    if dtype in _BITS:
        return _wrapped(node, x, dtype, _BITS[dtype])
    return x if x.dtype == dtype else node.emit("cast", elementwise.cast, [x], dtype=dtype)


def _numbers(node: Node, value: Value, part: str = "numbers") -> Value:
    """Return a value converted to a dtype that kernels support and that holds all its numbers.

    Small floats become float32, and small integers have the type in which they are stored.
    """
    if value.dtype not in _SMALL_FLOATS:
        return as_stored(value)
    function = quantization.from_small_floats
    return node.emit_part(part, "cast", function, [as_stored(value)], kind=value.dtype)


def _wrapped(node: Node, x: Value, dtype: str, bits: int) -> Value:
    """Return the lowest bits of integers as a type that is stored in another one."""
    stored = STORED.get(dtype, dtype)
    made = node.emit("cast", quantization.wrapped, [x], dtype=stored, bits=bits)
    return of_stored(made, dtype)


def _to_small_floats(node: Node, x: Value, dtype: str) -> Value:
    mode = node.attributes.get("round_mode", "up")
    if mode not in ("up", "down", "nearest"):
        node.refuse(f"its round_mode is {mode!r}, not 'up', 'down' or 'nearest'")
    made = node.emit(
        "cast",
        quantization.to_small_floats,
        [x],
        kind=dtype,
        saturates=bool(node.attributes.get("saturate", 1)),
        round_mode=mode,
    )
    return of_stored(made, dtype)


@converts("BitCast")
def bit_cast(node: Node) -> Value:
    """Interpret the bits of elements as a type of the same size."""
    x, dtype = node.input(0), dtype_name(node.attributes["to"])
    if x.dtype == dtype:
        return x
    if not {x.dtype, dtype} <= {*DTYPES, *STORED} or _width(x.dtype) != _width(dtype):
        node.refuse(f"it interprets {x.dtype} as {dtype}, but their sizes differ")
    held, stored = as_stored(x), STORED.get(dtype, dtype)
    if _width(dtype) < 8:
        return _wrapped(node, held, dtype, _width(dtype))
    if all(np.dtype(each).kind in "biu" for each in (held.dtype, stored)):
        return of_stored(node.emit("cast", elementwise.cast, [held], dtype=stored), dtype)
    if x.array is None:
        node.refuse(
            f"it interprets {x.dtype} as {dtype} when the model runs, which is only supported for "
            "integers and for floats of 8 bits: use Cast if it is the numbers that are needed"
        )
    return node.constant(x.array.view(numpy_dtype(dtype)))


def _width(dtype: str) -> int:
    """Return the number of bits of an element."""
    small = _BITS | {"float4e2m1": 4}
    return small.get(dtype) or 8 * numpy_dtype(dtype).itemsize


@converts("QuantizeLinear")
def quantize(node: Node) -> Value:
    """Quantize numbers to integers or to small floats."""
    x, scale = node.input(0), _numbers(node, node.input(1), "scale")
    dtype = node.input(2).dtype if node.has(2) else _given_type(node, "output_dtype", "uint8")
    sharing = _granularity(node, x, scale)
    precision = _given_type(node, "precision", scale.dtype)
    operands = [x, scale, *_zero_point(node)]
    if dtype in _SMALL_FLOATS:
        number = node.emit_part(
            "numbers",
            "quantizelinear",
            quantization.quotient,
            operands,
            precision=precision,
            **sharing,
        )
        return _to_small_floats(node, number, dtype)
    stored = STORED.get(dtype, dtype)
    if stored not in _QUANTIZED:
        expected = ", ".join((*_QUANTIZED, *STORED))
        node.refuse(f"it makes elements of type {dtype}, not of {expected}")
    made = node.emit(
        "quantizelinear",
        quantization.quantize,
        operands,
        dtype=stored,
        bits=_BITS.get(dtype),
        precision=precision,
        **sharing,
    )
    return of_stored(made, dtype)


@converts("DequantizeLinear")
def dequantize(node: Node) -> Value:
    """Dequantize integers or small floats to numbers."""
    own = node.input(0).dtype
    if own not in (*_QUANTIZED, "int32", *STORED):
        node.refuse(f"it reads elements of type {own}, which is not supported")
    x, scale = _numbers(node, node.input(0)), _numbers(node, node.input(1), "scale")
    dtype = _given_type(node, "output_dtype", scale.dtype)
    zero, granularity = _zero_point(node), _granularity(node, x, scale)
    if all(each.is_constant for each in (x, scale, *zero)) and not granularity["block_size"]:
        known = _looked_up(node, x, [scale, *zero], dtype, granularity["axis"])
        if known is not None:
            return known
    inputs = [x, scale, *zero]
    return node.emit(
        "dequantizelinear", quantization.dequantize, inputs, dtype=dtype, **granularity
    )


def _looked_up(
    node: Node, x: Value, parameters: list[Value], dtype: str, axis: int
) -> Value | None:
    """Dequantize a constant through a table, if that has fewer elements; else return None.

    The table has each number of 8 bits, for each scale. It is computed as the constant would be,
    which takes half a minute for 25 million weights.
    """
    scales = prod(parameters[0].shape)
    if x.dtype not in ("int8", "uint8") or x.array is None or x.array.size <= 256 * scales:
        return None
    least = np.iinfo(x.dtype).min
    numbers = np.arange(least, least + 256).astype(x.dtype)
    given = node.constant(np.repeat(numbers[:, None], scales, axis=1))
    table = node.emit_part(
        "table",
        "dequantizelinear",
        quantization.dequantize,
        [given, *parameters],
        dtype=dtype,
        axis=1,
    )
    if table.array is None:
        return None
    own = [-1 if a == axis and scales > 1 else 1 for a in range(x.rank)]
    columns = np.arange(scales).reshape(own)
    return node.constant(table.array[x.array.astype("int16") - least, columns])


def _given_type(node: Node, attribute: str, default: str) -> str:
    element_type = node.attributes.get(attribute, 0)
    return dtype_name(element_type) if element_type else default


def _zero_point(node: Node) -> list[Value]:
    """Return the zero points, or nothing if all of them are 0."""
    if not node.has(2):
        return []
    own = node.input(2).dtype
    if own not in (*_QUANTIZED, "int32", *STORED):
        node.refuse(f"its zero points are of type {own}, which is not supported")
    value = _numbers(node, node.input(2), "zero_point")
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


__all__ = ["bit_cast", "cast", "cast_like", "dequantize", "quantize"]
