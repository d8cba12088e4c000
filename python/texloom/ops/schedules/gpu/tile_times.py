"""Estimated times of convolutions.

The estimate is the maximum of three limits: multiplications and loads of a processor, the latency
of each step of a thread, and the bytes that blocks read from the common cache. What a device can do
is in its profile; how well the kernels use it is here, fitted to 1,229 kernels of the layers of
ResNet-50 and MobileNetV2, measured on an NVIDIA H200: half of the estimates are within 13 % of the
measured times.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....profiles import DeviceProfile
from .tiles import ConvolutionShape, Tiles

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


def _rounds(
    profile: DeviceProfile, blocks: Any, threads: Any, shared: Any, registers: Any = 0.0
) -> Any:
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


def seconds_of_shared(
    tiles: Tiles,
    shape: ConvolutionShape,
    vectors: NDArray[np.int64],
    taps: int,
    shared: NDArray[np.int64],
    profile: DeviceProfile,
) -> NDArray[np.float64]:
    """Return the seconds in which blocks compute depthwise sums that their threads share.

    Each block computes `vectors` vectors of sums of `taps` products, and has `shared` bytes of
    shared memory.
    """
    blocks, warps = tiles.blocks(shape), profile.warps(tiles.block)
    turns = -(-vectors // tiles.block)
    times = _Times.of(profile)
    work = -(-blocks // profile.processors) * warps * turns * 2 * taps * _DEPTHWISE
    waiting = _rounds(profile, blocks, tiles.block, shared) * turns * _STEP * times.latency
    seconds = np.maximum(work, waiting) * times.load * _SLOWDOWN
    made: NDArray[np.float64] = seconds + _ADDED * profile.latency_seconds
    return made


def seconds_of(
    tiles: Tiles,
    shape: ConvolutionShape,
    profile: DeviceProfile,
    shared: NDArray[np.int64] | int = 1,
) -> NDArray[np.float64]:
    """Return the seconds that kernels of tiles are estimated to take.

    A block has at least `shared` bytes of shared memory.
    """
    rows, columns, channels = tiles.rows, tiles.columns, tiles.channels
    keeps = tiles.keeps_rows
    blocks = tiles.blocks(shape)
    down, across = shape.reach(rows, columns)
    height = [1, 1, *shape.window][-2]
    if shape.is_depthwise:
        steps, pixel_loads = 1, down * across * channels / tiles.lanes
        multiplications = shape.taps * rows * columns * channels
        weight_loads = shape.taps * channels / tiles.lanes
        read = 1
    else:
        steps, read = shape.inputs // (tiles.inputs * tiles.slices), tiles.inputs
        # Without its pixels of all rows, a thread takes a step for each row of the filter.
        part = np.where(keeps, 1, height)
        steps = steps * part
        pixel_loads = np.where(keeps, down * across, height * rows * across) / part
        multiplications = shape.taps * read * rows * columns * channels / part
        weight_loads = shape.taps * read * channels / tiles.lanes / part
    warp = profile.warp_threads
    apart = warp / np.minimum(warp, tiles.across)  # the different pixels that a warp reads
    loads = _PIXEL * pixel_loads * np.maximum(1.0, apart * read / warp) + _WEIGHT * weight_loads
    if shape.is_depthwise:
        loads = _DEPTHWISE * (pixel_loads + weight_loads)
    most = float(profile.registers_per_thread)
    registers = np.minimum(most, 1.1 * (tiles.sums + read * pixel_loads + 40))
    kept = np.where(tiles.slices > 1, 4 * tiles.sums * tiles.block, 0)
    times = _Times.of(profile)
    cut = np.where(tiles.are_cut(shape), _CUT, 1)
    work = -(-blocks // profile.processors) * profile.warps(tiles.block) * steps
    work = work * np.maximum(multiplications * _MULTIPLICATION * times.product * cut, loads)
    work = work * np.where(keeps, _KEPT_ROWS, 1.0)
    waiting = _rounds(profile, blocks, tiles.block, np.maximum(shared, kept), registers) * steps
    waiting = waiting * (_STEP * times.latency + _WAIT * times.product_latency * multiplications)
    computed = np.maximum(work, waiting) * times.load * _SLOWDOWN
    own_rows, own_columns, own_channels = tiles.block_extents
    high, wide = shape.reach(own_rows, own_columns)
    pixel_bytes = 4 * high * wide * (own_channels if shape.is_depthwise else shape.inputs)
    weight_bytes = 4 * shape.taps * shape.inputs * own_channels
    moved = _FAR * blocks * (_PIXEL_SHARE * pixel_bytes + weight_bytes) / profile.cache_rate
    slices = np.where(tiles.slices > 1, _ADDED + _SLICE * tiles.slices, 0.0)
    made: NDArray[np.float64] = (
        profile.launch_seconds + np.maximum(computed, moved) + slices * profile.latency_seconds
    )
    return made


__all__ = ["seconds_of", "seconds_of_shared"]
