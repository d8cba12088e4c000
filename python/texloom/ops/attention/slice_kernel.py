"""Attention of few queries and many keys, as in decoding: blocks share out the keys.

A block computes a slice of the keys for some queries, whose heads share these keys. It goes through
the slice in parts: a thread computes the scores of some keys, several threads the exponentials of a
query, relative to its greatest score so far, and a thread adds some elements of the values to its
sums. What a slice leaves is its greatest scores, the sums of its exponentials, and the sums of its
values, in global memory. The last block of the queries to be done, or a second kernel, adds up the
slices in their order, so that equal inputs give equal bits ("flash decoding", Dao et al., 2023).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

from ... import te, tir
from ...tir.ir_builder import IRBuilder
from ..divisors import vector_lanes
from ..raveling import unraveled
from .fragment_products import opened_if
from .kept_slices import LANES, KeptSlices
from .operands import Operands, Queries, Sizes, Task, power, store
from .pieces import in_pieces, piece_of
from .row_values import combined

_WIDE = "float32"
_MOST_OF_ROW = 32
_LOADED_BYTES = 128  # that a thread has loaded before it waits for them
_PRODUCTS = 256  # of queries and keys in a row, which bounds the source


@dataclass(frozen=True)
class KeySlices:
    """How blocks share out the keys.

    Attributes
    ----------
    rows : int
        Queries of a block, a power of two.
    threads : int
        Threads of a block, a power of two, at least as many as rows and as vectors of a value.
    keys : int
        Keys of a part, a multiple of the threads.
    parts : int
        Parts of a slice. The last slice may end after the last key.
    takes_tickets : bool
        Whether the last block of some queries adds up their slices. Else a second kernel does.
    """

    rows: int
    threads: int
    keys: int
    parts: int
    takes_tickets: bool

    @property
    def threads_of_row(self) -> int:
        """Threads that compute the exponentials of a query."""
        return min(self.threads // self.rows, _MOST_OF_ROW)

    def slices(self, sizes: Sizes) -> int:
        """Return into how many slices the keys are divided."""
        return -(-sizes.keys // (self.keys * self.parts))

    def at_once(self, sizes: Sizes) -> int:
        """Return of how many keys the threads read values at once."""
        return self.threads // _columns(sizes)

    def shared(self, sizes: Sizes) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the arrays of float32 in shared memory, by name."""
        return {
            "queries": (self.rows, sizes.depth),
            # An array each: they would need a barrier more if one replaced the other.
            "scores": (self.rows, self.keys),
            "weights": (self.rows, self.keys),
            "tops": (self.rows, self.threads_of_row),
            "factors": (self.rows,),
            "totals": (self.rows, self.threads_of_row),
            "terms": (self.at_once(sizes), self.rows, _columns(sizes) * LANES),
        }

    def shared_bytes(self, sizes: Sizes) -> int:
        """Return the bytes of shared memory."""
        return 4 * sum(map(prod, self.shared(sizes).values()))

    @property
    def registers(self) -> int:
        """Return registers of a thread that hold elements, where it has the most of them."""
        own, loaded = self.keys // self.threads, _LOADED_BYTES // 4
        scores = self.rows * own + 2 * loaded  # halves are converted
        return self.rows * LANES + max(scores, self.keys // self.threads_of_row, 2 * loaded)

    def vectors_of_keys(self, sizes: Sizes, element_bytes: int) -> int:
        """Return the vectors of each of its keys that a thread loads before it uses them."""
        own, lanes = self.keys // self.threads, vector_lanes(sizes.depth)
        most = min(_LOADED_BYTES // element_bytes, _PRODUCTS // self.rows) // (own * lanes)
        return piece_of(sizes.depth // lanes, most)

    def values_of_piece(self, sizes: Sizes, element_bytes: int) -> int:
        """Return the vectors of values that a thread loads before it uses them."""
        turns = -(-self.keys // self.at_once(sizes))
        return piece_of(turns, _LOADED_BYTES // (LANES * element_bytes))

    def loads(self, sizes: Sizes, element_bytes: int) -> int:
        """Return how often a thread waits for what it has loaded, in a part."""
        vectors = sizes.depth // vector_lanes(sizes.depth)
        turns = -(-self.keys // self.at_once(sizes))
        keys = -(-vectors // self.vectors_of_keys(sizes, element_bytes))
        return keys - (-turns // self.values_of_piece(sizes, element_bytes))

    def body(self, ib: IRBuilder, operands: Operands, task: Task) -> None:
        """Emit the statements of the kernel, or of both."""
        _Kernel(ib, operands, task, self).body()


def _columns(sizes: Sizes) -> int:
    """Return the vectors of a value."""
    return -(-sizes.width // LANES)


class _Kernel:
    """The statements of a block."""

    def __init__(self, ib: IRBuilder, operands: Operands, task: Task, tile: KeySlices) -> None:
        self._ib, self._operands, self._task, self._tile = ib, operands, task, tile
        self._sizes, self._own = task.sizes, Queries.of(task.sizes, operands.heads)
        self._slices = tile.slices(task.sizes)
        self._of_row = tile.threads_of_row
        self._columns = _columns(task.sizes)
        # Queries of a block, in blocks of these, for each head of keys.
        self._groups = (*self._own.batch, -(-self._own.rows // tile.rows))

    def body(self) -> None:
        ib, tile = self._ib, self._tile
        is_divided = self._slices > 1
        count = prod(self._groups)
        if is_divided:
            self._kept = KeptSlices(ib, count, self._slices, tile.rows, self._columns)
        if is_divided and tile.takes_tickets:
            tickets = ib.counters(count, name="tickets")
        with ib.new_scope():
            number = self._threads(count * self._slices)
            group, self._slice = unraveled(number, (count, self._slices))
            self._enter(group)
            self._compute()
            if not is_divided:
                self._write()
            else:
                self._keep()
                if tile.takes_tickets:
                    with ib.last_block(tickets, self._group, self._slices):
                        self._combine()
        if is_divided and not tile.takes_tickets:
            with ib.new_scope():
                self._enter(self._threads(count))
                self._combine()

    def _threads(self, blocks: int) -> Any:
        """Begin a kernel; returns the number of the block."""
        block, self._thread = te.thread_axis("blockIdx.x"), te.thread_axis("threadIdx.x")
        self._ib.scope_attr(block, "thread_extent", blocks)
        self._ib.scope_attr(self._thread, "thread_extent", self._tile.threads)
        return block

    def _enter(self, group: Any) -> None:
        self._group = self._ib.let("group", group)
        *self._key_batch, number = unraveled(self._group, self._groups)
        self._first = self._ib.let("first", number * self._tile.rows)

    def _compute(self) -> None:
        ib, tile = self._ib, self._tile
        made = {
            name: ib.allocate(_WIDE, shape, name=name, scope="shared")
            for name, shape in tile.shared(self._sizes).items()
        }
        self._queries, self._tops = made["queries"], made["tops"]
        self._scores, self._weights = made["scores"], made["weights"]
        self._factors, self._totals, self._terms = made["factors"], made["totals"], made["terms"]
        self._sums = self._local("sums", tile.rows, LANES)
        self._top, self._total = self._local("top", 1), self._local("total", 1)
        self._row = ib.let("row", self._thread // self._of_row)
        self._place = ib.let("place", self._thread % self._of_row)
        self._begin()
        with ib.for_range(0, tile.parts, name="part") as part:
            self._base = ib.let("base", (self._slice * tile.parts + part) * tile.keys)
            self._score()
            self._exponentials()
            self._accumulate()
        self._share_sums()

    def _local(self, name: str, *shape: int) -> Any:
        return self._ib.allocate(_WIDE, shape, name=name, scope="local")

    def _unrolled(self, extent: int, name: str) -> Any:
        return self._ib.for_range(0, extent, name=name, kind="unroll")

    def _lanes(self, count: int, statement: Callable[[Any], None]) -> None:
        with self._ib.for_range(0, count, name="lane", kind="vectorize") as lane:
            statement(lane)

    def _of_own_row(self) -> Any:
        """Open a block for the threads that compute exponentials."""
        threads = self._of_row * self._tile.rows
        return opened_if(self._ib, self._thread < threads, threads == self._tile.threads)

    def _query(self, row: Any) -> tuple[list[Any], Any]:
        """Return the leading indices and the number of a query among those of the block.

        Those after the last query are the last one.
        """
        row = self._first + row
        if self._own.rows % self._tile.rows:
            row = tir.min(row, self._own.rows - 1)
        if self._operands.heads is None:
            return list(self._key_batch), row
        batch, head = self._key_batch
        of_head = self._sizes.rows
        return [batch, head * self._own.group + row // of_head], row % of_head

    def _begin(self) -> None:
        ib, tile, sizes = self._ib, self._tile, self._sizes
        lanes = vector_lanes(sizes.depth, LANES)
        count = tile.rows * sizes.depth // lanes
        with self._unrolled(-(-count // tile.threads), "turn") as turn:
            number = ib.let("number", turn * tile.threads + self._thread)
            with opened_if(ib, number < count, count % tile.threads == 0):
                row = ib.let("row", number // (sizes.depth // lanes))
                column = number % (sizes.depth // lanes) * lanes
                batch, query = self._query(row)
                self._lanes(
                    lanes,
                    lambda lane: store(
                        self._queries,
                        (row, column + lane),
                        self._operands.read(0, batch, query, column + lane),
                    ),
                )
        self._top[0] = te.min_value(_WIDE)  # finite, so that differences from it are not NaN
        self._total[0] = te.const(0, _WIDE)
        with self._unrolled(tile.rows, "r") as r:
            self._lanes(LANES, lambda lane: store(self._sums, (r, lane), te.const(0, _WIDE)))

    @property
    def _is_whole(self) -> bool:
        """Whether the last part of the last slice ends with the last key."""
        return self._slices * self._tile.parts * self._tile.keys == self._sizes.keys

    def _key_at(self, key: Any) -> tuple[list[Any], Any]:
        """Return the leading indices of a key, by a head of queries that has it, and its number."""
        place = key if self._is_whole else tir.min(key, self._sizes.keys - 1)
        if self._operands.heads is None:
            return list(self._key_batch), place
        batch, head = self._key_batch
        return [batch, head * self._own.group], place

    def _score(self) -> None:
        """Compute scores: each thread has every n-th key, for all queries."""
        ib, tile, depth = self._ib, self._tile, self._sizes.depth
        own, lanes = tile.keys // tile.threads, vector_lanes(depth)
        dtype = self._operands.dtype(1)
        with ib.new_scope():
            scores = self._local("products", tile.rows, own)
            with self._unrolled(tile.rows, "r") as r, self._unrolled(own, "c") as c:
                scores[r, c] = te.const(0, _WIDE)

            def add(first: Any, count: int) -> None:
                """Load some vectors of the keys, and multiply them."""
                keys = ib.allocate(dtype, (own, count * lanes), name="k", scope="local")
                with self._unrolled(own, "c") as c, self._unrolled(count, "n") as n:
                    batch, place = self._key_at(self._key(c))
                    at = (first + n) * lanes  # visibly the begin of a vector
                    self._lanes(
                        lanes,
                        lambda lane: store(
                            keys,
                            (c, n * lanes + lane),
                            self._operands.element(1, batch, at + lane, place),
                        ),
                    )
                self._multiply(scores, keys, first * lanes)

            piece = tile.vectors_of_keys(self._sizes, self._operands.element_bytes(1))
            in_pieces(ib, depth // lanes, piece, add)
            with self._unrolled(tile.rows, "r") as r, self._unrolled(own, "c") as c:
                self._scores[r, c * tile.threads + self._thread] = self._scaled(
                    scores[r, c], r, self._key(c)
                )

    def _multiply(self, scores: Any, keys: Any, first: Any) -> None:
        """Add products of elements of keys, of which the first one has this number."""
        ib = self._ib
        own, count = map(int, keys.buffer.shape)
        lanes = vector_lanes(count, LANES)
        with self._unrolled(count // lanes, "n") as n:
            key = self._local("key", own, lanes)
            with self._unrolled(own, "c") as c:
                self._lanes(
                    lanes,
                    lambda lane: store(key, (c, lane), keys[c, n * lanes + lane].astype(_WIDE)),
                )
            with self._unrolled(self._tile.rows, "r") as r, ib.new_scope():
                query = self._local("q", lanes)
                at = first + n * lanes
                self._lanes(lanes, lambda lane: store(query, lane, self._queries[r, at + lane]))
                with self._unrolled(own, "c") as c, self._unrolled(lanes, "d") as d:
                    scores[r, c] = scores[r, c] + query[d] * key[c, d]

    def _key(self, c: Any) -> Any:
        return self._base + c * self._tile.threads + self._thread

    def _scaled(self, score: Any, row: Any, key: Any) -> Any:
        """Scale and mask a score; that of a key that does not exist is minus infinity."""
        if self._task.scale != 1:
            score = score * te.const(self._task.scale, _WIDE)
        batch, query = self._query(row)
        _, place = self._key_at(key)
        for mask in self._operands.masks:
            score = score + self._operands.read(mask, batch, query, place)
        if self._is_whole:
            return score
        return tir.Select(key < self._sizes.keys, score, te.const(float("-inf"), _WIDE))

    def _exponentials(self) -> None:
        """Share exponentials relative to the greatest score so far."""
        ib, tile = self._ib, self._tile
        own = tile.keys // self._of_row
        with ib.new_scope():
            values = self._local("values", own)
            with self._of_own_row():
                best = self._local("best", 1)
                best[0] = te.min_value(_WIDE)
                with self._unrolled(own, "turn") as turn:
                    at = turn * self._of_row + self._place
                    values[turn] = self._scores[self._row, at]
                    best[0] = tir.max(best[0], values[turn])
                self._tops[self._row, self._place] = best[0]
            with self._of_own_row():
                top = combined(ib, self._tops, self._row, self._of_row, self._top[0], tir.max)
                factor = ib.let("factor", power(self._top[0] - top, _WIDE))
                self._top[0] = top
                self._total[0] = self._total[0] * factor
                with self._unrolled(own, "turn") as turn:
                    value = ib.let("value", power(values[turn] - top, _WIDE))
                    self._weights[self._row, turn * self._of_row + self._place] = value
                    self._total[0] = self._total[0] + value
                if tile.parts > 1:
                    with ib.if_scope(self._place.equal(0)):
                        self._factors[self._row] = factor

    def _accumulate(self) -> None:
        """Add values, by their weights, to the sums: each thread has a vector of every n-th key."""
        ib, tile, sizes = self._ib, self._tile, self._sizes
        at_once = tile.at_once(sizes)
        if tile.parts > 1:
            with self._unrolled(tile.rows, "r") as r:
                factor = ib.let("factor", self._factors[r])
                self._lanes(
                    LANES, lambda lane: store(self._sums, (r, lane), self._sums[r, lane] * factor)
                )
        own = ib.let("own", self._thread // self._columns)
        column = self._thread % self._columns * LANES
        busy = at_once * self._columns
        dtype = self._operands.dtype(2)

        def add(first: Any, count: int) -> None:
            """Load vectors of some values, and add them."""
            values = ib.allocate(dtype, (count, LANES), name="x", scope="local")
            first = ib.let("at", first * at_once + own)
            with self._unrolled(count, "n") as n:
                self._load_value(values, n, first + n * at_once, column)
            with self._unrolled(count, "n") as n:
                at = first + n * at_once
                with opened_if(ib, at < tile.keys, tile.keys % at_once == 0):
                    self._add(values, n, at)

        with opened_if(ib, self._thread < busy, busy == tile.threads):
            piece = tile.values_of_piece(sizes, self._operands.element_bytes(2))
            in_pieces(ib, -(-tile.keys // at_once), piece, add)

    def _add(self, values: Any, n: Any, key: Any) -> None:
        """Add the terms of a key of the part."""
        value = self._local("value", LANES)
        self._lanes(LANES, lambda lane: store(value, lane, values[n, lane].astype(_WIDE)))
        with self._unrolled(self._tile.rows, "r") as r:
            weight = self._ib.let("weight", self._weights[r, key])
            self._lanes(
                LANES,
                lambda lane: store(
                    self._sums, (r, lane), self._sums[r, lane] + weight * value[lane]
                ),
            )

    def _load_value(self, values: Any, n: Any, at: Any, column: Any) -> None:
        """Load a vector of a value; zeros after the last key, and after the last element."""
        width, key = self._sizes.width, self._base + at
        batch, place = self._key_at(key)
        is_full = width % LANES == 0

        def load(lane: Any) -> None:
            element = column + lane if is_full else tir.min(column + lane, width - 1)
            value = self._operands.element(2, batch, place, element)
            conditions = [] if is_full else [column + lane < width]
            if not self._is_whole:
                conditions.append(key < self._sizes.keys)
            if conditions:
                value = tir.Select(te.all(*conditions), value, te.const(0, values.dtype))
            values[n, lane] = value

        self._lanes(LANES, load)

    def _share_sums(self) -> None:
        """Share the sums of the exponentials, and those of the values."""
        tile = self._tile
        with self._of_own_row():
            self._totals[self._row, self._place] = self._total[0]
        busy = tile.at_once(self._sizes) * self._columns
        own, column = self._thread // self._columns, self._thread % self._columns * LANES
        with (
            opened_if(self._ib, self._thread < busy, busy == tile.threads),
            self._unrolled(tile.rows, "r") as r,
        ):
            self._lanes(
                LANES,
                lambda lane: store(self._terms, (own, r, column + lane), self._sums[r, lane]),
            )

    def _each_vector(self, statement: Callable[[Any, Any], None]) -> None:
        """Emit a statement for each vector of the result: its row, and its first column."""
        ib, tile = self._ib, self._tile
        count = tile.rows * self._columns
        with ib.for_range(0, -(-count // tile.threads), name="turn") as turn:
            number = ib.let("number", turn * tile.threads + self._thread)
            with opened_if(ib, number < count, count % tile.threads == 0):
                row = ib.let("row", number // self._columns)
                statement(row, number % self._columns * LANES)

    def _added(self, row: Any, column: Any) -> Any:
        """Add up a vector of the sums that threads share."""
        sums = self._local("added", LANES)
        self._lanes(LANES, lambda lane: store(sums, lane, self._terms[0, row, column + lane]))
        with self._ib.for_range(1, self._tile.at_once(self._sizes), name="n") as n:
            self._lanes(
                LANES,
                lambda lane: store(sums, lane, sums[lane] + self._terms[n, row, column + lane]),
            )
        return sums

    def _total_of(self, row: Any) -> Any:
        zero = te.const(0, _WIDE)
        return combined(self._ib, self._totals, row, self._of_row, zero, lambda a, b: a + b)

    def _write(self) -> None:
        def write(row: Any, column: Any) -> None:
            self._write_vector(row, column, self._added(row, column), self._total_of(row))

        self._each_vector(write)

    def _keep(self) -> None:
        """Write what is known of the slice to global memory."""
        at = self._group, self._slice
        with self._of_own_row(), self._ib.if_scope(self._place.equal(0)):
            self._kept.keep_row((*at, self._row), self._top[0], self._total_of(self._row))
        self._each_vector(
            lambda row, column: self._kept.keep_sums((*at, row), column, self._added(row, column))
        )

    def _combine(self) -> None:
        """Write the sums of all slices."""

        def combine(row: Any, column: Any) -> None:
            sums, total = self._kept.added(self._group, row, column)
            self._write_vector(row, column, sums, total)

        self._each_vector(combine)

    def _write_vector(self, row: Any, column: Any, sums: Any, total: Any) -> None:
        """Divide by the sum of the exponentials."""
        batch, query = self._query(row)
        width = self._sizes.width

        def write(lane: Any) -> None:
            value = self._task.share(sums[lane], total)
            self._operands.write(batch, query, column + lane, value)

        exists = self._first + row < self._own.rows
        with opened_if(self._ib, exists, self._own.rows % self._tile.rows == 0):
            if width % LANES == 0:
                self._lanes(LANES, write)
                return
            for e in range(LANES):
                with self._ib.if_scope(column + e < width):
                    write(e)


__all__ = ["KeySlices"]
