"""Operators that move elements: reshape, transpose, concatenate, split, pad, tile."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ... import te
from ...extents import (
    LARGEST,
    Extent,
    agree,
    are_known,
    at_least,
    is_at_most,
    number_of,
    plain,
    product,
    quotient,
)
from ...ops import movement
from ...ops.broadcast import broadcast_shape
from ..nodes import Node, Value, empty
from .axes import check_extent, normal_axes, normal_axis
from .registry import converts


def _reshaped(node: Node, x: Value, shape: Sequence[int]) -> Value:
    """Emit a reshape; return the tensor itself if it has the shape already."""
    if x.shape == tuple(shape):
        return x
    if x.array is not None:
        return node.constant(x.array.reshape(shape))
    return node.emit(node.op.lower(), movement.reshape, [x], shape=tuple(shape))


@converts("Reshape")
def reshape(node: Node) -> Value:
    """Reshape: 0 copies the extent of the input, -1 stands for the extent that remains."""
    x, asked = node.input(0), node.ints(1)
    shape = list(asked)
    if not node.attributes.get("allowzero", 0):
        if any(extent == 0 and axis >= x.rank for axis, extent in enumerate(asked)):
            node.refuse(
                f"the shape {asked} has a 0 at an axis that its input of shape {x.shape} lacks"
            )
        shape = [x.shape[axis] if extent == 0 else extent for axis, extent in enumerate(asked)]
    if shape.count(-1) == 1:
        rest = quotient(x.shape, [extent for extent in shape if number_of(extent) != -1])
        if rest is None:
            node.refuse(f"a tensor of shape {x.shape} cannot be reshaped to {asked}")
        shape[shape.index(-1)] = rest
    is_negative = any(isinstance(extent, int) and extent < 0 for extent in shape)
    if is_negative or not agree(product(shape), product(x.shape)):
        node.refuse(f"a tensor of shape {x.shape} cannot be reshaped to {asked}")
    return _reshaped(node, x, shape)


@converts("Flatten")
def flatten(node: Node) -> Value:
    """Flatten to a matrix whose rows combine the axes before the given one."""
    x = node.input(0)
    axis = int(node.attributes.get("axis", 1))
    if not -x.rank <= axis <= x.rank:
        node.refuse(f"its axis {axis} is not one of {x.rank} axes")
    axis += x.rank if axis < 0 else 0
    return _reshaped(node, x, (product(x.shape[:axis]), product(x.shape[axis:])))


@converts("Squeeze")
def squeeze(node: Node) -> Value:
    """Remove axes of extent 1."""
    x = node.input(0)
    axes = node.ints_or("axes", 1)
    if axes is None:
        axes = [axis for axis, extent in enumerate(x.shape) if number_of(extent) == 1]
        if not all(at_least(e, 2) for axis, e in enumerate(x.shape) if axis not in axes):
            node.refuse(
                "it removes all axes of extent 1, and an open extent may be 1: name the axes"
            )
    axes = normal_axes(node, axes, x.rank)
    if not all(agree(x.shape[axis], 1) for axis in axes):
        node.refuse(f"the axes {axes} of the shape {x.shape} are not all of extent 1")
    return _reshaped(node, x, [e for axis, e in enumerate(x.shape) if axis not in axes])


@converts("Unsqueeze")
def unsqueeze(node: Node) -> Value:
    """Insert axes of extent 1."""
    x = node.input(0)
    asked = node.ints_or("axes", 1, [])
    axes = normal_axes(node, asked, x.rank + len(asked))
    rest = iter(x.shape)
    shape = [1 if axis in axes else next(rest) for axis in range(x.rank + len(axes))]
    return _reshaped(node, x, shape)


@converts("Transpose")
def transpose(node: Node) -> Value:
    """Permute the axes."""
    x = node.input(0)
    axes = node.attributes.get("perm", list(range(x.rank))[::-1])
    if sorted(axes) != list(range(x.rank)):
        node.refuse(f"perm {axes} is not a permutation of {x.rank} axes")
    if list(axes) == list(range(x.rank)):
        return x
    if x.array is not None:
        return node.constant(x.array.transpose(axes))
    return node.emit("transpose", movement.transpose, [x], axes=tuple(axes))


def _blocksize(node: Node) -> int:
    block = int(node.attributes["blocksize"])
    if block < 1:
        node.refuse(f"its blocksize is {block}, not a positive number")
    return block


@converts("DepthToSpace")
def depth_to_space(node: Node) -> Value:
    """Move channels into blocks of pixels."""
    x, block = node.input(0), _blocksize(node)
    if x.rank != 4 or x.shape[1] % (block * block):
        node.refuse(
            f"the channels of the shape {x.shape} do not divide into blocks of {block} x {block}"
        )
    mode = _channels_last(node)
    return node.emit(
        "depth_to_space", movement.depth_to_space, [x], block=block, channels_last=mode
    )


def _channels_last(node: Node) -> bool:
    """Whether the mode is "DCR": the output channel is the fastest part of a channel's index."""
    mode = node.attributes.get("mode", "DCR")
    if mode not in ("DCR", "CRD"):
        node.refuse(f"its mode is {mode!r}, neither DCR nor CRD")
    return bool(mode == "DCR")


@converts("SpaceToDepth")
def space_to_depth(node: Node) -> Value:
    """Move blocks of pixels into channels."""
    x, block = node.input(0), _blocksize(node)
    if x.rank != 4 or x.shape[2] % block or x.shape[3] % block:
        node.refuse(f"the shape {x.shape} does not divide into blocks of {block} x {block}")
    mode = _channels_last(node)
    return node.emit(
        "space_to_depth", movement.space_to_depth, [x], block=block, channels_last=mode
    )


@converts("Concat")
def concat(node: Node) -> Value:
    """Concatenate tensors along an axis; tensors without elements are left out."""
    parts = [node.input(i) for i in range(len(node.inputs))]
    axis = normal_axis(node, int(node.attributes["axis"]), parts[0].rank)
    return concatenated(node, parts, axis)


def concatenated(node: Node, parts: Sequence[Value], axis: int) -> Value:
    """Emit the concatenation of one or several tensors."""
    alike = len({(each.dtype, each.rank) for each in parts}) == 1
    if not alike or not all(
        agree(extent, parts[0].shape[i])
        for each in parts
        for i, extent in enumerate(each.shape)
        if i != axis
    ):
        node.refuse(
            f"shapes {', '.join(str(p.shape) for p in parts)} cannot be joined along axis {axis}"
        )
    full = [each for each in parts if 0 not in each.shape]
    if len(full) <= 1:
        return full[0] if full else empty_like(parts, axis)
    if all(each.is_constant for each in full):
        return node.constant(np.concatenate([each.array for each in full], axis))
    return node.emit("concat", movement.concatenate, full, axis=axis)


def empty_like(parts: Sequence[Value], axis: int) -> Value:
    """Return the concatenation of tensors without elements."""
    shape = list(parts[0].shape)
    shape[axis] = sum(each.shape[axis] for each in parts)
    return empty(shape, parts[0].dtype)


def split_sizes(
    node: Node, extent: Extent, parts: int, sizes: Sequence[Extent] | None
) -> list[Extent]:
    """Return the extents of the parts of an axis: the given sizes, or equal parts.

    An open axis is divided into parts of at least one element.
    """
    if sizes is None and isinstance(extent, int):
        size = -(-extent // parts)
        return [max(min(size, extent - i * size), 0) for i in range(parts)]
    if sizes is None and node.version < 18:  # all parts are equal
        sizes = [plain(extent // parts)] * parts
    elif sizes is None:
        each = plain((extent + (parts - 1)) // parts)
        sizes = [*[each] * (parts - 1), plain(extent - each * (parts - 1))]
    is_negative = any(isinstance(each, int) and each < 0 for each in sizes)
    if is_negative or not agree(plain(sum(sizes)), extent):
        node.refuse(f"an axis of extent {extent} cannot be divided into parts of {list(sizes)}")
    return list(sizes)


@converts("Split")
def split(node: Node) -> list[Value]:
    """Split along an axis."""
    x = node.input(0)
    axis = normal_axis(node, int(node.attributes.get("axis", 0)), x.rank)
    number = int(node.attributes.get("num_outputs", len(node.outputs)))
    if number < 1:
        node.refuse(f"its num_outputs is {number}, not a positive number")
    sizes = split_sizes(node, x.shape[axis], number, node.ints_or("split", 1))
    if len(sizes) < len(node.outputs):
        node.refuse(f"it has {len(node.outputs)} outputs for {len(sizes)} parts")
    return parts_of(node, x, axis, sizes)


def parts_of(node: Node, x: Value, axis: int, sizes: Sequence[Extent]) -> list[Value]:
    """Emit the parts of a tensor along an axis."""
    begins = [plain(sum(sizes[:i])) for i in range(len(sizes))]
    shapes = [(*x.shape[:axis], size, *x.shape[axis + 1 :]) for size in sizes]
    if x.array is not None:
        return [node.constant(each) for each in np.split(x.array, begins[1:], axis)]
    full = [i for i, size in enumerate(sizes) if number_of(size) != 0]
    if len(full) == 1:
        made = [x]
    else:
        # Operators of one output, so that passes can compose what moves the parts.
        made = [
            node.emit("split", movement.part, [x], axis=axis, begin=begins[i], size=sizes[i])
            for i in full
        ]
    found = dict(zip(full, made, strict=True))
    return [found[i] if i in found else empty(shape, x.dtype) for i, shape in enumerate(shapes)]


@converts("Expand")
def expand(node: Node) -> Value:
    """Broadcast to a shape; an extent of 1 in the shape keeps the extent of the input."""
    x, asked = node.input(0), node.ints(1)
    try:
        shape = broadcast_shape(x.shape, asked)
    except ValueError as error:
        node.refuse(str(error))
    if 0 in shape:
        return empty(shape, x.dtype)
    if shape == x.shape:
        return x
    if x.array is not None and are_known(shape):
        check_extent(node, shape)
        return node.constant(np.array(np.broadcast_to(x.array, shape)))
    return node.emit("expand", movement.expand, [x], shape=shape)


@converts("Tile")
def tile(node: Node) -> Value:
    """Repeat along each axis."""
    x, repeats = node.input(0), node.ints(1)
    if len(repeats) != x.rank or any(isinstance(e, int) and e < 0 for e in repeats):
        node.refuse(
            f"its repeats {repeats} are not a nonnegative number for each axis of {x.shape}"
        )
    shape = tuple(n * times for n, times in zip(x.shape, repeats, strict=True))
    if 0 in shape:
        return empty(shape, x.dtype)
    if x.array is not None and are_known(repeats):
        check_extent(node, shape)
        return node.constant(np.tile(x.array, repeats))
    return x if shape == x.shape else node.emit("tile", movement.tile, [x], repeats=repeats)


@converts("Pad")
def pad(node: Node) -> Value:
    """Pad a tensor; negative pads remove elements."""
    x = node.input(0)
    pads = node.ints_or("pads", 1, [])
    mode = node.attributes.get("mode", "constant")
    axes = normal_axes(node, node.ints(3), x.rank) if node.has(3) else list(range(x.rank))
    if len(pads) != 2 * len(axes):
        node.refuse(f"pads {pads} are not two numbers for each of {len(axes)} axes")
    before: list[Extent] = [0] * x.rank
    after: list[Extent] = [0] * x.rank
    for i, axis in enumerate(axes):
        before[axis], after[axis] = pads[i], pads[len(axes) + i]
    fill = node.input(2) if node.has(2) else node.attributes.get("value", 0)
    return padded(node, x, before, after, mode, fill)


def padded(
    node: Node,
    x: Value,
    before: Sequence[Extent],
    after: Sequence[Extent],
    mode: str,
    fill: Value | float,
) -> Value:
    """Emit a padded tensor; `fill` is a number, or one element of the tensor's dtype."""
    if mode not in ("constant", "edge", "reflect", "wrap"):
        node.refuse(f"its mode is {mode!r}, not constant, edge, reflect or wrap")
    shape = tuple(plain(b + n + a) for b, n, a in zip(before, x.shape, after, strict=True))
    if any(isinstance(extent, int) and extent < 0 for extent in shape):
        node.refuse(f"its pads remove more elements than the shape {x.shape} has")
    if 0 in shape:
        return empty(shape, x.dtype)
    if all(number_of(each) == 0 for each in (*before, *after)):
        return x
    if mode != "constant":
        _check_repeated(node, x, before, after, mode)
    given: dict[str, Any] = {"before": tuple(before), "after": tuple(after), "mode": mode}
    if mode != "constant":
        return node.emit("pad", movement.pad, [x], **given)
    if isinstance(fill, Value) and (fill.array is None or fill.array.dtype.kind not in "biuf"):
        return node.emit("pad", movement.pad, [x, fill], **given)
    number = fill.array.reshape(-1)[0].item() if isinstance(fill, Value) else fill
    if 0 in x.shape:
        return node.constant(np.full(shape, number), x.dtype)
    return node.emit("pad", movement.pad, [x], fill=number, **given)


def _check_repeated(
    node: Node, x: Value, before: Sequence[Extent], after: Sequence[Extent], mode: str
) -> None:
    """Refuse pads that leave no element to repeat, and open pads that may be negative."""
    for n, *pads in zip(x.shape, before, after, strict=True):
        known = [each for each in pads if isinstance(each, int)]
        kept = n + sum(min(each, 0) for each in known)
        if isinstance(kept, int) and kept <= 0:
            node.refuse(f"mode {mode} pads an axis that has no element left to repeat")
        if not all(at_least(each, 0) for each in pads if not isinstance(each, int)):
            node.refuse(f"mode {mode} with a pad that depends on open extents and is negative")


@converts("CenterCropPad")
def center_crop_pad(node: Node) -> Value:
    """Crop or pad with zeros around the center, to a shape."""
    x, extents = node.input(0), node.ints(1)
    given = node.attributes.get("axes")
    axes = list(range(x.rank)) if given is None else normal_axes(node, given, x.rank)
    if len(axes) != len(extents):
        node.refuse(f"{len(extents)} extents are given for {len(axes)} axes")
    before, after = [0] * x.rank, [0] * x.rank
    for axis, extent in zip(axes, extents, strict=True):
        more = extent - x.shape[axis]
        before[axis] = more // 2 if more > 0 else -(-more // 2)
        after[axis] = more - before[axis]
    return padded(node, x, before, after, "constant", 0)


@converts("Slice")
def slice_(node: Node) -> Value:
    """Slice along some axes, in steps that may be negative."""
    x = node.input(0)
    starts, ends = node.ints_or("starts", 1, []), node.ints_or("ends", 2, [])
    axes = normal_axes(node, node.ints_or("axes", 3, range(len(starts))), x.rank)
    steps = node.ints(4) if node.has(4) else [1] * len(starts)
    if not len(starts) == len(ends) == len(axes) == len(steps):
        node.refuse(
            f"it has {len(starts)} starts, {len(ends)} ends, {len(axes)} axes, {len(steps)} steps"
        )
    if 0 in steps:
        node.refuse(f"one of its steps is 0: {list(steps)}")
    if not are_known([*x.shape, *starts, *ends]):
        return _open_slice(node, x, axes, zip(starts, ends, steps, strict=True))
    taken = [range(extent) for extent in x.shape]
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        taken[axis] = _taken(start, end, step, x.shape[axis])
    shape = tuple(map(len, taken))
    if 0 in shape:
        return empty(shape, x.dtype)
    if x.array is not None:
        return node.constant(x.array[np.ix_(*taken)])
    first, every = [each.start for each in taken], [each.step for each in taken]
    if shape == x.shape and min(every, default=1) > 0:
        return x
    attributes: dict[str, Any] = {"starts": first, "steps": every, "shape": shape}
    return node.emit("slice", movement.strided_slice, [x], **attributes)


def _open_slice(
    node: Node, x: Value, axes: Sequence[int], parts: Iterable[tuple[Any, Any, int]]
) -> Value:
    """Emit a slice with open extents or bounds; each run requires at least one element."""
    first: list[Any] = [0] * x.rank
    every, shape = [1] * x.rank, list(x.shape)
    for axis, (start, end, step) in zip(axes, parts, strict=True):
        extent = x.shape[axis]
        if step > 0:
            begin = _place(node, start, extent, extent, 0)
            last = _place(node, end, extent, extent, 0)
            count = plain(last - begin)
        else:  # `start` is at most the last element; `end` may be before the first
            begin = _place(node, start, extent, plain(extent - 1), 0)
            count = plain(begin - _place(node, end, extent, extent, -1))
        first[axis], every[axis] = begin, step
        size = abs(step)
        shape[axis] = count if size == 1 else plain((count + size - 1) // size)
    if tuple(shape) == x.shape and min(every, default=1) > 0:
        return x
    attributes: dict[str, Any] = {"starts": first, "steps": every, "shape": tuple(shape)}
    return node.emit("slice", movement.strided_slice, [x], **attributes)


def _place(node: Node, number: Any, extent: Any, most: Any, least: int) -> Extent:
    """Return where a slice starts or ends, clamped to `least` and `most`.

    A negative constant counts from the end. A number that is known only at a run must not be
    negative.
    """
    if isinstance(number, int) and number < 0:
        number = least if number <= -LARGEST else plain(extent + number)
        if is_at_most(least, number):
            return number
        return plain(te.max(number, least))
    if isinstance(number, int) and number >= LARGEST:
        return plain(most)
    if not at_least(number, 0):
        node.refuse(
            "a bound of the slice may be negative in some runs, where it would count from the end"
        )
    if is_at_most(number, most):
        return plain(number)
    if is_at_most(most, number):
        return plain(most)
    return plain(te.min(number, most))


def _taken(start: int, end: int, step: int, extent: int) -> range:
    """Return the positions of a slice; bounds outside of the axis are clamped."""
    if extent == 0:
        return range(0)
    start += extent if start < 0 else 0
    end += extent if end < 0 else 0
    if step < 0:
        return range(max(0, min(start, extent - 1)), max(-1, min(end, extent - 1)), step)
    return range(max(0, min(start, extent)), max(0, min(end, extent)), step)


@converts("Trilu")
def trilu(node: Node) -> Value:
    """Keep the upper or lower triangle of matrices."""
    x = node.input(0)
    if x.rank < 2:
        node.refuse(f"its input has the shape {x.shape}, but needs two axes or more")
    diagonal = node.ints(1)[0] if node.has(1) else 0
    rows, columns = (e if isinstance(e, int) else LARGEST for e in x.shape[-2:])
    diagonal = max(-rows - 1, min(columns + 1, diagonal))
    upper = bool(node.attributes.get("upper", 1))
    return node.emit("triangle", movement.triangle, [x], diagonal=diagonal, upper=upper)
