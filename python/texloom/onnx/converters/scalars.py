"""Values of one element."""

from __future__ import annotations

import numpy as np

from ...extents import Extent, number_of, product
from ...ops import movement
from ..nodes import Node, Value, constant, of_sizes


def as_scalar(node: Node, value: Value) -> Value:
    """Return a value of one element without axes; refuse others."""
    if number_of(product(value.shape)) != 1:
        node.refuse(f"a value of one element has the shape {value.shape}")
    if value.array is not None:
        return constant(value.array.reshape(()))
    if value.rank == 0:
        return value
    return node.emit_part("scalar", "reshape", movement.reshape, [value], shape=())


def as_value(size: Extent) -> Value:
    """Return an extent as an int64 scalar."""
    if isinstance(size, int):
        return constant(np.array(size, "int64"))
    return of_sizes(np.array(size, object))


def extent_of(value: Value, axis: int) -> Value:
    """Return an extent of a tensor as an int64 scalar."""
    return as_value(value.shape[axis])


__all__ = ["as_scalar", "as_value", "extent_of"]
