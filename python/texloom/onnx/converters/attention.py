"""Attention, found where a product of matrices reads a softmax of another one.

Exporters write attention as the nodes MatMul, Mul or Div by a number, Add of a mask, Softmax and
MatMul. The last of them is converted as one kernel, and what it does not read is left out later.
"""

from __future__ import annotations

import numpy as np

from ...ops import attention as ops
from ...ops import elementwise, normalization, products
from ..nodes import Node, Origin, Value

_FLOATS = ("float16", "float32", "float64")


def attention_of(node: Node, weights: Value, value: Value) -> Value | None:
    """Return the product of weights and values as one kernel, if the weights are a softmax."""
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
    """Return what computed a value, but for conversions among types of numbers."""
    origin = node.origin(value)
    while origin is not None and origin.function is elementwise.cast:
        value = origin.inputs[0]
        origin = node.origin(value) if value.dtype in _FLOATS else None
    return origin


def _split(node: Node, terms: list[Value]) -> tuple[Value, Value]:
    """Return which term of a sum is a product of matrices, perhaps scaled, and the other one."""
    first, second = terms
    _, scores = _scaled(node, first)
    origin = _origin(node, scores)
    if origin is not None and origin.function is products.matmul:
        return first, second
    return second, first


def _scaled(node: Node, value: Value) -> tuple[float, Value]:
    """Return by which number a tensor is multiplied, and the tensor."""
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
