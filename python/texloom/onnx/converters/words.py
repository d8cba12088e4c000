"""Products of 8-bit integers by words of several, where the right side is a constant.

Words of four integers are those of an instruction, or suit no processor better. Where an
instruction adds up two products of 16-bit integers, words of two serve weights that differ by more
than 8 bits from their zero point, and all weights if there is no instruction for four.

See :mod:`texloom.ops.products.words`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...extents import are_known, number_of
from ...ops import convolution, products
from ...ops.products.quantized import centered, requantized, rescaled
from ...ops.products.words import (
    as_unsigned,
    column_terms,
    matmul_of_words,
    right_words,
    row_terms,
    size_of,
    word_count,
)
from ..nodes import Node, Value

EXACT_IN_FLOAT32 = 1 << 24
"""float32 represents all integers up to this one."""

_BYTES = ("uint8", "int8")


def matmul(
    node: Node, a: Value, b: Value, a_zero: Value | None, b_zero: Value | None
) -> Value | None:
    """Return int32 sums of products; None if words do not suit the factors."""
    if node.dots is None or a.dtype not in _BYTES or a.rank < 2 or b.rank < 2:
        return None
    if a.is_empty or not are_known(a.shape[-1:]) or not _is_single(a_zero):
        return None
    if b.array is None:
        return _matmul_of_words(node, a, b, a_zero, b_zero)
    if b.rank != 2:
        return None
    right = _centered(b, b_zero, -1)
    if right is None:
        return None
    if _suits_pairs(node, right):
        inputs = [_pairs(node, a, a_zero), node.constant(_words(right, 0, "int16"))]
        return node.emit("matmul_integer", products.matmul_words, inputs)
    if not _suits_bytes(right):
        return None
    a, a_zero = _unsigned(node, a, a_zero)
    sums = right.sum(0)
    inputs = [a, node.constant(_words(right, 0)), *_terms(node, sums, a_zero)]
    return node.emit("matmul_integer", products.matmul_words, inputs)


def _matmul_of_words(
    node: Node, a: Value, b: Value, a_zero: Value | None, b_zero: Value | None
) -> Value | None:
    """Return the sums of products of two tensors, of which words are made at a run."""
    if b.dtype not in _BYTES or b.is_empty or not _is_single(b_zero):
        return None
    if not are_known(b.shape[-2:]):
        return None
    a, a_zero = _unsigned(node, a, a_zero)
    a_zero, b_zero = (
        node.constant(np.zeros(1, x.dtype)) if zero is None else zero
        for x, zero in ((a, a_zero), (b, b_zero))
    )
    right = node.emit_part("words", "words", right_words, [b])
    columns = node.emit_part("columns", "columns", column_terms, [b, a_zero])
    rows = node.emit_part("rows", "rows", row_terms, [a, a_zero, b_zero])
    return node.emit("matmul_integer", matmul_of_words, [a, right, columns, rows])


def _number(zero: Value | None) -> int:
    """Return a zero point of one known element."""
    return 0 if zero is None else int(zero.array.reshape(-1)[0])


def _farthest(x: Value, zero: int) -> int:
    """Return the largest magnitude of integers less a zero point."""
    limits = np.iinfo(x.dtype)
    return max(int(limits.max) - zero, zero - int(limits.min))


def conv(
    node: Node,
    data: Value,
    weight: Value,
    data_zero: Value | None,
    weight_zero: Value | None,
    attributes: dict[str, Any],
    bias: Value | None = None,
) -> Value | None:
    """Return int32 sums of a convolution, plus a bias; None if words do not suit the factors."""
    if node.dots is None or data.dtype not in _BYTES or not are_known(data.shape[1:2]):
        return None
    right = _centered(weight, weight_zero, 0)
    if right is None or data.is_empty or not _is_single(data_zero):
        return None
    if bias is not None and bias.array is None:
        return None
    is_deep = weight.shape[1] > 1 and attributes["groups"] < weight.shape[0]
    if is_deep and _suits_pairs(node, right):
        given = [_pairs(node, data, data_zero), node.constant(_words(right, 1, "int16"))]
        given += [] if bias is None else [bias]
        return node.emit("conv_integer", convolution.convolution_words, given, **attributes)
    if not _suits_bytes(right):
        return None
    if data_zero is not None and data_zero.array is None:
        is_padded = any(number_of(each) != 0 for each in attributes["pads"])
        return (
            None
            if is_padded or bias is not None
            else _conv(node, data, right, data_zero, attributes)
        )
    if weight.shape[1] == 1:
        return _exact_conv(node, data, right, data_zero, attributes, bias)
    return _conv(node, data, right, data_zero, attributes, bias)


def _conv(
    node: Node,
    data: Value,
    weight: NDArray[Any],
    zero: Value | None,
    attributes: dict[str, Any],
    bias: Value | None = None,
) -> Value:
    """Return the sums of a convolution by words."""
    data, zero = _unsigned(node, data, zero)
    sums = weight.reshape(len(weight), -1).sum(1)
    terms = _terms(node, sums, zero, 0 if bias is None else bias.array.astype("int64"))
    padding = 0 if zero is None or zero.array is None else _number(zero)
    inputs = [data, node.constant(_words(weight, 1)), *terms]
    return node.emit(
        "conv_integer", convolution.convolution_words, inputs, padding=padding, **attributes
    )


def _exact_conv(
    node: Node,
    data: Value,
    weight: NDArray[Any],
    zero: Value | None,
    attributes: dict[str, Any],
    bias: Value | None,
) -> Value | None:
    """Return the sums of a convolution by float32; None if they may not be exact.

    A word's integers are added, which does not suit convolutions of single channels.
    """
    own = _number(zero)
    largest = np.abs(weight).reshape(len(weight), -1).sum(1).max()
    if largest * _farthest(data, own) > EXACT_IN_FLOAT32:
        return None
    inputs = [data, node.constant(weight.astype("float32")), *([] if bias is None else [bias])]
    return node.emit("conv_integer", convolution.convolution_whole, inputs, zero=own, **attributes)


def requantize(
    node: Node, sums: Value, scales: tuple[Value, Value], scale: Value, zero: Value, axis: int
) -> Value:
    """Return sums as quantized integers; constant scales are combined."""
    given = (*scales, scale)
    if all(each.array is not None and each.dtype == "float32" for each in given):
        first, second, own = (each.array.reshape(-1) for each in given)
        factor = node.constant(first * second / own)
        return node.emit_part(
            "requantized", "requantize", rescaled, [sums, factor, zero], axis=axis
        )
    inputs = [sums, *given, zero]
    return node.emit_part("requantized", "requantize", _requantized, inputs, axis=axis)


def _requantized(sums: Any, first: Any, second: Any, scale: Any, zero: Any, *, axis: int) -> Any:
    return requantized(sums, (first, second), scale, zero, axis)


def _is_single(zero: Value | None) -> bool:
    return zero is None or all(number_of(each) == 1 for each in zero.shape)


def _centered(x: Value, zero: Value | None, axis: int) -> NDArray[Any] | None:
    """Return ``x - zero`` of a constant as int64; None if it is none."""
    if x.array is None or x.is_empty or (zero is not None and zero.array is None):
        return None
    made = x.array.astype("int64")
    if zero is not None:
        own = zero.array.astype("int64")
        if own.size > 1:
            if own.ndim != 1:
                return None
            own = np.expand_dims(own, tuple(i for i in range(x.rank) if i != axis % x.rank))
        made = made - own.reshape(own.shape if own.size > 1 else ())
    return made


def _suits_bytes(right: NDArray[Any]) -> bool:
    """Whether int8 holds all elements."""
    return bool(right.min() >= -128 and right.max() <= 127)


def _suits_pairs(node: Node, right: NDArray[Any]) -> bool:
    """Whether words of two elements are the best ones."""
    return node.dots.of_pairs and not (node.dots.of_bytes and _suits_bytes(right))


def _pairs(node: Node, x: Value, zero: Value | None) -> Value:
    """Return a left side, less its zero point, as int16."""
    inputs = [x] if zero is None else [x, zero]
    return node.emit_part("centered", "centered", centered, inputs, dtype="int16")


def _words(x: NDArray[Any], axis: int, dtype: str = "int8") -> NDArray[Any]:
    """Return words of consecutive elements of a type along an axis, as int32."""
    size = size_of(dtype)
    count = word_count(x.shape[axis], size)
    padding = [(0, size * count - n if i == axis else 0) for i, n in enumerate(x.shape)]
    parts = np.moveaxis(np.pad(x, padding).astype(dtype), axis, -1)
    return np.ascontiguousarray(np.moveaxis(np.ascontiguousarray(parts).view("<i4"), -1, axis))


def _unsigned(node: Node, x: Value, zero: Value | None) -> tuple[Value, Value | None]:
    """Return a left side and its zero point as uint8."""
    if x.dtype == "uint8":
        return x, zero
    if zero is None:
        zero = node.constant(np.array(0, "int8"))
    if zero.array is None:
        own = node.emit_part("zero", "unsigned", as_unsigned, [zero])
    else:
        own = node.constant(zero.array.view("uint8") ^ np.uint8(128))
    return node.emit_part("unsigned", "unsigned", as_unsigned, [x]), own


def _terms(node: Node, sums: NDArray[Any], zero: Value | None, added: Any = 0) -> list[Value]:
    """Return what makes up for the zero point on the left: terms, and the zero point if it is open.

    `sums` are those of the right integers that a result multiplies, and `added` a bias.
    """
    if zero is not None and zero.array is None:
        return [node.constant(sums.astype("int32")), zero]
    terms = added - sums * _number(zero)
    return [node.constant(terms.astype("int32"))] if np.any(terms) else []


__all__ = ["EXACT_IN_FLOAT32", "conv", "matmul", "requantize"]
