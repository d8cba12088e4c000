"""Register tiles of convolutions with channels last on processors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod

from ...._core import Tensor
from ....dtypes import bytes_of
from ....profiles import DeviceProfile
from ...contraction import Contraction
from ...divisors import divisors_of
from ..channels_last.axes import along_columns
from .panels import (
    COPY_BYTES,
    LEFT_BYTES,
    PANEL_BYTES,
    SUMS_BYTES,
    block_of,
    part_of,
    stall_cycles,
)
from .registers import ANY, MANY, Registers, cycle_seconds

_START = 64
"""What the start of a thread takes, in copies of a pixel."""

_BROADCAST = 0.25
"""What it takes, in loads, to make a vector of an element by an instruction of its own."""

_MOST_VECTORS = 5
"""Vectors of channels of a tile, with any number of registers: 29 channels are 8, 8, 8, 4 and 1."""

_MOST_COPIED = 192 << 10
"""The bytes of pixels that a thread copies at most: targets allow arrays of 256 KiB."""


@dataclass(frozen=True)
class PixelTile:
    """The part of a convolution that a thread computes.

    A step reads one element of each pixel and some vectors of weights, and multiplies each element
    with each vector.

    Attributes
    ----------
    pixels : int
        Consecutive outputs in a row, or in all rows if the windows are single elements.
    vectors, lanes : int
        The number and size of vectors of consecutive output channels.
    rest : int, optional
        Further channels, fewer than `lanes`, which are shorter vectors: 10 are one of 8 and one of
        2.
    """

    pixels: int
    vectors: int
    lanes: int
    rest: int = 0

    @property
    def channels(self) -> int:
        """Output channels of the tile."""
        return self.vectors * self.lanes + self.rest

    @property
    def registers(self) -> int:
        """Vectors of channels, the shorter ones included."""
        return self.vectors + self.rest.bit_count()


def columns_of(sums: Tensor, root: Tensor) -> int:
    """Return the pixels of a row of a convolution, along which tiles are.

    Windows of single elements have all pixels in one row.
    """
    spatial = [int(extent) for extent in root.shape[2:]]
    is_flat = len(sums.shape) < len(root.shape)
    return prod(spatial) if is_flat else along_columns(spatial, spatial)[-1]


@dataclass(frozen=True)
class Pixels:
    """The facts of a convolution.

    Attributes
    ----------
    columns : int
        Pixels of a row.
    channels : int
        Output channels, of a group.
    registers : Registers
    is_depthwise : bool, optional
    pitch : int or None, optional
        Bytes from one pixel that is read to the next; by default they do not count.
    steps : int, optional
        Steps of all rows together: products of a pixel for each row, image and group.
    """

    columns: int
    channels: int
    registers: Registers = ANY
    is_depthwise: bool = False
    pitch: int | None = None
    steps: int = 1

    @classmethod
    def of(cls, sums: Tensor, root: Tensor, registers: Registers) -> Pixels | None:
        """Return the facts of sums from which `root` is computed.

        None if a group has one output and several inputs.
        """
        roles = Contraction.of(sums)
        assert roles is not None
        images, channels, *spatial = (int(extent) for extent in root.shape)
        steps = images * prod(int(axis.dom.extent) for axis in sums.op.reduce_axis)
        if roles.rows_per_group > 1:
            given = sums.op.input_tensors[0]
            pitch = bytes_of(given.dtype) * int(given.shape[1])
            own = min(channels, roles.rows_per_group)
            columns = columns_of(sums, root)
            steps *= channels // own * prod(spatial) // columns
            return cls(columns, own, registers, pitch=pitch, steps=steps)
        columns = prod(spatial) if len(sums.shape) < len(root.shape) else spatial[-1]
        if int(sums.op.input_tensors[1].shape[1]) != 1:
            return None
        return cls(columns, channels, registers, True, steps=steps * prod(spatial) // columns)


def tiles_of(facts: Pixels) -> Iterator[PixelTile]:
    """Yield the tiles whose sums are in registers: none if channels do not divide into vectors."""
    widths = _widths(facts.channels, facts.registers)
    if facts.is_depthwise and widths:
        # Two vectors: a thread copies whole cache lines, or pairs of them.
        least = min(each.registers / each.channels for each in widths)
        widths = [each for each in widths if each.registers / each.channels < least * 1.25]
        widths = [min(widths, key=lambda each: (abs(each.registers - 2), -each.channels))]
    for width in widths:
        most = min(facts.columns, facts.registers.most_rows(width.registers))
        for pixels in range(1, most + 1):
            yield replace(width, pixels=pixels)


def seconds(tile: PixelTile, facts: Pixels, profile: DeviceProfile) -> float:
    """Return the seconds that a convolution is estimated to take, with weights in the cache."""
    # Two products in a cycle.
    cycles = facts.steps * _cost(tile, facts) / 2
    return profile.launch_seconds + cycles * cycle_seconds(profile)


def _widths(channels: int, registers: Registers) -> list[PixelTile]:
    """Return the tiles of one pixel whose channels divide all channels.

    Vectors may be shorter than the others at the end of a tile, or of all channels, if the
    registers have tails.
    """
    most = registers.bytes // 4
    if not registers.has_tails:
        lanes = next((n for n in (16, 8, 4, 2) if n <= most and channels % n == 0), 0)
        return [
            PixelTile(1, n, lanes) for n in (1, 2, 3, 4) if lanes and channels // lanes % n == 0
        ]
    found = []
    for own in divisors_of(channels):
        lanes = min(most, 1 << (own.bit_length() - 1))
        tile = PixelTile(1, own // lanes, lanes, own % lanes)
        if lanes > 1 and tile.registers <= _MOST_VECTORS:
            found.append(tile)
    return found


def _cost(tile: PixelTile, facts: Pixels) -> float:
    """Return the cost of a step for all tiles of a row: products, or loads if they take longer.

    Tiles that reach beyond the row compute unused elements, and test for them.
    """
    loads = tile.pixels + tile.registers
    if facts.registers.count < MANY:
        loads += tile.pixels * _BROADCAST
    step = max(tile.pixels * tile.registers, loads) + 1
    step += 0 if facts.pitch is None else 2 * stall_cycles(tile.pixels, facts.pitch)
    count = -(-facts.columns // tile.pixels) * (facts.channels // tile.channels)
    return count * (step + (1 if facts.columns % tile.pixels else 0))


@dataclass(frozen=True)
class PixelBlock:
    """The pixels that a thread computes, tile after tile, with the weights of some channels.

    Attributes
    ----------
    rows : int
        Rows of pixels; 1 if there is one row, or if windows are single elements.
    tiles : int
        Tiles along a row.
    steps : int or None
        Input channels for which the weights of one element of the windows stay in the cache while
        all tiles read them: the sums of a block are in memory between. None if sums are in
        registers for all steps.
    """

    rows: int
    tiles: int
    steps: int | None = None

    @classmethod
    def of(cls, sums: Tensor, root: Tensor, tile: PixelTile, has_parts: bool) -> PixelBlock | None:
        """Return the block for sums from which `root` is computed; None for single tiles.

        `has_parts` is as for :func:`block_for`.
        """
        roles = Contraction.of(sums)
        assert roles is not None
        _, _, *spatial = (int(extent) for extent in root.shape)
        if roles.rows_per_group == 1:
            return cls._of_depthwise(sums, tuple(spatial), tile)
        if len(sums.shape) < len(root.shape):
            spatial = [prod(spatial)]
        spatial = along_columns(spatial, spatial)
        channels, *taps = (int(axis.dom.extent) for axis in sums.op.reduce_axis)
        return block_for(tuple(spatial[-2:]), channels, prod(taps), tile, has_parts)

    @classmethod
    def _of_depthwise(
        cls, sums: Tensor, spatial: tuple[int, ...], tile: PixelTile
    ) -> PixelBlock | None:
        """Return the block whose thread copies the fewest pixels for each sum, or None."""
        given = [int(extent) for extent in sums.op.input_tensors[0].shape[2:]]
        given = [1, *given] if len(spatial) == 1 else given[len(spatial) - 2 :]
        kernel = [1, *(int(axis.dom.extent) for axis in sums.op.reduce_axis)][-2:]
        rows, columns = (1, *spatial)[-2:]
        return depthwise_block_for(
            (rows, columns), (given[0], prod(given[1:])), (kernel[0], kernel[1]), tile
        )


@lru_cache(maxsize=1024)
def depthwise_block_for(
    pixels: tuple[int, int], given: tuple[int, int], kernel: tuple[int, int], tile: PixelTile
) -> PixelBlock | None:
    """Return the block of a depthwise convolution, whose thread copies the pixels that it reads.

    None if a thread would copy too much, since a tile does not divide long rows.

    Parameters
    ----------
    pixels, given, kernel : (int, int)
        Rows and columns of the result, of the padded pixels and of a window.
    tile : PixelTile
    """
    across = -(-pixels[1] // tile.pixels)
    is_even = pixels[1] % tile.pixels == 0
    found = []
    for rows in divisors_of(pixels[0]):
        for tiles in divisors_of(across) if is_even else [across]:
            columns = min(tiles * tile.pixels, pixels[1])
            copied = prod(
                whole if own == all_ else window + (own - 1) * (whole - window) // (all_ - 1)
                for own, all_, whole, window in zip(
                    (rows, columns), pixels, given, kernel, strict=True
                )
            )
            bytes_ = copied * tile.channels * 4
            cost = (copied + _START) / (rows * columns)
            found.append((max(0, bytes_ - COPY_BYTES), cost, PixelBlock(rows, tiles)))
    beyond, _, block = min(found, key=lambda each: each[:2])
    return None if beyond > _MOST_COPIED - COPY_BYTES else block


@lru_cache(maxsize=1024)
def block_for(
    pixels: tuple[int, ...], channels: int, taps: int, tile: PixelTile, has_parts: bool = True
) -> PixelBlock | None:
    """Return the block for images of so many rows, if any, and columns; None for single tiles.

    Parameters
    ----------
    pixels : tuple of int
    channels, taps : int
        The steps of a sum.
    tile : PixelTile
    has_parts : bool, optional
        Whether a block may compute its sums for parts of the steps. OpenCL's compilers do not keep
        sums in registers that are in memory between parts: windows of 3 x 3 then take 1.2 to 1.7
        times as long as with single tiles (PoCL, AVX-512).
    """
    panel = tile.channels * 4
    across = -(-pixels[-1] // tile.pixels)
    # Weights of a whole window pay only if they exceed the cache by far: sums are many then.
    limit = PANEL_BYTES * 3 // 2 if taps == 1 else PANEL_BYTES * 4
    is_even = pixels[-1] % tile.pixels == 0
    steps = None
    # The sums of an uneven row of tiles, which is a block, may be too many to be in memory.
    if has_parts and channels * taps * panel > limit and (is_even or len(pixels) > 1):
        steps = part_of(channels, PANEL_BYTES // panel) or channels
    elif taps > 1:
        return None
    most = max(1, LEFT_BYTES // ((steps or channels) * 4 * tile.pixels))
    if steps is not None:
        most = max(1, min(most, SUMS_BYTES // (tile.pixels * panel)))
    if across > most or len(pixels) == 1:
        return PixelBlock(1, block_of(across, most) if is_even else across, steps)
    rows = next(n for n in range(most // across, 0, -1) if pixels[0] % n == 0)
    return PixelBlock(rows, across, steps)


__all__ = [
    "PixelBlock",
    "PixelTile",
    "Pixels",
    "block_for",
    "columns_of",
    "depthwise_block_for",
    "seconds",
    "tiles_of",
]
