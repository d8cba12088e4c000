"""Tiles of convolutions for a shape, and their estimated times.

The estimate is the maximum of three limits: multiplications and loads of a processor, the latency
of each step of a thread, and the bytes that blocks read from the common cache. What a device can do
is in its profile; how well the kernels use it is here, fitted to 1,229 kernels of the layers of
ResNet-50 and MobileNetV2, measured on an NVIDIA H200: half of the estimates are within 13 % of the
measured times.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import prod

from ...._core import TargetValue, Tensor
from ....profiles import DeviceProfile
from ...contraction import Contraction, is_depthwise
from .convolution import ConvolutionTile

MOST_SUMS = 64
"""The most sums of a thread."""
# Relative to what the profile says: latencies of memory in a step without multiplications, in
# adding up slices, and for each slice; a multiplication, and its latency where several overlap;
# loads of pixels with one address for all threads of a warp, of weights, and in a depthwise
# convolution. Under such work the processors run at less than the clock of single rates.
_STEP, _ADDED, _SLICE = 1.1125, 0.594, 0.003465
_MULTIPLICATION, _WAIT = 1.8, 0.4
_PIXEL, _WEIGHT, _DEPTHWISE = 0.575, 1.65, 1.5
_SLOWDOWN = 1.98 / 1.75
_PIXEL_SHARE = 2.7  # how often a block reads each pixel, since windows overlap
_FAR = 0.5  # the part of what blocks read that is not in the near cache, but in the common one
_KEPT_ROWS = 1.3  # the slowdown of kernels that keep the pixels of all rows of a filter
_CUT = 2.4  # the slowdown of multiplications in tiles that reach beyond the output


@dataclass(frozen=True)
class BlockLimits:
    """Limits of a block.

    Attributes
    ----------
    threads : int
    floats : int
        Capacity of the block's shared memory, in floats.
    """

    threads: int = 512
    floats: int = 12288

    @classmethod
    def of(cls, target: TargetValue) -> BlockLimits:
        """Return the limits of a target, clamped to the limits that the estimate is fitted to."""
        return cls(
            min(cls.threads, target.max_threads),
            min(cls.floats, target.local_memory_bytes // 4),
        )


@dataclass(frozen=True)
class ConvolutionShape:
    """The properties of a convolution that determine its tile.

    Attributes
    ----------
    rows, columns : int
        Extents of the output. Sums with a single spatial axis have one row.
    inputs, outputs : int
        Numbers of channels; a depthwise convolution has one input.
    window : tuple of int
        Extents of the filter.
    stride : int
        Stride along columns: 1, or 2 for all larger strides.
    is_depthwise : bool
    images : int
        Size of the batch, times the extents of other spatial axes.
    per_group : int
        Output channels that read the same input channels: all of them if it is 0.
    """

    rows: int
    columns: int
    inputs: int
    outputs: int
    window: tuple[int, ...]
    stride: int = 1
    is_depthwise: bool = False
    images: int = 1
    per_group: int = 0

    @classmethod
    def of(cls, sums: Tensor, root: Tensor) -> ConvolutionShape:
        """Return the shape of a convolution whose kernel writes `root`."""
        roles = Contraction.of(sums)
        assert roles is not None
        batch, outputs, *spatial = (int(extent) for extent in root.shape)
        if len(sums.shape) < len(root.shape):
            spatial = [prod(spatial)]
        inner, *window = (int(axis.dom.extent) for axis in sums.op.reduce_axis)
        *others, rows, columns = [1, 1, *spatial]
        return cls(
            rows,
            columns,
            inner,
            outputs,
            tuple(window),
            2 if len(sums.op.input_tensors[0].shape) > len(root.shape) else 1,
            is_depthwise(sums),
            batch * prod(others),
            0 if roles.rows_per_group in (1, outputs) else roles.rows_per_group,
        )

    @property
    def taps(self) -> int:
        """Elements of the filter."""
        return prod(self.window)

    def reach(self, rows: int, columns: int) -> tuple[int, int]:
        """Return the rows and columns of the input that `rows` and `columns` of the output read."""
        down, across = [1, 1, *self.window][-2:]
        return (rows - 1) * self.stride + down, (columns - 1) * self.stride + across


_LIMITS = BlockLimits()


def lanes_of(channels: int) -> int:
    """Return how many consecutive channels are read or written together."""
    return next(n for n in (4, 2, 1) if channels % n == 0)


def broken_by(
    tile: ConvolutionTile, shape: ConvolutionShape, limits: BlockLimits = _LIMITS
) -> str | None:
    """Return the rule of a shape, or the limit of a block, that a tile breaks; else None."""
    rows, columns, channels = tile.threads
    if tile.pixels[0] * rows > shape.rows or tile.pixels[1] * columns > shape.columns:
        return "larger than the output"
    if tile.channels * channels > shape.outputs:
        return "larger than the output"
    if not shape.is_depthwise and shape.inputs % (tile.inputs * tile.slices):
        return "uneven slices"
    if tile.block > limits.threads:
        return "threads of a block"
    if tile.slices == 1:
        return None
    if prod(tile.pixels) * tile.channels * tile.block > limits.floats:
        return "shared memory"
    is_even = tile.shared_lanes is not None or not _is_cut(tile, shape)
    return None if is_even else "vectors that slices do not divide"


def _is_cut(tile: ConvolutionTile, shape: ConvolutionShape) -> bool:
    """Whether blocks reach beyond the output."""
    own = (*tile.pixels, tile.channels)
    extents = (shape.rows, shape.columns, shape.outputs)
    return any(
        extent % (count * each)
        for extent, count, each in zip(extents, tile.threads, own, strict=True)
    )


def candidates(
    shape: ConvolutionShape, limits: BlockLimits = _LIMITS
) -> Iterator[tuple[ConvolutionTile, str | None]]:
    """Yield tiles for a shape, and for each the rule that it breaks, or None.

    All break one for 3 inputs and 8 outputs, for example: few output channels make blocks of few
    threads, and the input channels cannot be divided among more threads.
    """
    lanes = lanes_of(shape.outputs)
    down = [n for n in (1, 2, 4, 7) if n <= shape.rows]
    across = [n for n in (1, 2, 4, 7, 8, 14) if n <= shape.columns]
    for rows, columns, channels in product(down, across, (lanes, 2 * lanes)):
        sums = rows * columns * channels
        if (shape.per_group or shape.outputs) % channels:
            continue  # a thread reads the inputs of one group
        if sums > MOST_SUMS or rows > max(1, columns):
            continue
        for count in _thread_counts(shape.outputs // channels):
            for wide in (1, 2, 4, 8):
                yield from _slices(shape, (rows, columns), channels, (1, wide, count), limits)


def _thread_counts(groups: int) -> list[int]:
    """Return how many threads of a block may compute different channels."""
    counts = [n for n in range(4, 33) if groups % n == 0]
    return counts or [min(groups, 16)]


def _slices(
    shape: ConvolutionShape,
    pixels: tuple[int, int],
    channels: int,
    threads: tuple[int, int, int],
    limits: BlockLimits,
) -> Iterator[tuple[ConvolutionTile, str | None]]:
    read = lanes_of(shape.inputs)
    keeps = (False, True) if len(shape.window) > 1 and shape.taps > 1 else (False,)
    if shape.is_depthwise:
        keeps = (False,)
    for slices in (1,) if shape.is_depthwise else (1, 2, 4, 8, 16, 32):
        for keep_rows in keeps:
            tile = ConvolutionTile(pixels, channels, threads, slices, read, keep_rows)
            is_small = tile.block < 64 and shape.outputs * shape.columns * shape.rows > 4096
            broken = broken_by(tile, shape, limits)
            if broken is None and is_small and slices * 2 <= shape.inputs // read:
                broken = "few threads"
            yield tile, broken


def _blocks(tile: ConvolutionTile, shape: ConvolutionShape) -> int:
    own = (*tile.pixels, tile.channels)
    extents = (shape.rows, shape.columns, shape.outputs)
    return shape.images * prod(
        -(-extent // (count * each))
        for extent, count, each in zip(extents, tile.threads, own, strict=True)
    )


def _rounds(
    profile: DeviceProfile, blocks: int, threads: int, shared: int, registers: float = 0.0
) -> int:
    """Return in how many rounds the processors run all blocks, as many at a time as they hold."""
    held = profile.held_blocks(threads, shared, registers)
    return -(-blocks // (profile.processors * held))


@dataclass(frozen=True)
class _Times:
    """Times of a profile, in those of a load: of a vector of four floats by each thread of a warp.

    Attributes
    ----------
    load : float
        Seconds in which a processor loads them from the near cache.
    product : float
        A fused product of a warp.
    product_latency, latency : float
        From the begin of a fused product, and of a load from memory, to its use.
    """

    load: float
    product: float
    product_latency: float
    latency: float

    @classmethod
    @lru_cache(maxsize=64)
    def of(cls, profile: DeviceProfile) -> _Times:
        """Return the times of a profile."""
        load = 16 * profile.warp_threads * profile.processors / profile.near_rate
        product = profile.warp_threads * profile.processors / profile.fma_rate
        parts = (product, profile.fma_seconds, profile.latency_seconds)
        # So that tiles with equal times are equal, whatever was rounded.
        return cls(load, *(round(each / load, 6) for each in parts))


def estimate_of_shared(
    tile: ConvolutionTile,
    shape: ConvolutionShape,
    vectors: int,
    taps: int,
    shared: int,
    profile: DeviceProfile,
) -> float:
    """Return the seconds in which blocks compute depthwise sums that their threads share.

    Each block computes `vectors` vectors of sums of `taps` products, and has `shared` bytes of
    shared memory.
    """
    blocks, warps = _blocks(tile, shape), profile.warps(tile.block)
    turns = -(-vectors // tile.block)
    times = _Times.of(profile)
    work = -(-blocks // profile.processors) * warps * turns * 2 * taps * _DEPTHWISE
    waiting = _rounds(profile, blocks, tile.block, shared) * turns * _STEP * times.latency
    seconds = max(work, waiting) * times.load * _SLOWDOWN
    return seconds + _ADDED * profile.latency_seconds


def estimate(
    tile: ConvolutionTile, shape: ConvolutionShape, profile: DeviceProfile, shared: int = 1
) -> float:
    """Return the seconds that the kernel is estimated to take.

    A block has at least `shared` bytes of shared memory.
    """
    rows, columns = tile.pixels
    own = (rows * tile.threads[0], columns * tile.threads[1])
    channels = tile.channels * tile.threads[2]
    blocks = _blocks(tile, shape)
    is_cut = _is_cut(tile, shape)
    down, across = shape.reach(rows, columns)
    height = [1, 1, *shape.window][-2]
    if shape.is_depthwise:
        steps, pixel_loads = 1, down * across * tile.channels / tile.lanes
        multiplications = shape.taps * rows * columns * tile.channels
        weight_loads = shape.taps * tile.channels / tile.lanes
        read = 1
    else:
        steps, read = shape.inputs // (tile.inputs * tile.slices), tile.inputs
        pixel_loads = down * across if tile.keep_rows else height * rows * across
        multiplications = shape.taps * read * rows * columns * tile.channels
        weight_loads = shape.taps * read * tile.channels / tile.lanes
        if not tile.keep_rows:
            steps *= height
            pixel_loads, multiplications = pixel_loads / height, multiplications / height
            weight_loads /= height
    warp = profile.warp_threads
    apart = warp / min(warp, tile.threads[2])  # the number of different pixels that a warp reads
    loads = _PIXEL * pixel_loads * max(1.0, apart * read / warp) + _WEIGHT * weight_loads
    if shape.is_depthwise:
        loads = _DEPTHWISE * (pixel_loads + weight_loads)
    most = float(profile.registers_per_thread)
    registers = min(most, 1.1 * (rows * columns * tile.channels + read * pixel_loads + 40))
    if tile.slices > 1:
        shared = max(shared, 4 * rows * columns * tile.channels * tile.block)
    times = _Times.of(profile)
    work: float = -(-blocks // profile.processors) * profile.warps(tile.block) * steps
    work *= max(multiplications * _MULTIPLICATION * times.product * (_CUT if is_cut else 1), loads)
    work *= _KEPT_ROWS if tile.keep_rows else 1.0
    waiting = _rounds(profile, blocks, tile.block, shared, registers) * steps
    waiting *= _STEP * times.latency + _WAIT * times.product_latency * multiplications
    computed = max(work, waiting) * times.load * _SLOWDOWN
    high, wide = shape.reach(*own)
    pixel_bytes = 4 * high * wide * (channels if shape.is_depthwise else shape.inputs)
    weight_bytes = 4 * shape.taps * shape.inputs * channels
    moved = _FAR * blocks * (_PIXEL_SHARE * pixel_bytes + weight_bytes)
    moved /= profile.cache_rate
    slices = _ADDED + _SLICE * tile.slices if tile.slices > 1 else 0.0
    return profile.launch_seconds + max(computed, moved) + slices * profile.latency_seconds


__all__ = [
    "BlockLimits",
    "ConvolutionShape",
    "broken_by",
    "candidates",
    "estimate",
    "estimate_of_shared",
    "lanes_of",
]
