"""Schedules of convolutions with channels last for processors.

A thread computes some pixels of some consecutive channels, in registers: a tile. On processors with
known registers, it computes the tiles of a block of pixels, one after the other. If there is
padding, a kernel first copies all pixels, with the padding, so that no product needs a condition;
otherwise the pixels are read in place. In a depthwise convolution, which reads each pixel a few
times only, each thread copies the pixels of its block. Weights are read consecutively: their layout
keeps the weights of a tile together.
"""

from __future__ import annotations

from .... import te
from ...._core import IterVar, Schedule, Stage, Tensor
from ....extents import shape_of
from ...contraction import PADDED, Contraction
from ..channels_last.axes import along_columns, kept_sums, pixel_axes, vectorize
from ..channels_last.layouts import channels_last
from .tiles import PixelBlock, PixelTile

_LANES = 8
"""The fewest channels that are copied with channels last, by vectors."""

_COLUMNS = 16
"""The pixels of a tile of a transpose: a cache line of each channel."""


def schedule_convolution(
    s: Schedule,
    sums: Tensor,
    root: Tensor,
    tile: PixelTile,
    block: PixelBlock | None = None,
    is_row_major: bool = False,
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
    block : PixelBlock, optional
        By default, a thread computes one tile.
    is_row_major : bool, optional
        Whether the pixels are row-major; by default they have channels last.

    Returns
    -------
    (IterVar, list of Tensor)
        The axis at which the sums are computed, where their readers may be computed, too, and the
        stages that are scheduled.
    """
    roles = Contraction.of(sums)
    assert roles is not None
    copied, inlined = _pixels_of(sums, root, is_row_major)
    local = kept_sums(s, sums, root, tile.lanes if tile.rest else 1)
    is_depthwise = roles.rows_per_group == 1
    is_flat = len(sums.shape) < len(root.shape)
    thread, tiles = _bind(s[root], tile, block, _spatial(s[root], is_flat, is_depthwise))
    steps = None if block is None else block.steps
    place = tiles if steps is None else thread
    s[local].compute_at(s[root], place)
    for each in inlined:
        s[each].compute_inline()
    if is_depthwise:
        _order_depthwise(s[local], tile)
        if copied is not None:
            _copy(s[copied], copied, s[root], thread, tile.lanes)
    else:
        _order(s[local], tile, _spatial(s[local], is_flat=False, is_depthwise=False), steps)
        if copied is not None:
            _copy_all(s[copied], copied, is_row_major)
    kept = [] if copied is None else [copied]
    return place, [sums, root, *inlined, *kept]


def has_vectors_of_channels(pixels: Tensor) -> bool:
    """Whether pixels have so many channels that they are copied with channels last."""
    return int(pixels.shape[1]) >= _LANES


def source_of(sums: Tensor) -> Tensor:
    """Return what the pixels of a convolution are made of: the input that they pad, say."""
    tensor = sums.op.input_tensors[0]
    while isinstance(tensor.op, te.ComputeOp):
        tensor = tensor.op.input_tensors[0]
    return tensor


def _pixels_of(
    sums: Tensor, root: Tensor, is_row_major: bool
) -> tuple[Tensor | None, list[Tensor]]:
    """Return the stage of pixels to copy, if there is one, and the stages between it and the sums.

    Pixels are copied if they are padded or converted, but not if the spatial axes are fused.
    Row-major ones are copied, too, if they have vectors of channels and several results read them.
    """
    rank = len(root.shape)
    stage = sums.op.input_tensors[0]
    between: list[Tensor] = []
    while isinstance(stage.op, te.ComputeOp) and len(stage.op.input_tensors) == 1:
        (source,) = stage.op.input_tensors
        is_larger = stage.op.tag == PADDED and shape_of(stage) != shape_of(source)
        is_made = is_larger or stage.dtype != source.dtype
        if len(stage.shape) == rank and len(sums.shape) == rank and is_made:
            return stage, between
        between.append(stage)
        stage = source
    roles = Contraction.of(sums)
    is_depthwise = roles is not None and roles.rows_per_group == 1
    if is_row_major and between and has_vectors_of_channels(between[0]) and not is_depthwise:
        return between[0], between[1:]
    return None, between


def _spatial(stage: Stage, is_flat: bool, is_depthwise: bool) -> list[IterVar]:
    """Return the spatial axes, that of columns last; a single one if the sums have one."""
    axes = list(stage.op.axis)[2:]
    if is_flat:
        return [stage.fuse(*axes)]
    return axes if is_depthwise else along_columns(axes, [int(each.dom.extent) for each in axes])


def _bind(
    stage: Stage, tile: PixelTile, block: PixelBlock | None, spatial: list[IterVar]
) -> tuple[IterVar, IterVar]:
    """Give each tile or block a thread; return the axis of threads and that of tiles."""
    axes = [*list(stage.op.axis)[:2], *spatial]
    others, rows, columns = pixel_axes(axes)
    columns, pixel = stage.split(columns, tile.pixels)
    channels, channel = stage.split(axes[1], tile.channels)
    vector, lane = stage.split(channel, tile.lanes)
    for axis in (pixel, vector):
        stage.unroll(axis)
    vectorize(stage, lane, tile.lanes)
    blocks = [*([] if rows is None else [rows]), columns]
    if block is not None:
        extents = [*([] if rows is None else [block.rows]), block.tiles]
        pairs = [stage.split(axis, extent) for axis, extent in zip(blocks, extents, strict=True)]
        blocks, tiles = (list(each) for each in zip(*pairs, strict=True))
        stage.reorder(*others, *blocks, channels, *tiles, pixel, vector, lane)
        # The pixels of a block are in the cache while the threads of all channels read them.
        thread = stage.fuse(*others, *blocks, channels)
        stage.bind(thread, te.thread_axis("blockIdx.x"))
        return thread, tiles[-1]
    stage.reorder(*others, channels, *blocks, pixel, vector, lane)
    # Images have a separate axis, so that the region that a tile of all pixels reads is provably
    # small.
    thread = stage.fuse(*blocks)
    stage.bind(thread, te.thread_axis("blockIdx.x"))
    stage.bind(channels, te.thread_axis("blockIdx.y"))
    stage.bind(stage.fuse(*others), te.thread_axis("blockIdx.z"))
    return thread, thread


def _order(stage: Stage, tile: PixelTile, spatial: list[IterVar], steps: int | None) -> None:
    """Order the steps of a tile, or of a block for parts of the input channels."""
    image, channels = list(stage.op.axis)[:2]
    axes = [image, *spatial]
    channel, *taps = stage.op.reduce_axis
    vector, lane = stage.split(channels, tile.lanes)
    if steps is None:
        stage.reorder(*taps, channel, *axes, vector, lane)
    else:
        tiles, pixel = stage.split(axes.pop(), tile.pixels)
        parts, channel = stage.split(channel, steps)
        stage.reorder(*taps, parts, *axes, tiles, channel, pixel, vector, lane)
        axes = [pixel]
    for axis in (*axes, vector):
        stage.unroll(axis)
    vectorize(stage, lane, tile.lanes)


def _order_depthwise(stage: Stage, tile: PixelTile) -> None:
    """Order the steps of a thread of a depthwise convolution."""
    axes = list(stage.op.axis)
    reduced = list(stage.op.reduce_axis)
    vector, lane = stage.split(axes.pop(1), tile.lanes)
    # Weights are loaded once for all pixels.
    stage.reorder(*reduced, vector, *axes, lane)
    for axis in (reduced[-1], *axes, vector):
        stage.unroll(axis)
    vectorize(stage, lane, tile.lanes)


def _copy_all(stage: Stage, pixels: Tensor, is_row_major: bool) -> None:
    """Copy all pixels in a kernel of its own, a row or a tile of pixels in each block."""
    n, channel, *rows, column = stage.op.axis
    if not has_vectors_of_channels(pixels):  # a picture's
        stage.bind(stage.fuse(n, channel, *rows), te.thread_axis("blockIdx.x"))
        return
    stage.set_scope("global", layout=channels_last("n", len(pixels.shape)))
    outer = [n, *rows]
    if is_row_major and pixels.op.tag != PADDED and pixels.shape[1] % _LANES == 0:  # a transpose
        block, column = stage.split(column, _COLUMNS)
        vector, channel = stage.split(channel, _LANES)
        outer.append(block)
        stage.reorder(*outer, vector, column, channel)
        stage.vectorize(channel)
    else:
        stage.reorder(*outer, column, channel)
    stage.bind(stage.fuse(*outer), te.thread_axis("blockIdx.x"))


def _copy(stage: Stage, pixels: Tensor, reader: Stage, place: IterVar, lanes: int) -> None:
    """Copy the pixels that a thread reads, with channels last."""
    stage.set_scope("local", layout=channels_last("n", len(pixels.shape)))
    stage.compute_at(reader, place)
    n, channel, *spatial = stage.op.axis
    channel, lane = stage.split(channel, lanes)
    stage.reorder(n, *spatial, channel, lane)
    stage.unroll(channel)
    vectorize(stage, lane, lanes)


__all__ = ["has_vectors_of_channels", "schedule_convolution", "source_of"]
