"""Shapes, and tensors that depend only on shapes, attributes and numbers: all are constants."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...extents import Extent, are_known, plain, product
from ...ops.movement import counted, filled
from ..nodes import Node, Value, of_sizes
from ..nodes.types import DTYPES, dtype_name
from .axes import check_extent
from .registry import converts

_CONSTANT_TYPES = {
    "value_float": "float32",
    "value_floats": "float32",
    "value_int": "int64",
    "value_ints": "int64",
    "value_string": "object",
    "value_strings": "object",
}


@converts("Constant")
def constant_of_attribute(node: Node) -> Value:
    """Return the tensor that an attribute holds."""
    given = [name for name in node.attributes if name in ("value", *_CONSTANT_TYPES)]
    if len(given) != 1:
        node.refuse(f"it has {' and '.join(given) or 'no supported attribute'}, not one value")
    (name,) = given
    return node.constant(node.attributes[name], _CONSTANT_TYPES.get(name))


@converts("Shape")
def shape(node: Node) -> Value:
    """Return the extents, or a part of them."""
    x = node.input(0)
    part = slice(node.attributes.get("start", 0), node.attributes.get("end"))
    return sizes_of(node, list(x.shape)[part])


@converts("Size")
def size(node: Node) -> Value:
    """The number of elements."""
    whole = product(node.input(0).shape)
    if isinstance(whole, int):
        return node.constant(whole, "int64")
    return of_sizes(np.array(whole, object))


def sizes_of(node: Node, extents: Sequence[Extent]) -> Value:
    """Return a list of extents, some of which may be open."""
    if are_known(extents):
        return node.constant(list(extents), "int64")
    sizes = np.empty(len(extents), object)
    sizes[:] = extents
    return of_sizes(sizes)


@converts("EyeLike")
def eye_like(node: Node) -> Value:
    """Make a matrix with ones on a diagonal."""
    x = node.input(0)
    if x.rank != 2:
        node.refuse(f"the shape {x.shape} is not that of a matrix")
    dtype = dtype_name(node.attributes["dtype"]) if "dtype" in node.attributes else x.dtype
    if dtype not in DTYPES:
        node.refuse(f"it makes elements of type {dtype}, which is not supported")
    check_extent(node, x.shape)
    return node.constant(np.eye(*x.shape, k=node.attributes.get("k", 0)), dtype)


@converts("ConstantOfShape")
def constant_of_shape(node: Node) -> Value:
    """Make a tensor that is filled with one value."""
    value = np.asarray(node.attributes.get("value", np.zeros(1, np.float32)))
    shape = node.ints(0)
    if not are_known(shape):
        number = value.reshape(-1)[0].item()
        given = {"shape": tuple(shape), "value": number, "dtype": value.dtype.name}
        return node.emit("constant_of_shape", filled, [], **given)
    check_extent(node, shape)
    return node.constant(np.full(shape, value.reshape(-1)[0], value.dtype))


@converts("Range")
def range_(node: Node) -> Value:
    """Make a range of numbers from a start to a limit, in steps."""
    if any(node.input(index).sizes is not None for index in range(3)):
        return _open_range(node)
    start, limit, step = (node.known(index).reshape(-1)[0] for index in range(3))
    if step == 0:
        node.refuse("its delta is 0, so it never reaches its limit")
    number = max(int(np.ceil((limit - start) / step)), 0)
    check_extent(node, [number])
    return node.constant(start + np.arange(number) * step, start.dtype.name)


def _open_range(node: Node) -> Value:
    """Make a range whose start or limit is open."""
    start, limit, step = (node.ints(index)[0] for index in range(3))
    if step != 1:
        node.refuse(f"its start or limit is open, but its delta is {step}, not 1")
    given = {"start": start, "number": plain(limit - start), "dtype": node.input(0).dtype}
    return node.emit("range", counted, [], **given)


__all__ = [
    "constant_of_attribute",
    "constant_of_shape",
    "eye_like",
    "range_",
    "shape",
    "size",
    "sizes_of",
]
