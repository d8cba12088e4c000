"""Two-dimensional convolution with channels last, for GPUs that need many threads.

The threads of a warp compute different output channels: they read consecutive weights and the same
pixels. If the image is small, the reduction over input channels is split into slices that are
summed separately and combined at the end, so that all multiprocessors have work.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from .. import te
from .._core import IterVar, Schedule, Stage, Tensor


@dataclass(frozen=True)
class ConvTiles:
    """How the convolution is tiled.

    Attributes
    ----------
    pixels : (int, int)
        Rows and columns of the output that a thread computes.
    channels : int
        Consecutive output channels that a thread computes: 1, 2 or 4.
    threads : (int, int, int)
        Threads of a block along rows, columns and output channels.
    slices : int
        Parts of the input channels that the threads of a block sum separately and combine in shared
        memory.
    splits : int
        Parts of the input channels that blocks sum separately; if more than 1, a second kernel adds
        them up.
    inputs : int
        Input channels that a thread reads together: 1, 2 or 4.
    keep_rows : bool
        Whether a thread keeps its pixels for all rows of the filter, or reads them for each row.
    fetch_ahead : bool
        Whether the pixels of the next step are fetched during the current one.
    """

    pixels: tuple[int, int]
    channels: int
    threads: tuple[int, int, int]
    slices: int = 1
    splits: int = 1
    inputs: int = 4
    keep_rows: bool = False
    fetch_ahead: bool = False


class Convolution(NamedTuple):
    """A convolution: the inputs `data` and `weight`, the `padded` image it reads, the `output`."""

    data: Tensor
    weight: Tensor
    padded: Tensor
    output: Tensor

    @property
    def arguments(self) -> list[Tensor]:
        """The arguments of the compiled function."""
        return [self.data, self.weight, self.output]


def conv2d_nhwc(data: Tensor, weight: Tensor, *, stride: int = 1, padding: int = 1) -> Convolution:
    """Convolve ``data[N, H, W, I]`` with ``weight[KH, KW, I, O]`` to ``output[N, OH, OW, O]``.

    ``OH = (H + 2*padding - KH)//stride + 1``. As in neural networks, the kernel is not mirrored.
    """
    inputs, outputs = weight.shape[2:]
    padded = _padded(data, padding)
    i = te.reduce_axis((0, inputs), name="i")
    ky, kx, shape = _window(data, weight, stride, padding)
    output = te.compute(
        (*shape, outputs),
        lambda n, y, x, o: te.sum(
            padded[n, y * stride + ky, x * stride + kx, i] * weight[ky, kx, i, o],
            axis=[ky, kx, i],
        ),
        name="output",
    )
    return Convolution(data, weight, padded, output)


def depthwise_conv2d_nhwc(
    data: Tensor, weight: Tensor, *, stride: int = 1, padding: int = 1
) -> Convolution:
    """Convolve each channel of ``data[N, H, W, C]`` with its own filter ``weight[KH, KW, C]``."""
    channels = weight.shape[2]
    padded = _padded(data, padding)
    ky, kx, shape = _window(data, weight, stride, padding)
    output = te.compute(
        (*shape, channels),
        lambda n, y, x, c: te.sum(
            padded[n, y * stride + ky, x * stride + kx, c] * weight[ky, kx, c], axis=[ky, kx]
        ),
        name="output",
    )
    return Convolution(data, weight, padded, output)


def _window(
    data: Tensor, weight: Tensor, stride: int, padding: int
) -> tuple[IterVar, IterVar, tuple[Any, Any, Any]]:
    """Return the filter's axes, and the numbers of images, rows and columns of the output."""
    n, height, width, _ = data.shape
    rows, columns = weight.shape[:2]
    places = ((e + 2 * padding - k) // stride + 1 for e, k in ((height, rows), (width, columns)))
    ky = te.reduce_axis((0, rows), name="ky")
    kx = te.reduce_axis((0, columns), name="kx")
    return ky, kx, (n, *places)


def _padded(data: Tensor, padding: int) -> Tensor:
    n, height, width, channels = data.shape

    def pixel(n: IterVar, y: IterVar, x: IterVar, c: IterVar) -> Any:
        value = data[n, y - padding, x - padding, c]
        if padding == 0:
            return value
        inside = te.all(y >= padding, y < padding + height, x >= padding, x < padding + width)
        return te.if_then_else(inside, value, 0.0)

    shape = (n, height + 2 * padding, width + 2 * padding, channels)
    return te.compute(shape, pixel, name="padded")


def schedule_conv2d_nhwc(convolution: Convolution, tiles: ConvTiles) -> Schedule:
    """Schedule :func:`conv2d_nhwc`; splits x slices x inputs must divide the input channels."""
    _, weight, padded, output = convolution
    s = te.create_schedule(output.op)
    sums = output
    if tiles.splits > 1:
        part, _ = s[sums].split(sums.op.reduce_axis[-1], nparts=tiles.splits)
        sums = s.rfactor(sums, part)
        _add_splits(s, output, tiles)
    if tiles.slices > 1:
        part, _ = s[sums].split(sums.op.reduce_axis[-1], nparts=tiles.slices)
        sliced = s.rfactor(sums, part)
        s[sliced].set_scope("shared")
        s[sliced].compute_at(s[sums], _add_slices(s, sums, tiles))
        sums = sliced
    accumulators = s.cache_write(sums, "local")
    s[accumulators].compute_at(s[sums], _bind_tiles(s[sums], tiles))
    _accumulate(s, accumulators, padded, weight, tiles)
    return s


def _accumulate(
    s: Schedule, sums: Tensor, padded: Tensor, weight: Tensor, tiles: ConvTiles
) -> None:
    """Schedule the steps of a thread: load pixels and weights into registers, then multiply."""
    stage = s[sums]
    *_, y, x, o = stage.op.axis
    ky, kx, i = stage.op.reduce_axis
    group, lane = stage.split(i, tiles.inputs)
    stage.reorder(group, ky, lane, kx, y, x, o)
    weights = s.cache_read(weight, "local", [sums])
    s[padded].set_scope("local")
    if tiles.keep_rows:
        s[padded].compute_at(stage, group)
        stage.unroll(ky)
    else:
        s[padded].compute_at(stage, ky)
    for axis in (lane, kx, y, x):
        stage.unroll(axis)
    _vectorize(stage, o, tiles.channels)
    _, y, x, channel = s[padded].op.axis
    s[padded].unroll(y)
    s[padded].unroll(x)
    _vectorize(s[padded], channel, tiles.inputs)
    s[weights].compute_at(stage, kx)
    _vectorize(s[weights], s[weights].op.axis[-1], tiles.channels)
    if tiles.fetch_ahead:
        s[padded].pipeline(stages=2)


def _vectorize(stage: Stage, axis: IterVar, lanes: int) -> None:
    if lanes > 1:
        stage.vectorize(axis)


def _bind_tiles(stage: Stage, tiles: ConvTiles) -> IterVar:
    """Return the loop of a thread over its tile; bind blocks if no loop encloses the stage."""
    leading, (y, x, o) = stage.op.axis[:-3], stage.op.axis[-3:]
    by, y, own_y = _split_twice(stage, y, tiles.threads[0], tiles.pixels[0])
    bx, x, own_x = _split_twice(stage, x, tiles.threads[1], tiles.pixels[1])
    bo, o, own_o = _split_twice(stage, o, tiles.threads[2], tiles.channels)
    if tiles.slices > 1:  # the stage is a block's tile, whose first axis is the slice
        blocks, threads = [*leading[1:], by, bx, bo], [leading[0], y, x, o]
    else:
        blocks, threads = [*leading, by, bx, bo], [y, x, o]
    stage.reorder(*blocks, *threads, own_y, own_x, own_o)
    if tiles.slices == 1:
        stage.bind(stage.fuse(*blocks), te.thread_axis("blockIdx.x"))
    thread = stage.fuse(*threads)
    stage.bind(thread, te.thread_axis("threadIdx.x"))
    stage.unroll(own_y)
    stage.unroll(own_x)
    _vectorize(stage, own_o, tiles.channels)
    return thread


def _split_twice(
    stage: Stage, axis: IterVar, threads: int, own: int
) -> tuple[IterVar, IterVar, IterVar]:
    outer, inner = stage.split(axis, threads * own)
    thread, inner = stage.split(inner, own)
    return outer, thread, inner


def _add_slices(s: Schedule, sums: Tensor, tiles: ConvTiles) -> IterVar:
    """Divide the elements of a tile among the threads of a block; return the loop over blocks."""
    accumulators = s.cache_write(sums, "local")
    stage = s[sums]
    leading, axes = stage.op.axis[:-3], stage.op.axis[-3:]
    own = (*tiles.pixels, tiles.channels)
    split = [
        stage.split(axis, threads * each)
        for axis, threads, each in zip(axes, tiles.threads, own, strict=True)
    ]
    outer, inner = zip(*split, strict=True)
    *inner, o = inner
    o, lane = stage.split(o, tiles.channels)
    stage.reorder(*leading, *outer, *inner, o, lane)
    block = stage.fuse(*leading, *outer)
    stage.bind(block, te.thread_axis("blockIdx.x"))
    threads = tiles.slices * tiles.threads[0] * tiles.threads[1] * tiles.threads[2]
    turn, thread = stage.split(stage.fuse(*inner, o), threads)
    stage.unroll(turn)
    stage.bind(thread, te.thread_axis("threadIdx.x"))
    _vectorize(stage, lane, tiles.channels)
    _add_up(s[accumulators], s[sums], thread, tiles)
    return block


def _add_splits(s: Schedule, sums: Tensor, tiles: ConvTiles) -> None:
    """Let each thread add up the splits of consecutive channels."""
    accumulators = s.cache_write(sums, "local")
    stage = s[sums]
    *outer, o = stage.op.axis
    o, lane = stage.split(o, tiles.channels)
    block, thread = stage.split(stage.fuse(*outer, o), 64)
    stage.bind(block, te.thread_axis("blockIdx.x"))
    stage.bind(thread, te.thread_axis("threadIdx.x"))
    _vectorize(stage, lane, tiles.channels)
    _add_up(s[accumulators], stage, thread, tiles)


def _add_up(sums: Stage, output: Stage, thread: IterVar, tiles: ConvTiles) -> None:
    """Schedule the sums of a thread over all parts of the reduction."""
    sums.compute_at(output, thread)
    (parts,) = sums.op.reduce_axis
    *_, lane = sums.op.axis
    sums.reorder(parts, lane)
    sums.unroll(parts)
    _vectorize(sums, lane, tiles.channels)


def schedule_depthwise_conv2d_nhwc(convolution: Convolution, tiles: ConvTiles) -> Schedule:
    """Schedule :func:`depthwise_conv2d_nhwc` with the pixels, channels and threads of `tiles`."""
    _, weight, padded, output = convolution
    s = te.create_schedule(output.op)
    accumulators = s.cache_write(output, "local")
    weights = s.cache_read(weight, "local", [accumulators])
    thread = _bind_tiles(s[output], tiles)
    for stage in (s[padded], s[weights], s[accumulators]):
        stage.set_scope("local")
        stage.compute_at(s[output], thread)
        *rest, channel = stage.op.axis
        for axis in (*rest, *stage.op.reduce_axis):
            stage.unroll(axis)
        if stage.op.reduce_axis:
            stage.reorder(*stage.op.reduce_axis, *rest, channel)
        _vectorize(stage, channel, tiles.channels)
    return s
