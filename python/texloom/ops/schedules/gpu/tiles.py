"""Tiles of convolutions for a shape, and the rules that leave some of them out.

There are thousands of tiles for a shape, so all of them together are columns of a table.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...._core import TargetValue, Tensor
from ...contraction import Contraction, is_depthwise
from ...divisors import divisors_of, vector_lanes
from .convolution import ConvolutionTile

MOST_SUMS = 64
"""The most sums of a thread."""
_SLICES = (1, 2, 4, 8, 16, 32)
_ENOUGH_SLICES = 8
_MOST_CHANNEL_THREADS = 16  # unless no fewer divide the channels
_LARGER, _UNEVEN, _THREADS, SHARED, _VECTORS, _FEW = RULES = (
    "larger than the output",
    "uneven slices",
    "threads of a block",
    "shared memory",
    "vectors that slices do not divide",
    "few threads",
)
"""The rules of a shape and the limits of a block."""


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

    def reach(self, rows: Any, columns: Any) -> tuple[Any, Any]:
        """Return the rows and columns of the input that those of the output read.

        Both may be numbers or arrays.
        """
        down, across = [1, 1, *self.window][-2:]
        return (rows - 1) * self.stride + down, (columns - 1) * self.stride + across


def lanes_of(channels: int) -> int:
    """Return how many consecutive channels are read or written together."""
    return vector_lanes(channels, 4)


def _slice_counts(inputs: int) -> list[int]:
    """Return the numbers of slices: powers of two; all divisors, too, where few of these divide."""
    lanes = lanes_of(inputs)
    steps = inputs // lanes
    if lanes == 1 or steps % _ENOUGH_SLICES == 0:
        return list(_SLICES)
    return sorted({*_SLICES, *(n for n in divisors_of(steps) if n <= _SLICES[-1])})


@dataclass(frozen=True, eq=False)
class Tiles:
    """Some tiles as columns, in the order in which equal estimates are preferred.

    Attributes
    ----------
    rows, columns, channels, wide, across, slices : array of int64
        Of each tile: its pixels, its channels, the threads of a block along columns and along
        channels, and its slices. A block has one thread along rows, if tiles are those of
        :meth:`for_shape`.
    keeps_rows : array of bool
    inputs : int
        Input channels that a thread reads together.
    down : int, optional
        Threads of a block along rows.
    """

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    channels: NDArray[np.int64]
    wide: NDArray[np.int64]
    across: NDArray[np.int64]
    slices: NDArray[np.int64]
    keeps_rows: NDArray[np.bool_]
    inputs: int
    down: int = 1

    @classmethod
    def of(cls, tile: ConvolutionTile) -> Tiles:
        """Return a single tile."""
        down, *threads = tile.threads
        numbers = (*tile.pixels, tile.channels, *threads, tile.slices)
        given = (np.array([each], "int64") for each in numbers)
        return cls(*given, np.array([tile.keep_rows]), tile.inputs, down)

    @classmethod
    def for_shape(cls, shape: ConvolutionShape) -> Tiles:
        """Return all tiles for a shape, legal or not."""
        lanes = lanes_of(shape.outputs)
        keeps = (False, True) if len(shape.window) > 1 and shape.taps > 1 else (False,)
        if shape.is_depthwise:
            keeps = (False,)
        slices = (1,) if shape.is_depthwise else _slice_counts(shape.inputs)
        # A thread reads the inputs of one group.
        wide = [n for n in (lanes, 2 * lanes) if (shape.per_group or shape.outputs) % n == 0]
        blocks = {
            n: np.array(
                list(product(_thread_counts(shape.outputs // n), (1, 2, 4, 8), slices, keeps)),
                "int64",
            )
            for n in wide
        }
        down = [n for n in (1, 2, 4, 7) if n <= shape.rows]
        across = [n for n in (1, 2, 4, 7, 8, 14) if n <= shape.columns]
        own = [
            each
            for each in product(down, across, wide)
            if prod(each) <= MOST_SUMS and each[0] <= max(1, each[1])
        ]
        count = [len(blocks[channels]) for *_, channels in own]
        pixels = np.repeat(np.array(own, "int64").reshape(-1, 3), count, axis=0).T
        made = [blocks[channels] for *_, channels in own]
        rest = np.concatenate(made).T if made else np.empty((4, 0), "int64")
        return cls(*pixels, rest[1], rest[0], rest[2], rest[3].astype(bool), lanes_of(shape.inputs))

    def __len__(self) -> int:
        """Return the number of tiles."""
        return len(self.rows)

    def __getitem__(self, number: int) -> ConvolutionTile:
        """Return a tile by its number."""
        columns = (self.rows, self.columns, self.channels, self.wide, self.across, self.slices)
        rows, pixels, channels, wide, across, slices = (int(each[number]) for each in columns)
        threads = (self.down, wide, across)
        keeps = bool(self.keeps_rows[number])
        return ConvolutionTile((rows, pixels), channels, threads, slices, self.inputs, keeps)

    def at(self, places: NDArray[Any]) -> Tiles:
        """Return some of the tiles, by their numbers."""
        columns = (self.rows, self.columns, self.channels, self.wide, self.across, self.slices)
        some = (each[places] for each in columns)
        return Tiles(*some, self.keeps_rows[places], self.inputs, self.down)

    @cached_property
    def lanes(self) -> NDArray[np.int64]:
        """Lanes of the vectors of output channels."""
        return np.where(self.channels % 4 == 0, 4, np.where(self.channels % 2 == 0, 2, 1))

    @cached_property
    def sums(self) -> NDArray[np.int64]:
        """Sums of a thread."""
        return self.rows * self.columns * self.channels

    @cached_property
    def block(self) -> NDArray[np.int64]:
        """Threads of a block."""
        return self.down * self.wide * self.across * self.slices

    @cached_property
    def block_extents(self) -> tuple[NDArray[np.int64], ...]:
        """Rows, columns and channels of a block."""
        return self.rows * self.down, self.columns * self.wide, self.channels * self.across

    def blocks(self, shape: ConvolutionShape) -> NDArray[np.int64]:
        """Return the number of blocks."""
        rows, columns, channels = self.block_extents
        counts = -(-shape.rows // rows) * -(-shape.columns // columns)
        made: NDArray[np.int64] = shape.images * counts * -(-shape.outputs // channels)
        return made

    def are_cut(self, shape: ConvolutionShape) -> NDArray[np.bool_]:
        """Return whether blocks reach beyond the output."""
        rows, columns, channels = self.block_extents
        return (shape.rows % rows + shape.columns % columns + shape.outputs % channels) > 0

    def broken(self, shape: ConvolutionShape, limits: BlockLimits) -> NDArray[np.int64]:
        """Return for each tile the number of the first of :data:`RULES` that it breaks, or -1."""
        rows, columns, channels = self.block_extents
        larger = (rows > shape.rows) | (columns > shape.columns) | (channels > shape.outputs)
        step = self.inputs * self.slices
        uneven = np.zeros(len(self), bool) if shape.is_depthwise else shape.inputs % step != 0
        is_sliced = self.slices > 1
        uses_much = is_sliced & (self.sums * self.block > limits.floats)
        is_even = ~self.are_cut(shape)
        for lanes in (4, 2, 1):  # vectors that divide evenly among the threads of all slices
            is_even |= (lanes <= self.lanes) & (self.sums // lanes % self.slices == 0)
        many = shape.outputs * shape.columns * shape.rows > 4096
        may_have_more = self.slices * 2 <= shape.inputs // self.inputs
        few = (self.block < 64) & many & may_have_more
        rules = {
            _LARGER: larger,
            _UNEVEN: uneven,
            _THREADS: self.block > limits.threads,
            SHARED: uses_much,
            _VECTORS: is_sliced & ~is_even,
            _FEW: few,
        }
        numbers = [RULES.index(each) for each in rules]
        return np.select(list(rules.values()), numbers, -1)

    def points(
        self, broken: NDArray[np.int64]
    ) -> Iterator[tuple[ConvolutionTile | None, str | None]]:
        """Yield the tiles that break no rule, and the rules that others break."""
        for number, rule in enumerate(broken.tolist()):
            yield (self[number], None) if rule < 0 else (None, RULES[rule])


def _thread_counts(groups: int) -> list[int]:
    """Return how many threads of a block may compute different channels."""
    counts = [n for n in range(4, 33) if groups % n == 0]
    if counts and counts[0] > _MOST_CHANNEL_THREADS:
        return [1, *counts]
    return counts or [min(groups, _MOST_CHANNEL_THREADS)]


__all__ = ["RULES", "SHARED", "BlockLimits", "ConvolutionShape", "Tiles", "lanes_of"]
