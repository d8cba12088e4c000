"""Operators whose number of results depends on data: see `texloom.ops.counted`."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from ... import te
from ...extents import LARGEST, Extent, agree, at_least, plain, product
from ...ops import counted as ops
from ...ops import indexing, movement
from ..nodes import Node, Value, empty
from .axes import normal_axis
from .registry import converts

_NO_THRESHOLD = 0.0  # by default, boxes that overlap at all are dropped


@converts("NonZero")
def nonzero(node: Node) -> Value:
    """Find the indices of the elements that are not 0."""
    x = node.input(0)
    if x.rank == 0:
        node.refuse("its input is a scalar, whose elements have no indices")
    if 0 in x.shape:
        return empty((x.rank, 0), "int64")
    indices, count = node.emit_all("nonzero", ops.nonzero, [x])
    return indices.counted_by(count, axis=1)


@converts("Compress")
def compress(node: Node) -> Value:
    """Keep the slices along an axis at which a condition holds."""
    x, condition = node.input(0), node.input(1)
    if "axis" in node.attributes:
        axis = normal_axis(node, int(node.attributes["axis"]), x.rank)
    else:
        flat = (product(x.shape),)
        x = x if x.rank == 1 else node.emit("reshape", movement.reshape, [x], shape=flat)
        axis = 0
    if condition.array is not None:
        return _compressed_by_known(node, x, np.flatnonzero(condition.array), axis)
    if condition.rank != 1 or not at_least(x.shape[axis], condition.shape[0]):
        node.refuse(
            f"its condition has the shape {condition.shape}; one axis of at most {x.shape[axis]} "
            "elements is required"
        )
    if 0 in (x.shape[axis], *condition.shape):
        return empty((*x.shape[:axis], 0, *x.shape[axis + 1 :]), x.dtype)
    if 0 in x.shape:  # no kernel counts the slices, which have no elements
        return _compressed_by_known(node, x, np.flatnonzero(node.known(1)), axis)
    chosen, count = node.emit_all("compress", ops.compress, [x, condition], axis=axis)
    return chosen.counted_by(count, axis)


def _compressed_by_known(node: Node, x: Value, kept: np.ndarray, axis: int) -> Value:
    if kept.size and not at_least(x.shape[axis], int(kept[-1]) + 1):
        node.refuse(
            f"its condition selects the index {kept[-1]} of an axis of {x.shape[axis]} elements"
        )
    shape = (*x.shape[:axis], kept.size, *x.shape[axis + 1 :])
    if 0 in shape:
        return empty(shape, x.dtype)
    return node.emit("compress", indexing.gather, [x, node.constant(kept, "int64")], axis=axis)


@converts("Unique")
def unique(node: Node) -> Sequence[Value]:
    """Find the distinct elements, or the distinct slices along an axis, and their positions."""
    x = node.input(0)
    axis = node.attributes.get("axis")
    axis = None if axis is None else normal_axis(node, int(axis), x.rank)
    if 0 in x.shape:
        node.refuse(f"its input of shape {x.shape} has no elements to compare")
    in_order = bool(node.attributes.get("sorted", 1))
    different, first, inverse, numbers, count = node.emit_all(
        "unique", ops.unique, [x], axis=axis, in_order=in_order
    )
    return [
        different.counted_by(count, axis or 0),
        first.counted_by(count, 0),
        inverse,
        numbers.counted_by(count, 0),
    ]


@converts("NonMaxSuppression")
def non_max_suppression(node: Node) -> Value:
    """Select boxes of each class; drop those that overlap a box with a better score."""
    boxes, scores = node.input(0), node.input(1)
    images, classes, number = scores.shape if scores.rank == 3 else (0, 0, -1)
    if boxes.rank != 3 or not all(map(agree, boxes.shape, (images, number, 4))):
        node.refuse(
            f"boxes of shape {boxes.shape} do not fit scores of shape {scores.shape}: the shapes "
            "must be (images, boxes, 4) and (images, classes, boxes)"
        )
    limits = node.ints(2) if node.has(2) else [0]
    if len(limits) != 1:
        node.refuse(f"its max_output_boxes_per_class has {len(limits)} elements, not one")
    most = _least_of(limits[0], number)
    if 0 in (images, classes, number, most):
        return empty((0, 3), "int64")
    overlap = node.input(3) if node.has(3) else node.constant([_NO_THRESHOLD], "float32")
    inputs = [boxes, scores, overlap, *([node.input(4)] if node.has(4) else [])]
    inputs[3:] = [_of_one_element(node, each) for each in inputs[3:]]
    inputs[2] = _of_one_element(node, overlap)
    centered = bool(node.attributes.get("center_point_box", 0))
    function = ops.non_max_suppression
    chosen, count = node.emit_all("nms", function, inputs, most=most, centered=centered)
    return chosen.counted_by(count, axis=0)


def _least_of(asked: Extent, number: Extent) -> Extent:
    """Return how many boxes are chosen at most, of the number that is asked for."""
    if isinstance(asked, int) and asked <= 0:
        return 0
    if isinstance(asked, int) and asked >= LARGEST:
        return number
    return plain(te.min(asked, number))


def _of_one_element(node: Node, value: Value) -> Value:
    """Return a scalar as a tensor of shape [1]."""
    if prod(value.shape) != 1:
        node.refuse(f"a threshold has the shape {value.shape}, not one element")
    return value if value.rank == 1 else node.convert("Reshape", [value, node.constant([1])])


__all__ = ["compress", "non_max_suppression", "nonzero", "unique"]
