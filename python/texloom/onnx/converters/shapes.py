"""Shapes, and tensors that only shapes and plain numbers determine: all are constants."""

from __future__ import annotations

from math import prod

import numpy as np

from ..nodes import Node, Value
from ..nodes.types import DTYPES, dtype_name
from .registry import converts


@converts("Shape")
def shape(node: Node) -> Value:
    """The extents, or a part of them."""
    x = node.input(0)
    part = slice(node.attributes.get("start", 0), node.attributes.get("end"))
    return node.constant(list(x.shape)[part], "int64")


@converts("Size")
def size(node: Node) -> Value:
    """The number of elements."""
    return node.constant(prod(node.input(0).shape), "int64")


@converts("EyeLike")
def eye_like(node: Node) -> Value:
    """Ones on a diagonal."""
    x = node.input(0)
    if x.rank != 2:
        node.refuse(f"the shape {x.shape} is not that of a matrix")
    dtype = dtype_name(node.attributes["dtype"]) if "dtype" in node.attributes else x.dtype
    if dtype not in DTYPES:
        node.refuse(f"it makes elements of type {dtype}")
    return node.constant(np.eye(*x.shape, k=node.attributes.get("k", 0)), dtype)


@converts("ConstantOfShape", "Range", "NonZero", "Unique", "NonMaxSuppression")
def needs_values(node: Node) -> Value:
    """Computed on import, as all nodes with known inputs, for their outputs' shape is data."""
    if node.op in ("ConstantOfShape", "Range"):
        for index in range(len(node.inputs)):
            node.known(index)
        node.refuse("ONNX's reference implementation does not compute it")
    node.refuse("the shape of its output depends on computed elements")


__all__ = ["eye_like", "needs_values", "shape", "size"]
