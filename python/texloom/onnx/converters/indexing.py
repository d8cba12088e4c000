"""Operators that read or write elements by index: gathers, scatters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...extents import Extent, agree, are_known, at_least
from ...ops import indexing, movement
from ...ops.indexing.combining import Combination
from ..nodes import Node, Value, empty
from .axes import normal_axis
from .registry import converts


@converts("Gather")
def gather(node: Node) -> Value:
    """Gather slices along an axis by index."""
    x, indices = node.input(0), node.input(1)
    axis = normal_axis(node, int(node.attributes.get("axis", 0)), x.rank)
    shape = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])
    if 0 in shape:
        return empty(shape, x.dtype)
    _check_extents(node, x, [axis])
    _check_inside(node, indices, [x.shape[axis]])
    if isinstance(x.shape[axis], int) and (series := _series(indices, int(x.shape[axis]))):
        start, step = series
        if _are_all(indices, x.shape[axis], start, step):
            return node.emit("reshape", movement.reshape, [x], shape=shape)
        options = {"start": start, "step": step, "shape": indices.shape}
        return node.emit("gather", indexing.gather_series, [x], axis=axis, **options)
    return node.emit("gather", indexing.gather, [x, indices], axis=axis)


def _series(indices: Value, extent: int) -> tuple[int, int] | None:
    """Return the first of constant indices, and their equal distance; None for other indices."""
    if indices.array is None:
        return None
    places = indices.array.reshape(-1).astype("int64") % extent
    steps = np.unique(np.diff(places))
    return None if steps.size > 1 else (int(places[0]), int(steps[0]) if steps.size else 0)


def _are_all(indices: Value, extent: int, start: int, step: int) -> bool:
    """Whether a series names each element of an axis once, in order."""
    is_whole = indices.array is not None and indices.array.size == extent and start == 0
    return is_whole and (step == 1 or extent == 1)


def _check_extents(node: Node, x: Value, axes: Sequence[int]) -> None:
    """Refuse to read from axes without elements."""
    if any(x.shape[axis] == 0 for axis in axes):
        node.refuse(f"it reads elements of a tensor of shape {x.shape}, which has none")


def _check_inside(node: Node, indices: Value, extents: Sequence[Any]) -> None:
    """Refuse constant indices outside of known extents; indices are tuples, one for each extent."""
    if indices.array is None or not extents:
        return
    for extent, named in zip(extents, indices.array.reshape(-1, len(extents)).T, strict=True):
        if not isinstance(extent, int):
            continue
        outside = named[(named < -extent) | (named >= extent)]
        if outside.size:
            node.refuse(f"its index {outside.flat[0]} is outside of an axis of {extent} elements")


@converts("GatherElements")
def gather_elements(node: Node) -> Value:
    """Gather elements by their index along one axis."""
    x, indices = node.input(0), node.input(1)
    axis = normal_axis(node, int(node.attributes.get("axis", 0)), x.rank)
    if 0 in indices.shape:
        return empty(indices.shape, x.dtype)
    _check_extents(node, x, [axis])
    _check_smaller(node, x, indices, axis)
    _check_inside(node, indices, [x.shape[axis]])
    return node.emit("gather_elements", indexing.gather_elements, [x, indices], axis=axis)


def _check_smaller(node: Node, x: Value, indices: Value, axis: int) -> None:
    """Refuse indices whose shape exceeds the tensor's along axes other than `axis`."""
    if indices.rank != x.rank or not all(
        at_least(m, n)
        for a, (n, m) in enumerate(zip(indices.shape, x.shape, strict=True))
        if a != axis
    ):
        node.refuse(
            f"indices of shape {indices.shape} do not fit a tensor of shape {x.shape}: only along "
            f"axis {axis} may they be longer"
        )


@converts("GatherND")
def gather_nd(node: Node) -> Value:
    """Gather slices by tuples of indices."""
    x, indices = node.input(0), node.input(1)
    batch = int(node.attributes.get("batch_dims", 0))
    named = _named_axes(node, indices)
    if batch + named > x.rank or not _agree(indices.shape[:batch], x.shape[:batch]):
        node.refuse(
            f"indices of shape {indices.shape} do not fit a tensor of shape {x.shape} with "
            f"batch_dims={batch}: the first {batch} extents must be equal, and the last extent of "
            f"the indices must be at most {x.rank - batch}"
        )
    shape = (*indices.shape[:-1], *x.shape[batch + named :])
    if 0 in shape:
        return empty(shape, x.dtype)
    _check_extents(node, x, range(batch, batch + named))
    _check_inside(node, indices, x.shape[batch : batch + named])
    return node.emit("gather_nd", indexing.gather_nd, [x, indices], batch_axes=batch)


def _named_axes(node: Node, indices: Value) -> int:
    """Return how many axes each tuple of indices selects."""
    if indices.rank == 0 or not isinstance(indices.shape[-1], int):
        node.refuse(
            f"its indices have the shape {indices.shape}, whose last extent, the number of axes "
            "that a tuple selects, is not known"
        )
    return indices.shape[-1]


def _agree(shape: Sequence[Extent], other: Sequence[Extent]) -> bool:
    """Whether two shapes can be equal; what depends on the run is checked there."""
    return len(shape) == len(other) and all(map(agree, shape, other))


def _reduction(node: Node) -> Combination | None:
    """Return the operation that combines updates with elements; None if updates replace them."""
    reduction = node.attributes.get("reduction", "none")
    if reduction not in ("none", "add", "mul", "max", "min"):
        node.refuse(f"its reduction is {reduction!r}, not none, add, mul, max or min")
    return None if reduction == "none" else reduction


@converts("Scatter", "ScatterElements")
def scatter_elements(node: Node) -> Value:
    """Update elements by their index along one axis."""
    x, indices, updates = node.input(0), node.input(1), node.input(2)
    axis = normal_axis(node, int(node.attributes.get("axis", 0)), x.rank)
    combination = _reduction(node)
    if 0 in indices.shape or 0 in x.shape:
        return x
    _check_smaller(node, x, indices, axis)
    if not _agree(updates.shape, indices.shape):
        node.refuse(
            f"its updates have the shape {updates.shape}, not that of its indices, {indices.shape}"
        )
    if combination is not None:
        function = indexing.combine_elements
        given = [x, indices, updates]
        return node.emit("scatter_elements", function, given, axis=axis, combination=combination)
    if indices.array is not None and are_known(x.shape):
        last = node.constant(_last_update(indices.array, axis, x.shape))
        return node.emit("replace", indexing.replace_elements, [x, updates, last], axis=axis)
    given = [x, indices, updates]
    return node.emit("scatter_elements", indexing.scatter_elements, given, axis=axis)


def _last_update(indices: np.ndarray, axis: int, shape: Sequence[int]) -> np.ndarray:
    """Compute :func:`texloom.ops.indexing.last_update` for constant indices."""
    last = np.full(shape, -1, "int32")
    index = list(np.indices(indices.shape))
    order = index[axis].copy()
    index[axis] = np.where(indices < 0, indices + shape[axis], indices)
    is_inside = (index[axis] >= 0) & (index[axis] < shape[axis])
    np.maximum.at(last, tuple(each[is_inside] for each in index), order[is_inside].astype("int32"))
    return last


@converts("ScatterND")
def scatter_nd(node: Node) -> Value:
    """Update slices by tuples of indices."""
    x, indices, updates = node.input(0), node.input(1), node.input(2)
    named = _named_axes(node, indices)
    combination = _reduction(node)
    if named > x.rank:
        node.refuse(f"its indices select {named} axes of a tensor of shape {x.shape}")
    needed = (*indices.shape[:-1], *x.shape[named:])
    if not _agree(updates.shape, needed):
        node.refuse(
            f"its updates have the shape {updates.shape}, but indices of shape {indices.shape} "
            f"into a tensor of shape {x.shape} need {needed}"
        )
    if 0 in updates.shape or 0 in x.shape:
        return x
    if named == 0:
        node.refuse("the last axis of its indices is empty, so they select no axis")
    given = [x, indices, updates]
    if combination is not None:
        return node.emit("scatter_nd", indexing.combine_nd, given, combination=combination)
    if indices.array is not None and are_known(x.shape[:named]):
        last = node.constant(_last_update_nd(indices.array, x.shape))
        return node.emit("replace", indexing.replace_parts, [x, updates, last], named=named)
    return node.emit("scatter_nd", indexing.scatter_nd, given)


def _last_update_nd(indices: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    """Compute :func:`texloom.ops.indexing.last_update_nd` for constant indices."""
    named = np.array(shape[: indices.shape[-1]])
    tuples = indices.reshape(-1, len(named))
    tuples = np.where(tuples < 0, tuples + named, tuples)
    is_inside = ((tuples >= 0) & (tuples < named)).all(1)
    last = np.full(named, -1, "int32")
    order = np.arange(len(tuples), dtype="int32")
    np.maximum.at(last, tuple(tuples[is_inside].T), order[is_inside])
    return last


@converts("OneHot")
def one_hot(node: Node) -> Value:
    """Make one-hot vectors."""
    indices, values = node.input(0), node.input(2)
    depth = node.ints(1)[0]
    axis = normal_axis(node, int(node.attributes.get("axis", -1)), indices.rank + 1)
    shape = (*indices.shape[:axis], depth, *indices.shape[axis:])
    if isinstance(depth, int) and depth < 0:
        node.refuse(f"its depth is {depth}, which is negative")
    if 0 in shape:
        return empty(shape, values.dtype)
    return node.emit("one_hot", indexing.one_hot, [indices, values], depth=depth, axis=axis)


@converts("ReverseSequence")
def reverse_sequence(node: Node) -> Value:
    """Reverse the first n elements of each sequence; the second input gives n for each."""
    x, lengths = node.input(0), node.input(1)
    batch, time = (
        normal_axis(node, int(node.attributes.get(name, default)), x.rank)
        for name, default in (("batch_axis", 1), ("time_axis", 0))
    )
    axes = {"batch_axis": batch, "time_axis": time}
    return node.emit("reverse_sequence", indexing.reverse_sequence, [x, lengths], **axes)


@converts("TensorScatter")
def tensor_scatter(node: Node) -> Value:
    """Replace consecutive elements along an axis, as caches of keys and values are updated."""
    cache, update = node.input(0), node.input(1)
    mode = node.attributes.get("mode", "linear")
    if mode not in ("linear", "circular"):
        node.refuse(f"its mode is {mode!r}, neither linear nor circular")
    axis = normal_axis(node, int(node.attributes.get("axis", -2)), cache.rank)
    if axis == 0:
        node.refuse("its axis is 0, the axis of the batch, but positions are along another axis")
    if update.rank != cache.rank or not all(
        (at_least if a == axis else agree)(*pair)
        for a, pair in enumerate(zip(cache.shape, update.shape, strict=True))
    ):
        node.refuse(
            f"an update of shape {update.shape} does not fit a cache of {cache.shape}: it may be "
            f"shorter along axis {axis}, and must agree along all others"
        )
    begins = [node.input(2)] if node.has(2) else []
    for each in begins:
        _check_begins(node, each, cache, update.shape[axis], axis)
    if update.is_empty:
        return cache
    given = [cache, update, *begins]
    is_circular = mode == "circular"
    return node.emit("write_range", indexing.write_range, given, axis=axis, is_circular=is_circular)


def _check_begins(node: Node, begins: Value, cache: Value, length: Any, axis: int) -> None:
    """Require one position for each example; refuse constant positions outside of the cache."""
    if begins.rank != 1 or not agree(begins.shape[0], cache.shape[0]):
        node.refuse(
            f"its write_indices have the shape {begins.shape}, not one number for each of "
            f"{cache.shape[0]} examples"
        )
    if begins.array is None or node.attributes.get("mode") == "circular":
        return
    extent = cache.shape[axis]
    if not are_known([extent, length]):
        return
    for first in begins.array:
        if first < 0 or first + length > extent:
            node.refuse(f"it writes {length} elements from {first} on into an axis of {extent}")
