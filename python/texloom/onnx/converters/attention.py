"""Attention, recognized where a matrix product reads a softmax of another matrix product.

Exporters write attention as the nodes MatMul, Mul or Div by a number, Add of a mask, Softmax and
MatMul. The last MatMul becomes one kernel. Nodes that are then unused are removed later.
"""

from __future__ import annotations

import numpy as np

from ...ops import attention as ops
from ...ops import elementwise, normalization, products
from ..nodes import Node, Origin, Value

_FLOATS = ("float16", "float32", "float64")


def attention_of(node: Node, weights: Value, value: Value) -> Value | None:
    """Return attention as one kernel if the weights are a softmax of scores; else None."""
    softmax = _origin(node, weights)
    if softmax is None or softmax.function is not normalization.softmax:
        return None
    scores = softmax.inputs[0]
    if [a % scores.rank for a in softmax.attributes["axes"]] != [scores.rank - 1]:
        return None
    masked = _origin(node, scores)
    mask = None
    if masked is not None and masked.function is elementwise.add:
        scores, mask = _split(node, masked.inputs)
    scale, scores = _scaled(node, scores)
    product = _origin(node, scores)
    if product is None or product.function is not products.matmul:
        return None
    query, key = product.inputs
    tensors = [query, key, value, *([mask] if mask is not None else [])]
    is_product = min(query.rank, key.rank, value.rank) >= 2 and scores.shape == weights.shape
    dtypes = {query.dtype, key.dtype, value.dtype}
    if any(not isinstance(extent, int) for each in tensors for extent in each.shape):
        return None
    if not is_product or len(dtypes) > 1 or query.dtype not in _FLOATS:
        return None
    return node.emit("attention", ops.attention, tensors, scale=scale)


def _origin(node: Node, value: Value) -> Origin | None:
    """Return the origin of a value, looking through conversions between floating-point types."""
    origin = node.origin(value)
    while origin is not None and origin.function is elementwise.cast:
        value = origin.inputs[0]
        origin = node.origin(value) if value.dtype in _FLOATS else None
    return origin


def _split(node: Node, terms: list[Value]) -> tuple[Value, Value]:
    """Return the terms of a sum: first the matrix product, perhaps scaled, then the other term."""
    first, second = terms
    _, scores = _scaled(node, first)
    origin = _origin(node, scores)
    if origin is not None and origin.function is products.matmul:
        return first, second
    return second, first


def _scaled(node: Node, value: Value) -> tuple[float, Value]:
    """Return the constant factor of a scaled tensor (or 1), and the tensor without it."""
    origin = _origin(node, value)
    if origin is None or origin.function not in (elementwise.multiply, elementwise.divide):
        return 1.0, value
    scaled, factor = origin.inputs
    if factor.array is None and origin.function is elementwise.multiply:
        scaled, factor = factor, scaled
    if factor.array is None or factor.array.size != 1 or scaled.shape != value.shape:
        return 1.0, value
    number = float(np.asarray(factor.array, "float64").reshape(()))
    if origin.function is elementwise.multiply:
        return number, scaled
    return (1 / number, scaled) if number else (1.0, value)


__all__ = ["attention_of"]
