"""Schedules of the transforms of convolutions by tiles; see :mod:`...convolution.winograd`.

Vectors are along the channels. The rows of a tile are unrolled, so that a row of the transform is
in registers, and the matrix's zeros and ones take no operation.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt

from .... import te
from ...._core import IterVar, Schedule, Stage, TargetValue, Tensor
from ...convolution.winograd import PIXELS, TILES
from ...divisors import largest_divisor
from ..channels_last.axes import vectorize
from ..channels_last.layouts import channels_last
from .registers import Registers

_CHANNELS = 32
"""Channels of a thread that transforms tiles of pixels: it reads whole cache lines."""
_RESULT_CHANNELS = 64
"""Channels of a thread that computes pixels of the result."""
_PIXEL_BYTES = 64 << 10
"""What a thread copies of the pixels that it reads, with zeros around them."""


def is_transform(tensor: Tensor) -> bool:
    """Whether a stage is a transform of tiles."""
    return tensor.op.tag in (TILES, PIXELS)


def schedule_transform(
    s: Schedule, stages: Sequence[Tensor], output: Tensor, target: TargetValue
) -> tuple[IterVar, set[te.Operation]] | None:
    """Schedule a transform of tiles, and later stages of the same kernel.

    Returns the axis at which other stages may be computed, and the scheduled operations; None if
    there is no transform.
    """
    found = next((each for each in stages if is_transform(each)), None)
    if found is None:
        return None
    registers = Registers.of(target)
    if found.op.tag == TILES:
        return _schedule_tiles(s, found, registers)
    return _schedule_pixels(s, found, output, registers)


def _split_channels(stage: Stage, axis: IterVar, lanes: int, most: int) -> list[IterVar]:
    """Split channels into parts of at most `most`, vectors and lanes."""
    vectors = int(axis.dom.extent) // lanes
    part, channel = stage.split(axis, lanes * (largest_divisor(vectors, most // lanes) or 1))
    return [part, *stage.split(channel, lanes)]


def _schedule_tiles(
    s: Schedule, tiles: Tensor, registers: Registers
) -> tuple[IterVar, set[te.Operation]]:
    """Schedule the transform of pixels: a thread computes some channels of a row of tiles."""
    (half,) = tiles.op.input_tensors
    (pixels,) = half.op.input_tensors
    lanes = registers.lanes_of(int(tiles.shape[2]))
    columns = int(half.shape[1])
    stage = s[tiles]
    element, tile, channel = stage.op.axis
    size = isqrt(int(element.dom.extent))
    row, column = stage.split(element, size)
    across, own = stage.split(tile, columns)
    part, vector, lane = _split_channels(stage, channel, lanes, _CHANNELS)
    # A tile reads two columns of the next one.
    most = _PIXEL_BYTES // (size * (size - 2) * 4 * _CHANNELS)
    blocks, own = stage.split(own, largest_divisor(columns, most) or 1)
    stage.reorder(across, blocks, part, own, vector, row, column, lane)
    stage.unroll(row)
    stage.unroll(column)
    vectorize(stage, lane, lanes)
    thread = stage.fuse(across, blocks, part)
    stage.bind(thread, te.thread_axis("blockIdx.x"))
    _keep_row(s[half], stage, row, lanes)
    copied = s[pixels]
    copied.set_scope("local", layout=channels_last("n", 4))
    copied.compute_at(stage, thread)
    n, channel, y, x = copied.op.axis
    channel, lane = copied.split(channel, lanes)
    copied.reorder(n, y, x, channel, lane)
    copied.unroll(channel)
    vectorize(copied, lane, lanes)
    return thread, {tiles.op, half.op, pixels.op}


def _schedule_pixels(
    s: Schedule, pixels: Tensor, output: Tensor, registers: Registers
) -> tuple[IterVar, set[te.Operation]]:
    """Schedule the pixels of the result: a thread computes some channels of a row of tiles."""
    (half,) = pixels.op.input_tensors
    lanes = registers.lanes_of(int(pixels.shape[1]))
    size = int(half.shape[1])
    stage = s[output]
    n, channel, y, x = stage.op.axis
    across, row = stage.split(y, size)
    own, column = stage.split(x, size)
    part, vector, lane = _split_channels(stage, channel, lanes, _RESULT_CHANNELS)
    stage.reorder(n, across, part, own, vector, row, column, lane)
    stage.unroll(row)
    stage.unroll(column)
    vectorize(stage, lane, lanes)
    stage.bind(stage.fuse(n, across, part), te.thread_axis("blockIdx.x"))
    _keep_row(s[half], stage, row, lanes)
    kept = s[pixels]
    kept.set_scope("local", layout=channels_last("n", 4))
    kept.compute_at(stage, row)
    n, channel, y, x = kept.op.axis
    _unroll(kept, [n], [y, x], channel, lanes)
    return row, {pixels.op, half.op, output.op}


def _keep_row(half: Stage, reader: Stage, row: IterVar, lanes: int) -> None:
    """Keep a row of a half-made transform in registers."""
    half.set_scope("local")
    half.compute_at(reader, row)
    *outer, i, j, channel = half.op.axis
    _unroll(half, outer, [i, j], channel, lanes)


def _unroll(
    stage: Stage, outer: Sequence[IterVar], own: Sequence[IterVar], channel: IterVar, lanes: int
) -> None:
    """Compute the elements along `own`, and all their channels, without loops."""
    vector, lane = stage.split(channel, lanes)
    stage.reorder(*outer, *own, vector, lane)
    for axis in (*own, vector):
        stage.unroll(axis)
    vectorize(stage, lane, lanes)


__all__ = ["is_transform", "schedule_transform"]
