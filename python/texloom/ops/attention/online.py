"""Attention in one kernel, without a matrix of scores in memory.

A block of threads computes some rows of the result. It goes through the keys in blocks: it computes
the scores of a block of keys, their exponentials relative to the greatest score so far, and their
terms of the sums. If a block of keys has a greater score, the previous sums are scaled down
("online softmax", Milakov and Gimelshein, 2018).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count as count_from
from math import prod
from typing import Any

from ... import te, tir
from ..._core import Tensor
from ...extents import shape_of
from ..broadcast import broadcast_shape
from ..normalization.softmax import LEAST_EXPONENT
from ..precision import sum_dtype
from ..raveling import unraveled
from .heads import Heads, place, split_shape

KEYS = 512
"""The most keys of a block: the scores of its rows stay in the nearest cache."""


@dataclass(frozen=True)
class Tile:
    """What a thread computes at once.

    Attributes
    ----------
    rows : int
        Rows of a block.
    vectors, lanes : int
        The number and size of vectors of keys, or of elements of a value, whose sums are in
        registers for each row.
    """

    rows: int = 8
    vectors: int = 2
    lanes: int = 8


def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    *,
    scale: float = 1.0,
    heads: Heads | None = None,
    is_merged: bool = False,
    is_masked: bool = False,
    tile: Tile | None = None,
) -> Tensor:
    """Return ``softmax(scale * query @ key + mask) @ value``.

    Parameters
    ----------
    query : Tensor
        ``[..., M, D]`` of float32, float16 or float64.
    key : Tensor
        ``[..., D, N]``: the keys are columns.
    value : Tensor
        ``[..., N, E]``. The leading axes of `query`, `key` and `value` are broadcast.
    mask : Tensor, optional
        Broadcast to ``[..., M, N]``. Minus infinity hides a key; a row without keys is NaN.
    scale : float
    heads : Heads, optional
        `query`, `key`, `value` and the result are then as for :func:`.scores` and
        :func:`.weighted_values`.
    is_merged : bool
        Whether the heads of the result are in its last axis.
    is_masked : bool
        Whether a row without keys is 0.
    tile : Tile

    Returns
    -------
    Tensor
        ``[..., M, E]`` of the dtype of `query`. Elements of 16 bits are computed in float32, and
        rounded once.
    """
    queries, columns, values = (shape_of(each) for each in (query, key, value))
    if heads is not None:
        queries, values = split_shape(queries, heads.query), split_shape(values, heads.key)
    (*_, rows, depth), (*_, keys, width) = queries, values
    if (depth, keys) != columns[-2:]:
        raise ValueError(
            f"{query}, {key} and {value} are not queries [..., M, D], keys [..., D, N] and "
            "values [..., N, E]"
        )
    if heads is not None:
        batch = queries[:2]
    else:
        batch = broadcast_shape(queries[:-2], columns[:-2], values[:-2])
    shape = (*batch, rows, width)
    if heads is not None and is_merged:
        shape = (batch[0], rows, heads.query * width)
    sizes = _Sizes(batch, rows, depth, keys, width, scale, heads, is_masked, tile or Tile())
    inputs = [query, key, value, *([mask] if mask is not None else [])]
    return te.extern(
        shape,
        inputs,
        lambda ins, outs: _Kernel(ins, outs, sizes).body(),
        name="attention",
        dtype=query.dtype,
    )


@dataclass(frozen=True)
class _Sizes:
    batch: tuple[int, ...]
    rows: int
    depth: int
    keys: int
    width: int
    scale: float
    heads: Heads | None
    is_masked: bool
    tile: Tile

    @property
    def lanes(self) -> int:
        """Lanes of a vector, of which the keys fill at least one."""
        return next(
            n for n in (self.tile.lanes, 8, 4, 2, 1) if n <= min(self.keys, self.tile.lanes)
        )

    @property
    def block(self) -> int:
        """Keys of a block: whole vectors; the last block may have fewer, but at least a vector."""
        lanes = self.lanes
        for count in count_from(-(-self.keys // KEYS)):
            block = -(-self.keys // (count * lanes)) * lanes
            if self.keys <= block or (self.keys - 1) % block + 1 >= lanes:
                return min(block, self.keys)
        raise AssertionError("blocks of one vector fit")


class _Kernel:
    """The statements of a block of one thread, which suits processors."""

    def __init__(self, inputs: Sequence[Any], outputs: Sequence[Any], sizes: _Sizes) -> None:
        self._sizes = sizes
        self._shapes = [tuple(int(extent) for extent in each.shape) for each in inputs]
        self._wide = sum_dtype(inputs[0].dtype)
        self._ib = ib = tir.ir_builder.create()
        self._inputs = [ib.buffer_ptr(each) for each in inputs]
        self._output = ib.buffer_ptr(outputs[0])
        self._output_shape = tuple(int(extent) for extent in outputs[0].shape)
        self._rows = min(sizes.tile.rows, sizes.rows)
        self._lanes = sizes.lanes
        self._columns = sizes.tile.vectors * self._lanes
        self._is_single = sizes.block == sizes.keys

    def body(self) -> Any:
        ib, sizes, rows = self._ib, self._sizes, self._rows
        tiles = -(-sizes.rows // rows)
        tile = te.thread_axis("blockIdx.x")
        ib.scope_attr(tile, "thread_extent", prod(sizes.batch) * tiles)
        *self._batch, number = unraveled(tile, (*sizes.batch, tiles))
        first = ib.let("first", number * rows)
        last = te.const(sizes.rows - 1, "int32")
        self._row = [ib.let("row", tir.min(first + r, last)) for r in range(rows)]
        self._scores = self._own("scores", rows, sizes.block)
        self._sums = self._own("sums", rows, sizes.width)
        self._total = self._own("total", rows, self._lanes)
        # One element for each row, and more, so that they are whole vectors.
        self._padded = -(-rows // 4) * 4
        self._top = self._own("top", self._padded)
        self._scale = self._own("factor", self._padded)
        least = te.min_value(self._wide)  # finite, so that differences from it are not NaN
        self._for_lanes(self._padded, lambda i: _store(self._top, i, least))
        for r in range(rows):
            self._for_lanes(self._lanes, lambda i, r=r: self._set(self._total, r, i, 0))
            self._for_lanes(sizes.width, lambda i, r=r: self._set(self._sums, r, i, 0))
        whole, rest = divmod(sizes.keys, sizes.block)
        with ib.for_range(0, whole, name="block") as block:
            self._block(ib.let("start", block * sizes.block), sizes.block)
        if rest:
            self._block(te.const(sizes.keys - rest, "int32"), rest)
        self._write()
        return ib.get()

    def _own(self, name: str, *shape: int) -> Any:
        return self._ib.allocate(self._wide, shape, name=name, scope="local")

    def _set(self, array: Any, r: Any, i: Any, value: float) -> None:
        array[r, i] = te.const(value, self._wide)

    def _for_lanes(self, extent: int, statement: Any) -> None:
        """Emit a statement for each index, in vectors of consecutive indices."""
        ib = self._ib
        lanes = next(n for n in (16, 8, 4, 2, 1) if n <= self._sizes.tile.lanes and extent % n == 0)
        if lanes == 1:
            with ib.for_range(0, extent, name="i") as i:
                statement(i)
            return
        with (
            ib.for_range(0, extent // lanes, name="i", kind="unroll") as i,
            ib.for_range(0, lanes, name="lane", kind="vectorize") as lane,
        ):
            statement(i * lanes + lane)

    def _read(self, number: int, row: Any, column: Any) -> Any:
        """Return an element of an input whose axes may be broadcast."""
        shape, heads = self._shapes[number], self._sizes.heads
        index = (*self._batch, row, column)
        if heads is not None and number < 3:
            batch, head = self._batch
            if number == 0:
                index = place(shape, heads.query, *index)
            else:
                index = place(shape, heads.key, batch, heads.of_key(head), row, column)
        index = index[len(index) - len(shape) :]
        index = [0 if extent == 1 else i for i, extent in zip(index, shape, strict=True)]
        return self._inputs[number][tuple(index)].astype(self._wide)

    def _block(self, start: Any, size: int) -> None:
        """Add the terms of a block of keys to the sums."""
        lanes = self._lanes
        self._pieces(
            size - size % lanes, self._columns, lambda at, columns: self._score(start, at, columns)
        )
        if size % lanes:  # the last vector has keys of the one before again
            self._score(start, te.const(size - lanes, "int32"), lanes)
        with self._ib.new_scope():
            self._exponentials(size)
        self._pieces(
            self._sizes.width,
            self._columns,
            lambda at, columns: self._accumulate(start, size, at, columns),
        )

    def _pieces(self, extent: int, size: int, statement: Any) -> None:
        """Emit ``statement(begin, length)`` for pieces of `size`, then whole vectors, then the end.

        The sums of a piece are in registers.
        """
        whole, rest = divmod(extent, size)
        if whole:
            with self._ib.for_range(0, whole, name="piece") as piece:
                statement(self._ib.let("begin", piece * size), size)
        for length in (rest - rest % self._lanes, rest % self._lanes):
            if length:
                statement(te.const(extent - rest, "int32"), length)
                rest -= length

    def _score(self, start: Any, at: Any, columns: int) -> None:
        ib, sizes = self._ib, self._sizes
        with ib.new_scope():
            sums = self._own("products", self._rows, columns)
            for r in range(self._rows):
                self._for_lanes(columns, lambda i, r=r: self._set(sums, r, i, 0))
            with ib.for_range(0, sizes.depth, name="d") as d:
                for r in range(self._rows):
                    factor = ib.let("q", self._read(0, self._row[r], d))

                    def add(i: Any, r: int = r, factor: Any = factor) -> None:
                        sums[r, i] = sums[r, i] + factor * self._read(1, d, start + at + i)

                    self._for_lanes(columns, add)
            for r in range(self._rows):

                def store(i: Any, r: int = r) -> None:
                    score = sums[r, i]
                    if sizes.scale != 1:
                        score = score * te.const(sizes.scale, self._wide)
                    if len(self._inputs) > 3:
                        score = score + self._read(3, self._row[r], start + at + i)
                    self._scores[r, at + i] = score

                self._for_lanes(columns, store)

    def _exponentials(self, size: int) -> None:
        """Replace the scores of a block by exponentials, and scale the earlier sums down."""
        scores, lanes = self._scores, self._lanes
        whole, rest = divmod(size, lanes)
        end = size - lanes
        best = self._own("best", self._rows, lanes)
        for r in range(self._rows):
            self._each_lane(lanes, lambda i, r=r: _store(best, (r, i), scores[r, end + i]))
        # The last vector, before the elements that it shares with the one before are replaced.
        tail = self._own("tail", self._rows, lanes) if rest else None
        for r in range(self._rows if rest else 0):
            self._each_lane(lanes, lambda i, r=r: _store(tail, (r, i), scores[r, end + i]))

        def raise_best(r: int, at: Any) -> None:
            self._each_lane(
                lanes, lambda i: _store(best, (r, i), tir.max(best[r, i], scores[r, at + i]))
            )

        self._each_vector(whole, raise_best)
        self._rescale(best)

        def replace(r: int, at: Any) -> None:
            self._each_lane(
                lanes, lambda i: _store(scores, (r, at + i), self._exp(scores[r, at + i], r))
            )
            self._each_lane(lanes, lambda i: self._add_total(r, i, scores[r, at + i]))

        self._each_vector(whole, replace)

        def new(r: int, i: Any) -> Any:
            return tir.Select(i >= lanes - rest, tail[r, i], te.const(0, self._wide))

        for r in range(self._rows if rest else 0):
            self._each_lane(lanes, lambda i, r=r: _store(tail, (r, i), self._exp(tail[r, i], r)))
            self._each_lane(lanes, lambda i, r=r: _store(scores, (r, end + i), tail[r, i]))
            self._each_lane(lanes, lambda i, r=r: self._add_total(r, i, new(r, i)))

    def _each_vector(self, count: int, statement: Any) -> None:
        """Emit ``statement(row, first element)`` for the vectors of all rows."""
        with self._ib.for_range(0, count, name="vector") as vector:
            at = self._ib.let("at", vector * self._lanes)
            for r in range(self._rows):
                statement(r, at)

    def _rescale(self, best: Any) -> None:
        """Set the greatest score of each row, and scale the sums of the exponentials down."""
        padded, width = self._padded, self._lanes // 2
        while width:
            for r in range(self._rows):
                self._each_lane(
                    width,
                    lambda i, r=r, w=width: _store(
                        best, (r, i), tir.max(best[r, i], best[r, w + i])
                    ),
                )
            width //= 2
        if self._is_single:
            for r in range(self._rows):
                self._top[r] = tir.max(self._top[r], best[r, 0])
            return
        self._for_lanes(padded, lambda i: _store(self._scale, i, self._top[i]))
        for r in range(self._rows):
            self._top[r] = tir.max(self._top[r], best[r, 0])
        self._for_lanes(
            padded, lambda i: _store(self._scale, i, te.exp(self._scale[i] - self._top[i]))
        )
        for r in range(self._rows):
            self._each_lane(
                self._lanes,
                lambda i, r=r: _store(self._total, (r, i), self._total[r, i] * self._scale[r]),
            )

    def _exp(self, score: Any, r: int) -> Any:
        """Return the exponential of a score relative to the greatest of its row."""
        least = te.const(LEAST_EXPONENT[self._wide], self._wide)
        difference = score - self._top[r]
        is_small = difference < least
        value = te.exp(tir.Select(is_small, least, difference))
        return tir.Select(is_small, te.const(0, self._wide), value)

    def _add_total(self, r: int, i: Any, value: Any) -> None:
        self._total[r, i] = self._total[r, i] + value

    def _each_lane(self, lanes: int, statement: Any) -> None:
        if lanes == 1:
            statement(0)
            return
        with self._ib.for_range(0, lanes, name="lane", kind="vectorize") as lane:
            statement(lane)

    def _accumulate(self, start: Any, size: int, at: Any, columns: int) -> None:
        ib = self._ib
        with ib.new_scope():
            sums = self._own("part", self._rows, columns)
            for r in range(self._rows):

                def begin(i: Any, r: int = r) -> None:
                    before = self._sums[r, at + i]
                    sums[r, i] = before if self._is_single else before * self._scale[r]

                self._for_lanes(columns, begin)
            with ib.for_range(0, size, name="j") as j:
                for r in range(self._rows):
                    factor = ib.let("p", self._scores[r, j])

                    def add(i: Any, r: int = r, factor: Any = factor) -> None:
                        sums[r, i] = sums[r, i] + factor * self._read(2, start + j, at + i)

                    self._for_lanes(columns, add)
            for r in range(self._rows):
                self._for_lanes(columns, lambda i, r=r: _store(self._sums, (r, at + i), sums[r, i]))

    def _write(self) -> None:
        """Divide by the sums of the exponentials; rows beyond the last repeat the last row."""
        for r, row in enumerate(self._row):
            width = self._lanes // 2
            while width:
                self._each_lane(
                    width,
                    lambda i, r=r, w=width: self._add_total(r, i, self._total[r, w + i]),
                )
                width //= 2
            total = self._total[r, 0]
            if self._sizes.is_masked:
                one = te.const(1, self._wide)
                total = te.if_then_else(total.equal(te.const(0, self._wide)), one, total)
            divisor = self._ib.let("divisor", total)

            def store(i: Any, r: int = r, row: Any = row, divisor: Any = divisor) -> None:
                value = self._sums[r, i] / divisor
                self._output[self._place(row, i)] = value.astype(self._output.dtype)

            self._for_lanes(self._sizes.width, store)

    def _place(self, row: Any, column: Any) -> tuple[Any, ...]:
        """Return the indices of an element of the output."""
        index = (*self._batch, row, column)
        heads, shape = self._sizes.heads, self._output_shape
        return index if heads is None else place(shape, heads.query, *index)


def _store(array: Any, index: Any, value: Any) -> None:
    array[index] = value


__all__ = ["Tile", "attention"]
