"""Shapes, and tensors that only shapes and plain numbers determine: all are constants."""

from __future__ import annotations

from math import prod

import numpy as np

from ..nodes import Node, Value
from ..nodes.types import DTYPES, dtype_name
from .axes import check_extent
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
    check_extent(node, x.shape)
    return node.constant(np.eye(*x.shape, k=node.attributes.get("k", 0)), dtype)


@converts("ConstantOfShape")
def constant_of_shape(node: Node) -> Value:
    """One value everywhere."""
    value = np.asarray(node.attributes.get("value", np.zeros(1, np.float32)))
    shape = node.ints(0)
    check_extent(node, shape)
    return node.constant(np.full(shape, value.reshape(-1)[0], value.dtype))


@converts("Range")
def range_(node: Node) -> Value:
    """Numbers from a start on, in steps, before a limit."""
    start, limit, step = (node.known(index).reshape(-1)[0] for index in range(3))
    if step == 0:
        node.refuse("its delta is 0")
    number = max(int(np.ceil((limit - start) / step)), 0)
    check_extent(node, [number])
    return node.constant(start + np.arange(number) * step, start.dtype.name)


@converts("NonZero", "Unique", "NonMaxSuppression")
def shape_of_data(node: Node) -> Value:
    """Computed on import if all inputs are known; otherwise nothing knows the outputs' shapes."""
    node.refuse("the shape of its output depends on computed elements")


__all__ = ["constant_of_shape", "eye_like", "range_", "shape", "shape_of_data", "size"]
