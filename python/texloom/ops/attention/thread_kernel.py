"""Attention by blocks of one thread, which suit processors."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count as count_from
from math import prod
from typing import Any

from ... import te, tir
from ...tir.ir_builder import IRBuilder
from ..raveling import unraveled
from .operands import Operands, Task, power, store

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

    def body(self, ib: IRBuilder, operands: Operands, task: Task) -> None:
        """Emit the statements of the kernel."""
        _Kernel(ib, operands, task, self).body()


class _Kernel:
    """The statements of a block of one thread."""

    def __init__(self, ib: IRBuilder, operands: Operands, task: Task, tile: Tile) -> None:
        self._ib, self._operands, self._task, self._tile = ib, operands, task, tile
        self._sizes, self._wide = task.sizes, operands.wide
        self._rows = min(tile.rows, self._sizes.rows)
        self._lanes = _lanes_for(self._sizes.keys, tile)
        self._size = _block_of(self._sizes.keys, self._lanes)
        self._columns = tile.vectors * self._lanes
        self._is_single = self._size == self._sizes.keys

    def body(self) -> None:
        ib, sizes, rows = self._ib, self._sizes, self._rows
        tiles = -(-sizes.rows // rows)
        tile = te.thread_axis("blockIdx.x")
        ib.scope_attr(tile, "thread_extent", prod(sizes.batch) * tiles)
        *self._batch, number = unraveled(tile, (*sizes.batch, tiles))
        first = ib.let("first", number * rows)
        last = te.const(sizes.rows - 1, "int32")
        self._row = [ib.let("row", tir.min(first + r, last)) for r in range(rows)]
        self._scores = self._own("scores", rows, self._size)
        self._sums = self._own("sums", rows, sizes.width)
        self._total = self._own("total", rows, self._lanes)
        # One element for each row, and more, so that they are whole vectors.
        self._padded = -(-rows // 4) * 4
        self._top = self._own("top", self._padded)
        self._scale = self._own("factor", self._padded)
        least = te.min_value(self._wide)  # finite, so that differences from it are not NaN
        self._for_lanes(self._padded, lambda i: store(self._top, i, least))
        for r in range(rows):
            self._for_lanes(self._lanes, lambda i, r=r: self._set(self._total, r, i, 0))
            self._for_lanes(sizes.width, lambda i, r=r: self._set(self._sums, r, i, 0))
        whole, rest = divmod(sizes.keys, self._size)
        with ib.for_range(0, whole, name="block") as block:
            self._block(ib.let("start", block * self._size), self._size)
        if rest:
            self._block(te.const(sizes.keys - rest, "int32"), rest)
        self._write()

    def _own(self, name: str, *shape: int) -> Any:
        return self._ib.allocate(self._wide, shape, name=name, scope="local")

    def _set(self, array: Any, r: Any, i: Any, value: float) -> None:
        array[r, i] = te.const(value, self._wide)

    def _for_lanes(self, extent: int, statement: Any) -> None:
        """Emit a statement for each index, in vectors of consecutive indices."""
        ib = self._ib
        lanes = next(n for n in (16, 8, 4, 2, 1) if n <= self._tile.lanes and extent % n == 0)
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
        return self._operands.read(number, self._batch, row, column)

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

                def keep(i: Any, r: int = r) -> None:
                    score = sums[r, i]
                    if self._task.scale != 1:
                        score = score * te.const(self._task.scale, self._wide)
                    for mask in self._operands.masks:
                        score = score + self._read(mask, self._row[r], start + at + i)
                    self._scores[r, at + i] = score

                self._for_lanes(columns, keep)

    def _exponentials(self, size: int) -> None:
        """Replace the scores of a block by exponentials, and scale the earlier sums down."""
        scores, lanes = self._scores, self._lanes
        whole, rest = divmod(size, lanes)
        end = size - lanes
        best = self._own("best", self._rows, lanes)
        for r in range(self._rows):
            self._each_lane(lanes, lambda i, r=r: store(best, (r, i), scores[r, end + i]))
        # The last vector, before the elements that it shares with the one before are replaced.
        tail = self._own("tail", self._rows, lanes) if rest else None
        for r in range(self._rows if rest else 0):
            self._each_lane(lanes, lambda i, r=r: store(tail, (r, i), scores[r, end + i]))

        def raise_best(r: int, at: Any) -> None:
            self._each_lane(
                lanes, lambda i: store(best, (r, i), tir.max(best[r, i], scores[r, at + i]))
            )

        self._each_vector(whole, raise_best)
        self._rescale(best)

        def replace(r: int, at: Any) -> None:
            self._each_lane(
                lanes, lambda i: store(scores, (r, at + i), self._exp(scores[r, at + i], r))
            )
            self._each_lane(lanes, lambda i: self._add_total(r, i, scores[r, at + i]))

        self._each_vector(whole, replace)

        def new(r: int, i: Any) -> Any:
            return tir.Select(i >= lanes - rest, tail[r, i], te.const(0, self._wide))

        for r in range(self._rows if rest else 0):
            self._each_lane(lanes, lambda i, r=r: store(tail, (r, i), self._exp(tail[r, i], r)))
            self._each_lane(lanes, lambda i, r=r: store(scores, (r, end + i), tail[r, i]))
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
                    lambda i, r=r, w=width: store(
                        best, (r, i), tir.max(best[r, i], best[r, w + i])
                    ),
                )
            width //= 2
        if self._is_single:
            for r in range(self._rows):
                self._top[r] = tir.max(self._top[r], best[r, 0])
            return
        self._for_lanes(padded, lambda i: store(self._scale, i, self._top[i]))
        for r in range(self._rows):
            self._top[r] = tir.max(self._top[r], best[r, 0])
        self._for_lanes(
            padded, lambda i: store(self._scale, i, te.exp(self._scale[i] - self._top[i]))
        )
        for r in range(self._rows):
            self._each_lane(
                self._lanes,
                lambda i, r=r: store(self._total, (r, i), self._total[r, i] * self._scale[r]),
            )

    def _exp(self, score: Any, r: int) -> Any:
        """Return the exponential of a score relative to the greatest of its row."""
        return power(score - self._top[r], self._wide)

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
                self._for_lanes(columns, lambda i, r=r: store(self._sums, (r, at + i), sums[r, i]))

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
            total = self._ib.let("sum", self._total[r, 0])

            def write(i: Any, r: int = r, row: Any = row, total: Any = total) -> None:
                value = self._task.share(self._sums[r, i], total)
                self._operands.write(self._batch, row, i, value)

            self._for_lanes(self._sizes.width, write)


def _lanes_for(keys: int, tile: Tile) -> int:
    """Return the lanes of a vector, of which the keys fill at least one."""
    return next(n for n in (tile.lanes, 8, 4, 2, 1) if n <= min(keys, tile.lanes))


def _block_of(keys: int, lanes: int) -> int:
    """Return the keys of a block: whole vectors; the last one may have fewer, but a vector."""
    for count in count_from(-(-keys // KEYS)):
        block = -(-keys // (count * lanes)) * lanes
        if keys <= block or (keys - 1) % block + 1 >= lanes:
            return min(block, keys)
    raise AssertionError("blocks of one vector fit")


__all__ = ["Tile"]
