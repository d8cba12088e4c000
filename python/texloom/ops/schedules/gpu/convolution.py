"""Schedules of convolutions with channels last, for devices that need many threads.

Consecutive threads compute consecutive output channels: they read consecutive weights and the same
pixels. If there are few outputs, threads of a block divide the input channels of a tile among
themselves, and add up their sums in shared memory.
"""

from __future__ import annotations

from dataclasses import dataclass

from .... import te
from ...._core import IterVar, Schedule, Stage, Tensor
from ..channels_last.axes import kept_sums, pixel_axes, vectorize
from ..channels_last.layouts import channels_last


@dataclass(frozen=True)
class ConvolutionTile:
    """How a convolution is divided among threads.

    Attributes
    ----------
    pixels : (int, int)
        Rows and columns of the output that a thread computes.
    channels : int
        Neighboring output channels that a thread computes; multiples of 4 are vectors.
    threads : (int, int, int)
        Threads of a block along rows, columns and output channels.
    slices : int
        Threads among which the input channels of a tile are divided.
    inputs : int
        Input channels that a thread reads together: 1, 2 or 4.
    keep_rows : bool
        Whether a thread keeps its pixels for all rows of the filter, or reads them again for each
        row.
    fetch_ahead : bool
        Whether the pixels of the next step are read during the current one.
    """

    pixels: tuple[int, int]
    channels: int
    threads: tuple[int, int, int]
    slices: int = 1
    inputs: int = 4
    keep_rows: bool = False
    fetch_ahead: bool = False

    @property
    def lanes(self) -> int:
        """Lanes of the vectors of output channels."""
        return 4 if self.channels % 4 == 0 else 2 if self.channels % 2 == 0 else 1

    @property
    def block(self) -> int:
        """Threads of a block."""
        rows, columns, channels = self.threads
        return rows * columns * channels * self.slices

    @property
    def shared_lanes(self) -> int | None:
        """Lanes of vectors that divide evenly among the threads of all slices; else None."""
        own = self.pixels[0] * self.pixels[1] * self.channels
        widths = (n for n in (4, 2, 1) if n <= self.lanes)
        return next((n for n in widths if own // n % self.slices == 0), None)


def schedule_convolution(s: Schedule, sums: Tensor, root: Tensor, tile: ConvolutionTile) -> IterVar:
    """Schedule the sums of a convolution, and later stages of the same kernel.

    Parameters
    ----------
    s : Schedule
    sums : Tensor
        As :func:`texloom.ops.convolution.convolution` computes them.
    root : Tensor
        The stage that the kernel writes; stages between `sums` and `root` must be inlined.
    tile : ConvolutionTile

    Returns
    -------
    IterVar
        The innermost axis of threads.
    """
    bound = bind_tiles(s, sums, root, tile)
    accumulate(s, bound.added, bound.added.op.input_tensors[0], tile)
    return bound.thread


@dataclass(frozen=True)
class BoundTiles:
    """A convolution whose results are divided among blocks and threads.

    Attributes
    ----------
    added : Tensor
        The stage in which a thread adds up products.
    block, thread : IterVar
        Axes of the stage that the kernel writes.
    """

    added: Tensor
    block: IterVar
    thread: IterVar


def bind_tiles(s: Schedule, sums: Tensor, root: Tensor, tile: ConvolutionTile) -> BoundTiles:
    """Divide `root` among blocks and threads; parameters as of :func:`schedule_convolution`."""
    is_flat = len(sums.shape) < len(root.shape)
    if tile.slices == 1:
        added = kept_sums(s, sums, root)
        block, thread = bind_pixels(s[root], tile, is_flat)
        s[added].compute_at(s[root], thread)
        return BoundTiles(added, block, thread)
    channel = sums.op.reduce_axis[0]
    chunk, own = s[sums].split(channel, tile.inputs)
    chunk, part = s[sums].split(chunk, tile.slices)
    keeper = s.rfactor(sums, part)
    _in_shared(s, keeper, len(sums.shape))
    added = s.cache_write(keeper, "local", layout=channels_last("pn", len(sums.shape)))
    sums = kept_sums(s, sums, root)
    block, thread, turn = _bind_blocks(s[root], tile, is_flat)
    _order_added(s[sums], tile)
    s[sums].compute_at(s[root], turn)
    s[keeper].compute_at(s[root], block)
    s[added].compute_at(s[keeper], _bind_slices(s[keeper], tile))
    return BoundTiles(added, block, thread)


def _in_shared(s: Schedule, keeper: Tensor, rank: int) -> None:
    s[keeper].set_scope("shared", layout=channels_last("pn", rank))


def bind_pixels(stage: Stage, tile: ConvolutionTile, is_flat: bool) -> tuple[IterVar, IterVar]:
    """Give each thread its tile of ``[N, O, *spatial]``; return the axes of blocks and threads.

    If the sums have a single spatial axis (`is_flat`), the spatial axes are fused first.
    """
    channels, others, split = _axes_of_tiles(stage, tile, is_flat)
    blocks, threads, own = others, [], []
    for axis, count, each in split:
        outer, inner = stage.split(axis, count * each)
        inner, pixel = stage.split(inner, each)
        blocks.append(outer)
        threads.append(inner)
        own.append(pixel)
    outer, inner = stage.split(channels, tile.threads[2] * tile.channels)
    inner, channel = stage.split(inner, tile.channels)
    group, lane = stage.split(channel, tile.lanes)
    stage.reorder(*blocks, outer, *threads, inner, *own, group, lane)
    block, thread = stage.fuse(*blocks, outer), stage.fuse(*threads, inner)
    for axis in (*own, group):
        stage.unroll(axis)
    stage.bind(block, te.thread_axis("blockIdx.x"))
    stage.bind(thread, te.thread_axis("threadIdx.x"))
    vectorize(stage, lane, tile.lanes)
    return block, thread


def _bind_blocks(
    stage: Stage, tile: ConvolutionTile, is_flat: bool
) -> tuple[IterVar, IterVar, IterVar]:
    """Give each block its tile; the threads of the block divide the vectors of the tile.

    Returns the axes of blocks, of threads, and of the vectors of a thread.
    """
    channels, others, split = _axes_of_tiles(stage, tile, is_flat)
    blocks, own = others, []
    for axis, count, each in split:
        outer, inner = stage.split(axis, count * each)
        blocks.append(outer)
        own.append(inner)
    outer, inner = stage.split(channels, tile.threads[2] * tile.channels)
    lanes = tile.shared_lanes or tile.lanes
    group, lane = stage.split(inner, lanes)
    stage.reorder(*blocks, outer, *own, group, lane)
    block = stage.fuse(*blocks, outer)
    turn, thread = stage.split(stage.fuse(*own, group), tile.block)
    stage.reorder(block, thread, turn, lane)
    stage.bind(block, te.thread_axis("blockIdx.x"))
    stage.bind(thread, te.thread_axis("threadIdx.x"))
    vectorize(stage, lane, lanes)
    return block, thread, turn


def _axes_of_tiles(
    stage: Stage, tile: ConvolutionTile, is_flat: bool
) -> tuple[IterVar, list[IterVar], list[tuple[IterVar, int, int]]]:
    """Return the axis of channels, the outer axes, and each axis of pixels with its two factors."""
    axes = list(stage.op.axis)
    if is_flat:
        axes[2:] = [stage.fuse(*axes[2:])]
    others, rows, columns = pixel_axes(axes)
    split = [(columns, tile.threads[1], tile.pixels[1])]
    if rows is not None:
        split.insert(0, (rows, tile.threads[0], tile.pixels[0]))
    return axes[1], others, split


def _order_added(stage: Stage, tile: ConvolutionTile) -> None:
    """Order the loops in which a thread adds up the slices of its elements."""
    lanes = tile.shared_lanes or tile.lanes
    n, o, *spatial = stage.op.axis
    (part,) = stage.op.reduce_axis
    o, lane = stage.split(o, lanes)
    stage.reorder(part, n, *spatial, o, lane)
    stage.unroll(part)
    vectorize(stage, lane, lanes)


def _bind_slices(stage: Stage, tile: ConvolutionTile) -> IterVar:
    """Let each thread sum one slice of the input channels for one tile; return the thread axis."""
    part, *axes = stage.op.axis
    others, rows, columns = pixel_axes(axes)
    threads, own = [part], []
    split = [(columns, tile.pixels[1])]
    if rows is not None:
        split.insert(0, (rows, tile.pixels[0]))
    for axis, each in split:
        outer, inner = stage.split(axis, each)
        threads.append(outer)
        own.append(inner)
    outer, channel = stage.split(axes[1], tile.channels)
    group, lane = stage.split(channel, tile.lanes)
    threads.append(outer)
    stage.reorder(*others, *threads, *own, group, lane)
    thread = stage.fuse(*threads)
    stage.bind(thread, te.thread_axis("threadIdx.x"))
    for axis in (*own, group):
        stage.unroll(axis)
    vectorize(stage, lane, tile.lanes)
    return thread


def accumulate(s: Schedule, sums: Tensor, pixels: Tensor, tile: ConvolutionTile) -> None:
    """Schedule the steps of a thread: load pixels and weights into registers, then multiply.

    Parameters
    ----------
    s : Schedule
    sums : Tensor
        The stage in which a thread adds up products.
    pixels : Tensor
        The stage of the pixels that `sums` reads.
    tile : ConvolutionTile
    """
    stage = s[sums]
    axes = list(stage.op.axis)
    is_sliced = tile.slices > 1
    if is_sliced:
        chunk, lane, *taps = stage.op.reduce_axis
    else:
        c, *taps = stage.op.reduce_axis
        chunk, lane = stage.split(c, tile.inputs)
    _, weight = sums.op.input_tensors
    o = axes.pop(2 if is_sliced else 1)
    group, vector = stage.split(o, tile.lanes)
    outer_taps, last_tap = taps[:-1], taps[-1]
    stage.reorder(chunk, *outer_taps, lane, last_tap, *axes, group, vector)
    spatial = axes[2 if is_sliced else 1 :]
    for axis in (lane, last_tap, *spatial, group):
        stage.unroll(axis)
    vectorize(stage, vector, tile.lanes)
    near = outer_taps[-1] if outer_taps and not tile.keep_rows else chunk
    if tile.keep_rows:
        for axis in outer_taps:
            stage.unroll(axis)
    s[pixels].set_scope("local", layout=channels_last("n", len(pixels.shape)))
    s[pixels].compute_at(stage, near)
    n, channel, *places = s[pixels].op.axis
    s[pixels].reorder(n, *places, channel)
    for axis in places:
        s[pixels].unroll(axis)
    vectorize(s[pixels], channel, tile.inputs)
    if tile.fetch_ahead:
        s[pixels].pipeline(stages=2)
    near_weights = s.cache_read(weight, "local", [sums], layout=weight_layout_of(len(weight.shape)))
    s[near_weights].compute_at(stage, last_tap)
    o, *rest = s[near_weights].op.axis
    group, vector = s[near_weights].split(o, tile.lanes)
    s[near_weights].reorder(*rest, group, vector)
    s[near_weights].unroll(group)
    vectorize(s[near_weights], vector, tile.lanes)


def weight_layout_of(rank: int) -> str:
    """Return the layout of weights in registers, with output channels contiguous."""
    axes = [f"k{i}" for i in range(rank - 2)]
    return f"buffer[(o, i, {', '.join(axes)}) -> cols=(i, {', '.join(axes)}, o)]"


__all__ = [
    "BoundTiles",
    "ConvolutionTile",
    "accumulate",
    "bind_pixels",
    "bind_tiles",
    "schedule_convolution",
    "weight_layout_of",
]
