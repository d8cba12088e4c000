"""Attention in one kernel, without a matrix of scores in memory.

A block of threads computes some rows of the result. It goes through the keys in blocks: it computes
the scores of a block of keys, their exponentials relative to the greatest score so far, and their
terms of the sums. If a block of keys has a greater score, the previous sums are scaled down
("online softmax", Milakov and Gimelshein, 2018).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from ... import te, tir
from ..._core import Tensor
from ...extents import shape_of
from ..broadcast import broadcast_shape
from ..precision import sum_dtype
from ..raveling import unraveled
from .heads import Heads, place, split_shape

ROWS = 8
"""Rows of a block."""

KEYS = 64
"""Keys of a block."""

LANES = 8
"""The number of keys, or of elements of a value, in a vector."""

COLUMNS = 2 * LANES
"""The number of columns of each row whose sums are in registers."""


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
    sizes = _Sizes(batch, rows, depth, keys, width, scale, heads, is_masked)
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
        self._rows = min(ROWS, sizes.rows)

    def body(self) -> Any:
        ib, sizes, rows = self._ib, self._sizes, self._rows
        tiles = -(-sizes.rows // rows)
        tile = te.thread_axis("blockIdx.x")
        ib.scope_attr(tile, "thread_extent", prod(sizes.batch) * tiles)
        *self._batch, number = unraveled(tile, (*sizes.batch, tiles))
        first = ib.let("first", number * rows)
        last = te.const(sizes.rows - 1, "int32")
        self._row = [ib.let("row", tir.min(first + r, last)) for r in range(rows)]
        self._scores = self._own("scores", rows, KEYS)
        self._sums = self._own("sums", rows, sizes.width)
        self._top = self._own("top", rows)
        self._total = self._own("total", rows, LANES)
        self._scale = self._own("factor", rows)
        least = te.min_value(self._wide)  # finite, so that differences from it are not NaN
        for r in range(rows):
            self._top[r] = least
            self._for_lanes(LANES, lambda i, r=r: self._set(self._total, r, i, 0))
            self._for_lanes(sizes.width, lambda i, r=r: self._set(self._sums, r, i, 0))
        self._pieces(sizes.keys, KEYS, self._block)
        self._write()
        return ib.get()

    def _own(self, name: str, *shape: int) -> Any:
        return self._ib.allocate(self._wide, shape, name=name, scope="local")

    def _set(self, array: Any, r: Any, i: Any, value: float) -> None:
        array[r, i] = te.const(value, self._wide)

    def _for_lanes(self, extent: int, statement: Any) -> None:
        """Emit a statement for each index, in vectors of consecutive indices."""
        ib = self._ib
        lanes = next(n for n in (LANES, 4, 2, 1) if extent % n == 0)
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
        ib = self._ib
        self._pieces(size, COLUMNS, lambda at, columns: self._score(start, at, columns))
        lanes = LANES if size % LANES == 0 else 1
        with ib.new_scope():
            best = self._own("best", LANES)
            for r in range(self._rows):
                self._exponentials(r, best, size, lanes)
        self._pieces(
            self._sizes.width,
            COLUMNS,
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
        for length in (rest - rest % LANES, rest % LANES):
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

    def _exponentials(self, r: int, best: Any, size: int, lanes: int) -> None:
        """Replace the scores of a row by exponentials; store the factor that rescales the sums."""
        ib, scores = self._ib, self._scores
        steps = size // lanes
        for step in range(steps):
            self._each_lane(
                lanes,
                lambda i, step=step: _store(
                    best, i, tir.max(best[i], scores[r, step * lanes + i]) if step else scores[r, i]
                ),
            )
        top = self._top[r]
        for i in range(lanes):
            top = ib.let("top", tir.max(top, best[i]))
        self._scale[r] = te.exp(self._top[r] - top)
        self._top[r] = top
        self._each_lane(
            LANES, lambda i: _store(self._total, (r, i), self._total[r, i] * self._scale[r])
        )
        for step in range(steps):

            def replace(i: Any, step: int = step) -> None:
                scores[r, step * lanes + i] = te.exp(scores[r, step * lanes + i] - top)

            def add(i: Any, step: int = step) -> None:
                self._total[r, i] = self._total[r, i] + scores[r, step * lanes + i]

            self._each_lane(lanes, replace)
            self._each_lane(lanes, add)

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
                scale = self._scale[r]
                self._for_lanes(
                    columns,
                    lambda i, r=r, scale=scale: _store(sums, (r, i), self._sums[r, at + i] * scale),
                )
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
            total = self._total[r, 0]
            for i in range(1, LANES):
                total = total + self._total[r, i]
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


__all__ = ["attention"]
