"""Tensors in textures: which layouts they have, and kernels whose threads compute texels.

A tensor keeps the axes of its computation, such as ``[N, C, H, W]``: the layout alone says which
four elements are a texel.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ... import _core, te
from ..._core import IterVar, Schedule, TargetValue, Tensor
from ...extents import are_known

LANES = 4
"""Elements of a texel."""

THREADS = 64
"""Threads per block."""

_ACTIVATIONS = "texture[(n, c, h, w) -> rows=(n, c/4, h), cols=(w), lanes=c%4]"
# The layout for open extents. Tensors with open extents are not folded to the device's limits, so
# the batch is in the columns: rows and columns both grow.
_OPEN_ACTIVATIONS = "texture[(n, c, h, w) -> rows=(c/4, h), cols=(n, w), lanes=c%4]"
_WEIGHTS = "texture[(o, i, h, w) -> rows=(o/4), cols=(i, h, w), lanes=o%4]"
_DTYPES = ("float32", "float16")
_MOST_AXES = 6  # the most axes of a tensor in a texture


def is_texture(scope: str) -> bool:
    """Whether a scope, or the text of a layout, is that of a texture."""
    return scope.startswith("texture")


def activation_storage(shape: Sequence[Any], dtype: str, target: TargetValue) -> str:
    """Return where an activation may be stored as texels: a scope or a layout, or "global".

    A texel holds four consecutive channels of ``[N, C, H, W]``, or four consecutive elements along
    the last axis of other shapes. Extents that are not numbers are known only at a run. The
    compiler folds tensors that are larger than an image of the target.
    """
    if dtype not in _DTYPES or not 1 <= len(shape) <= _MOST_AXES:
        return "global"
    if not are_known(shape):
        return _open_storage(shape, target)
    storage = _ACTIVATIONS if len(shape) == 4 else "texture"
    return storage if _core.fits_image(list(shape), storage, target) else "global"


def _open_storage(shape: Sequence[Any], target: TargetValue) -> str:
    """Return the layout of an activation with open extents; "global" if no size fits into an image.

    A tensor of one axis is stored in a buffer: all of its texels would be in one row.
    """
    least = [each if isinstance(each, int) else 1 for each in shape]
    if len(shape) == 1:
        return "global"
    if len(shape) == 4:
        n, c, h, w = least
        rows, columns, storage = -(-c // LANES) * h, n * w, _OPEN_ACTIVATIONS
    else:
        names = [f"d{i}" for i in range(len(shape))]
        *outer, last = names
        rows, columns = prod(least[:-1]), -(-least[-1] // LANES)
        storage = (
            f"texture[({', '.join(names)}) -> rows=({', '.join(outer)}), "
            f"cols=({last}/{LANES}), lanes={last}%{LANES}]"
        )
    most = target.max_image_size
    return storage if max(rows, columns) <= most else "global"  # open extents are not folded


def weight_storage(shape: Sequence[int], dtype: str, target: TargetValue) -> str:
    """Return where the weights ``[O, I, H, W]`` of a convolution may be stored as texels.

    A texel holds four output channels, so that one read gets the factors of a texel of outputs.
    """
    if dtype not in _DTYPES or len(shape) != 4:
        return "global"
    return _WEIGHTS if _core.fits_image(list(shape), _WEIGHTS, target) else "global"


def _lane_axis(tensor: Tensor) -> int:
    """Return the axis along which four elements of a tensor form a texel."""
    return 1 if len(tensor.shape) == 4 else len(tensor.shape) - 1


def bind_texels(s: Schedule, tensor: Tensor) -> IterVar:
    """Give each texel of an output a thread; return the axis of the threads of a block."""
    axes = list(s[tensor].op.axis)
    texels, lane = s[tensor].split(axes[_lane_axis(tensor)], factor=LANES)
    axes[_lane_axis(tensor)] = texels
    s[tensor].reorder(*axes, lane)
    block, thread = s[tensor].split(s[tensor].fuse(*axes), factor=THREADS)
    s[tensor].bind(block, te.thread_axis("blockIdx.x"))
    s[tensor].bind(thread, te.thread_axis("threadIdx.x"))
    s[tensor].vectorize(lane)
    return thread


def schedule_lanes(s: Schedule, tensor: Tensor, output: Tensor) -> None:
    """Schedule a stage that a thread computes, in registers, for a texel of `output`.

    The lanes are the innermost loop. Sums of convolutions may have one axis for all pixels. Along a
    reduced axis of channels, consecutive iterations read the lanes of one texel.
    """
    reduced = list(s[tensor].op.reduce_axis)
    axes = list(s[tensor].op.axis)
    if len(axes) < 2 or not reduced:
        return
    has_channels = len(output.shape) == 4
    lane = axes[1] if has_channels else axes[-1]
    s[tensor].reorder(*reduced, *(each for each in axes if each is not lane), lane)
    s[tensor].unroll(lane)


__all__ = [
    "LANES",
    "activation_storage",
    "bind_texels",
    "is_texture",
    "schedule_lanes",
    "weight_storage",
]
