"""Schedules of the transforms of convolutions by tiles; see :mod:`...convolution.winograd`.

Vectors are along the channels. The rows of a tile are unrolled, so that a row of the transform is
in registers, and the matrix's zeros and ones take no operation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isqrt

from .... import te
from ...._core import IterVar, Schedule, Stage, Tensor
from ...convolution.winograd import PIXELS, TILES
from ...divisors import largest_divisor
from ..channels_last.axes import vectorize
from ..channels_last.layouts import channels_last
from ..family import Family, KernelTask, Scheduled
from .registers import Registers

_CHANNELS = 32
"""Channels of a thread that transforms tiles of pixels: it reads whole cache lines."""
_RESULT_CHANNELS = 64
"""Channels of a thread that computes pixels of the result."""
_SOME_CHANNELS = (16, 32, 64, 128)
_PIXEL_BYTES = 64 << 10
"""What a thread copies of the pixels that it reads, with zeros around them."""


def is_transform(tensor: Tensor) -> bool:
    """Whether a stage is a transform of tiles."""
    return tensor.op.tag in (TILES, PIXELS)


@dataclass(frozen=True)
class TransformBlock:
    """The knobs of a transform.

    Attributes
    ----------
    channels : int
        The most channels of a thread.
    """

    channels: int


class Transforms(Family[TransformBlock, TransformBlock]):
    """Transforms of tiles, and later stages of the same kernel."""

    name = "transforms of tiles"

    def facts_of(self, task: KernelTask) -> TransformBlock | None:
        """Return the preferred channels; None if the computation has no transform."""
        found = next(filter(is_transform, task.stages), None)
        if found is None or task.sums is not None:
            return None
        return TransformBlock(_CHANNELS if found.op.tag == TILES else _RESULT_CHANNELS)

    def points(self, facts: TransformBlock) -> Iterator[tuple[TransformBlock, str | None]]:
        """Yield whole cache lines of channels, the preferred ones first."""
        for channels in dict.fromkeys((facts.channels, *_SOME_CHANNELS)):
            yield TransformBlock(channels), None

    def apply(self, s: Schedule, task: KernelTask, knobs: TransformBlock) -> Scheduled:
        """Schedule the transform of a computation."""
        found = next(filter(is_transform, task.stages))
        registers = Registers.of(task.target)
        if found.op.tag == TILES:
            return _schedule_tiles(s, found, registers, knobs.channels)
        return _schedule_pixels(s, found, task.root, registers, knobs.channels)


def _split_channels(stage: Stage, axis: IterVar, lanes: int, most: int) -> list[IterVar]:
    """Split channels into parts of at most `most`, vectors and lanes."""
    vectors = int(axis.dom.extent) // lanes
    part, channel = stage.split(axis, lanes * (largest_divisor(vectors, most // lanes) or 1))
    return [part, *stage.split(channel, lanes)]


def _schedule_tiles(s: Schedule, tiles: Tensor, registers: Registers, most: int) -> Scheduled:
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
    part, vector, lane = _split_channels(stage, channel, lanes, most)
    # A tile reads two columns of the next one.
    tiles_of_block = _PIXEL_BYTES // (size * (size - 2) * 4 * most)
    blocks, own = stage.split(own, largest_divisor(columns, tiles_of_block) or 1)
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
    return Scheduled(tiles, thread, {tiles.op, half.op, pixels.op})


def _schedule_pixels(
    s: Schedule, pixels: Tensor, output: Tensor, registers: Registers, most: int
) -> Scheduled:
    """Schedule the pixels of the result: a thread computes some channels of a row of tiles."""
    (half,) = pixels.op.input_tensors
    lanes = registers.lanes_of(int(pixels.shape[1]))
    size = int(half.shape[1])
    stage = s[output]
    n, channel, y, x = stage.op.axis
    across, row = stage.split(y, size)
    own, column = stage.split(x, size)
    part, vector, lane = _split_channels(stage, channel, lanes, most)
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
    return Scheduled(output, row, {pixels.op, half.op, output.op})


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


TRANSFORMS = Transforms()

__all__ = ["TRANSFORMS", "TransformBlock", "Transforms", "is_transform"]
