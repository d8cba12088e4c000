"""Schedules of convolutions with channels last for processors.

A thread computes some pixels of some consecutive channels, in registers. If there is padding, it
first copies the pixels that it reads, with the padding, so that no product needs a condition;
otherwise it reads the pixels in place. Pixels of few channels are read by too few products to be
copied by each thread: a kernel pads all of them before. Weights are read consecutively: their
layout keeps the weights of a tile together.
"""

from __future__ import annotations

from math import prod

from .... import te
from ...._core import IterVar, Schedule, Stage, Tensor
from ...contraction import PADDED, Contraction
from ..channels_last.axes import kept_sums, pixel_axes, vectorize
from ..channels_last.layouts import channels_last
from .tiles import LANES, PixelTile, copied_channels


def schedule_convolution(
    s: Schedule, sums: Tensor, root: Tensor, tile: PixelTile
) -> tuple[IterVar, list[Tensor]]:
    """Schedule the sums of a convolution, and later stages of the same kernel.

    Parameters
    ----------
    s : Schedule
    sums : Tensor
        As :func:`texloom.ops.convolution.convolution` computes them.
    root : Tensor
        The stage that the kernel writes; stages between `sums` and `root` must be inlined.
    tile : PixelTile

    Returns
    -------
    (IterVar, list of Tensor)
        The axis of threads, and the stages that are scheduled.
    """
    roles = Contraction.of(sums)
    assert roles is not None
    copied, inlined = _pixels_of(sums, root)
    kept = [] if copied is None else [copied]
    if copied is not None and roles.rows_per_group > 1 and int(copied.shape[1]) < LANES:
        _copy_all(s[copied])
        copied = None
    local = kept_sums(s, sums, root)
    thread = _bind(s[root], tile, is_flat=len(sums.shape) < len(root.shape))
    s[local].compute_at(s[root], thread)
    for each in inlined:
        s[each].compute_inline()
    if roles.rows_per_group == 1:
        _order_depthwise(s[local], tile)
        if copied is not None:
            _copy(s[copied], copied, s[root], thread, tile.lanes)
    else:
        inputs = int(local.op.reduce_axis[0].dom.extent)
        if copied is not None:
            inputs = copied_channels(inputs, _copied_pixels(local, root, copied, tile))
        chunk = _order(s[local], tile, inputs)
        if copied is not None:
            _copy(s[copied], copied, s[local], chunk, LANES if inputs % LANES == 0 else 1)
    return thread, [sums, root, *inlined, *kept]


def _pixels_of(sums: Tensor, root: Tensor) -> tuple[Tensor | None, list[Tensor]]:
    """Return the stage of pixels to copy, if there is one, and the stages between it and the sums.

    Pixels are copied if they are padded or converted, but not if the spatial axes are fused.
    """
    rank = len(root.shape)
    stage = sums.op.input_tensors[0]
    between: list[Tensor] = []
    while isinstance(stage.op, te.ComputeOp) and len(stage.op.input_tensors) == 1:
        (source,) = stage.op.input_tensors
        is_made = stage.op.tag == PADDED or stage.dtype != source.dtype
        if len(stage.shape) == rank and len(sums.shape) == rank and is_made:
            return stage, between
        between.append(stage)
        stage = source
    return None, between


def _copied_pixels(sums: Tensor, root: Tensor, copied: Tensor, tile: PixelTile) -> int:
    """Return how many pixels of a channel a tile reads, apart from the gaps of dilated windows."""
    *rows, columns = (int(axis.dom.extent) for axis in sums.op.reduce_axis[1:])
    strides = -(-int(copied.shape[-1]) // int(root.shape[-1]))
    return prod(rows) * ((tile.pixels - 1) * strides + columns)


def _bind(stage: Stage, tile: PixelTile, is_flat: bool) -> IterVar:
    """Give each tile a thread, with channels along y; return the axis of threads along x."""
    axes = list(stage.op.axis)
    if is_flat:
        axes[2:] = [stage.fuse(*axes[2:])]
    others, rows, columns = pixel_axes(axes)
    columns, pixel = stage.split(columns, tile.pixels)
    channels, channel = stage.split(axes[1], tile.channels)
    vector, lane = stage.split(channel, tile.lanes)
    blocks = [*([] if rows is None else [rows]), columns]
    stage.reorder(*others, channels, *blocks, pixel, vector, lane)
    # Images have a separate axis, so that the region that a tile of all pixels reads is provably
    # small.
    thread = stage.fuse(*blocks)
    stage.bind(thread, te.thread_axis("blockIdx.x"))
    stage.bind(channels, te.thread_axis("blockIdx.y"))
    stage.bind(stage.fuse(*others), te.thread_axis("blockIdx.z"))
    for axis in (pixel, vector):
        stage.unroll(axis)
    vectorize(stage, lane, tile.lanes)
    return thread


def _order(stage: Stage, tile: PixelTile, inputs: int) -> IterVar:
    """Order the steps of a thread; return the axis of the channels that are copied together."""
    axes = list(stage.op.axis)
    channel, *taps = stage.op.reduce_axis
    chunk, channel = stage.split(channel, inputs)
    vector, lane = stage.split(axes.pop(1), tile.lanes)
    stage.reorder(chunk, *taps, channel, *axes, vector, lane)
    for axis in (*axes, vector):
        stage.unroll(axis)
    vectorize(stage, lane, tile.lanes)
    return chunk


def _order_depthwise(stage: Stage, tile: PixelTile) -> None:
    """Order the steps of a thread of a depthwise convolution."""
    axes = list(stage.op.axis)
    reduced = list(stage.op.reduce_axis)
    vector, lane = stage.split(axes.pop(1), tile.lanes)
    stage.reorder(*reduced, *axes, vector, lane)
    for axis in (reduced[-1], *axes, vector):
        stage.unroll(axis)
    vectorize(stage, lane, tile.lanes)


def _copy_all(stage: Stage) -> None:
    """Copy all pixels in a kernel of its own, a row in each block."""
    *rows, _ = stage.op.axis
    stage.bind(stage.fuse(*rows), te.thread_axis("blockIdx.x"))


def _copy(stage: Stage, pixels: Tensor, reader: Stage, place: IterVar, lanes: int) -> None:
    """Copy the pixels that a thread reads, with channels last."""
    stage.set_scope("local", layout=channels_last("n", len(pixels.shape)))
    stage.compute_at(reader, place)
    n, channel, *spatial = stage.op.axis
    channel, lane = stage.split(channel, lanes)
    stage.reorder(n, *spatial, channel, lane)
    vectorize(stage, lane, lanes)


__all__ = ["schedule_convolution"]
