"""Attention by blocks of many threads, which suit GPUs.

The threads of a block copy queries to shared memory, then keys and values in parts. For each part,
a thread computes some scores and their exponentials, which the block shares; then it adds some
elements of the values to its sums, which are in registers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

from ... import te, tir
from ...tir.ir_builder import IRBuilder
from ..raveling import unraveled
from .operands import Operands, Sizes, Task, power, store

_LANES = 4
DOWN, ACROSS = 8, 16  # threads of a block along rows, and along keys or elements of values
# Neighboring threads along both, so that 32 threads that run together read few different rows.
_WARP = (4, 8)
THREADS = DOWN * ACROSS
_PAD = 4  # elements after a row in shared memory, so that rows are in different banks


@dataclass(frozen=True)
class BlockTile:
    """What a thread computes at once.

    Attributes
    ----------
    rows : int
        Rows of scores and of sums.
    keys : int
        Keys of scores. A block copies 16 times as many keys to shared memory at once.
    """

    rows: int
    keys: int

    def shared(self, sizes: Sizes) -> dict[str, tuple[int, int]]:
        """Return the shapes of the arrays in shared memory, by name."""
        rows, keys = self.rows * DOWN, self.keys * ACROSS
        pitch = _padded(sizes.depth) + _PAD
        return {
            "queries": (rows, pitch),
            "keys": (keys, pitch),
            "values": (keys, _vectors(sizes.width) * ACROSS * _LANES),
            "weights": (rows, keys + _PAD),
            # An array each: they would need barriers between writes of one array.
            "tops": (rows, ACROSS),
            "totals": (rows, ACROSS),
        }

    def shared_bytes(self, sizes: Sizes) -> int:
        """Return the bytes of shared memory, for sums of float32."""
        return 4 * sum(map(prod, self.shared(sizes).values()))

    def sums(self, sizes: Sizes) -> int:
        """Return the elements of sums of a thread."""
        return self.rows * _vectors(sizes.width) * _LANES

    def body(self, ib: IRBuilder, operands: Operands, task: Task) -> None:
        """Emit the statements of the kernel."""
        _Kernel(ib, operands, task, self).body()


def _padded(elements: int) -> int:
    return -(-elements // _LANES) * _LANES


def _vectors(width: int) -> int:
    """Return the vectors of a row of values that a thread adds up."""
    return -(-width // (_LANES * ACROSS))


class _Kernel:
    """The statements of a block."""

    def __init__(self, ib: IRBuilder, operands: Operands, task: Task, tile: BlockTile) -> None:
        self._ib, self._operands, self._task, self._tile = ib, operands, task, tile
        self._sizes, self._wide = task.sizes, operands.wide
        self._rows, self._keys = tile.rows, tile.keys
        self._block_rows, self._block_keys = tile.rows * DOWN, tile.keys * ACROSS
        self._depth = _padded(self._sizes.depth)
        self._vectors = _vectors(self._sizes.width)

    def body(self) -> None:
        ib, sizes = self._ib, self._sizes
        tiles = -(-sizes.rows // self._block_rows)
        block, self._thread = te.thread_axis("blockIdx.x"), te.thread_axis("threadIdx.x")
        ib.scope_attr(block, "thread_extent", prod(sizes.batch) * tiles)
        ib.scope_attr(self._thread, "thread_extent", THREADS)
        *self._batch, number = unraveled(block, (*sizes.batch, tiles))
        self._first = ib.let("first", number * self._block_rows)
        warp, lane = self._thread // prod(_WARP), self._thread % prod(_WARP)
        warps = ACROSS // _WARP[1]
        self._down = warp // warps * _WARP[0] + lane // _WARP[1]
        self._across = warp % warps * _WARP[1] + lane % _WARP[1]
        self._allocate()
        self._begin()
        with ib.for_range(0, -(-sizes.keys // self._block_keys), name="block") as step:
            self._base = ib.let("base", step * self._block_keys)
            self._copy_values()
            self._copy_keys()
            with ib.new_scope():
                scores = self._local("scores", self._rows, self._keys)
                self._score(scores)
                self._exponentials(scores)
            self._accumulate()
        self._write()

    def _allocate(self) -> None:
        made = {
            name: self._ib.allocate(self._wide, shape, name=name, scope="shared")
            for name, shape in self._tile.shared(self._sizes).items()
        }
        self._query, self._key, self._value = made["queries"], made["keys"], made["values"]
        self._weights, self._tops, self._totals = made["weights"], made["tops"], made["totals"]
        self._sums = self._local("sums", self._rows, self._vectors, _LANES)
        self._top, self._total = self._local("top", self._rows), self._local("total", self._rows)

    def _local(self, name: str, *shape: int) -> Any:
        return self._ib.allocate(self._wide, shape, name=name, scope="local")

    def _const(self, value: float) -> Any:
        return te.const(value, self._wide)

    def _unrolled(self, extent: int, name: str) -> Any:
        return self._ib.for_range(0, extent, name=name, kind="unroll")

    def _lanes(self, statement: Callable[[Any], None]) -> None:
        with self._ib.for_range(0, _LANES, name="lane", kind="vectorize") as lane:
            statement(lane)

    def _begin(self) -> None:
        last = self._sizes.rows - 1

        def query(row: Any, d: Any) -> Any:
            return self._operands.read(0, self._batch, tir.min(self._first + row, last), d)

        self._copy(self._query, self._block_rows, self._depth, self._sizes.depth, query)
        with self._unrolled(self._rows, "r") as r:
            # Finite, so that differences from it are not NaN.
            self._top[r] = te.min_value(self._wide)
            self._total[r] = self._const(0)
            with self._unrolled(self._vectors, "v") as v:
                self._lanes(lambda lane: store(self._sums, (r, v, lane), self._const(0)))

    def _copy(self, to: Any, rows: int, width: int, exact: int, element: Any) -> None:
        """Copy rows to shared memory, with zeros from the column `exact` on.

        A thread copies vectors of columns.
        """
        self._each(
            rows * (width // _LANES), lambda i: self._copy_vector(to, i, width, exact, element)
        )

    def _each(self, count: int, statement: Callable[[Any], None]) -> None:
        """Emit a statement for each of `count` numbers, which the threads share."""
        ib = self._ib
        turns = -(-count // THREADS)
        with self._unrolled(turns, "turn") as turn:
            number = ib.let("number", turn * THREADS + self._thread)
            if count % THREADS:
                with ib.if_scope(number < count):
                    statement(number)
            else:
                statement(number)

    def _copy_vector(self, to: Any, i: Any, width: int, exact: int, element: Any) -> None:
        ib = self._ib
        row = ib.let("row", i // (width // _LANES))
        column = i % (width // _LANES) * _LANES  # visibly whole vectors

        def copy(lane: Any) -> None:
            if width == exact:
                to[row, column + lane] = element(row, column + lane)
                return
            value = element(row, tir.min(column + lane, exact - 1))
            to[row, column + lane] = tir.Select(column + lane < exact, value, self._const(0))

        self._lanes(copy)

    def _copy_keys(self) -> None:
        def key(row: Any, d: Any) -> Any:
            place = tir.min(self._base + row, self._sizes.keys - 1)
            return self._operands.read(1, self._batch, d, place)

        if self._operands.is_contiguous(1):
            self._copy_columns(key)
        else:
            self._copy(self._key, self._block_keys, self._depth, self._sizes.depth, key)

    def _copy_columns(self, key: Any) -> None:
        """Copy keys whose elements are apart in memory: neighboring threads copy other keys."""
        depth, keys = self._sizes.depth, self._block_keys

        def copy(i: Any) -> None:
            row, d = i % keys, i // keys
            value = key(row, d if depth == self._depth else tir.min(d, depth - 1))
            if depth != self._depth:
                value = tir.Select(d < depth, value, self._const(0))
            self._key[row, d] = value

        self._each(keys * self._depth, copy)

    def _copy_values(self) -> None:
        """Copy values; zeros for keys that do not exist."""

        def value(row: Any, e: Any) -> Any:
            place = self._base + row
            element = self._operands.read(2, self._batch, tir.min(place, self._sizes.keys - 1), e)
            if self._sizes.keys % self._block_keys == 0:
                return element
            return tir.Select(place < self._sizes.keys, element, self._const(0))

        width = self._vectors * ACROSS * _LANES
        self._copy(self._value, self._block_keys, width, self._sizes.width, value)

    def _score(self, scores: Any) -> None:
        """Compute the scores of this part."""
        with self._unrolled(self._rows, "r") as r, self._unrolled(self._keys, "c") as c:
            scores[r, c] = self._const(0)
        with self._ib.for_range(0, self._depth // _LANES, name="group") as group:
            self._multiply(scores, group)
        self._scale(scores)

    def _multiply(self, scores: Any, group: Any) -> None:
        with self._ib.new_scope():
            queries = self._local("q", self._rows, _LANES)
            keys = self._local("k", self._keys, _LANES)
            for to, source, count, apart, own in (
                (queries, self._query, self._rows, DOWN, self._down),
                (keys, self._key, self._keys, ACROSS, self._across),
            ):
                with self._unrolled(count, "n") as n:
                    row, at = n * apart + own, group * _LANES
                    self._lanes(
                        lambda lane, to=to, source=source, n=n, row=row, at=at: store(
                            to, (n, lane), source[row, at + lane]
                        )
                    )
            with (
                self._unrolled(_LANES, "d") as d,
                self._unrolled(self._rows, "r") as r,
                self._unrolled(self._keys, "c") as c,
            ):
                scores[r, c] = scores[r, c] + queries[r, d] * keys[c, d]

    def _scale(self, scores: Any) -> None:
        """Scale and mask the scores; those of keys that do not exist are minus infinity."""
        task, sizes = self._task, self._sizes
        is_whole = sizes.keys % self._block_keys == 0
        if task.scale == 1 and not self._operands.masks and is_whole:
            return
        with self._unrolled(self._rows, "r") as r, self._unrolled(self._keys, "c") as c:
            score = scores[r, c]
            key = self._base + c * ACROSS + self._across
            if task.scale != 1:
                score = score * self._const(task.scale)
            row = tir.min(self._first + self._row(r), sizes.rows - 1)
            place = tir.min(key, sizes.keys - 1)
            for mask in self._operands.masks:
                score = score + self._operands.read(mask, self._batch, row, place)
            if not is_whole:
                score = tir.Select(key < sizes.keys, score, self._const(float("-inf")))
            scores[r, c] = score

    def _row(self, r: Any) -> Any:
        """Return the place of a thread's row among those of the block."""
        return r * DOWN + self._down

    def _exponentials(self, scores: Any) -> None:
        """Share exponentials relative to the greatest score so far, and scale the sums down."""
        ib = self._ib
        with self._unrolled(self._rows, "r") as r:
            best = scores[r, 0]
            for c in range(1, self._keys):
                best = tir.max(best, scores[r, c])
            self._tops[self._row(r), self._across] = best
        with self._unrolled(self._rows, "r") as r:
            best = self._of_row(self._tops, self._top[r], r, tir.max)
            factor = ib.let("factor", power(self._top[r] - best, self._wide))
            self._top[r] = best
            total = self._total[r] * factor
            for c in range(self._keys):
                value = ib.let("value", power(scores[r, c] - best, self._wide))
                self._weights[self._row(r), c * ACROSS + self._across] = value
                total = total + value
            self._total[r] = total
            with self._unrolled(self._vectors, "v") as v:
                self._lanes(
                    lambda lane: store(self._sums, (r, v, lane), self._sums[r, v, lane] * factor)
                )

    def _of_row(self, shared: Any, first: Any, r: Any, combine: Callable[[Any, Any], Any]) -> Any:
        """Combine a value with those that the threads of a row share."""
        ib = self._ib
        value = self._local("of_row", _LANES)
        for i in range(ACROSS // _LANES):

            def join(lane: Any, i: int = i) -> None:
                other = shared[self._row(r), i * _LANES + lane]
                value[lane] = combine(value[lane], other) if i else other

            self._lanes(join)
        for i in range(_LANES):
            first = combine(first, value[i])
        return ib.let("combined", first)

    def _accumulate(self) -> None:
        """Add the terms of this part to the sums."""
        ib = self._ib
        with ib.for_range(0, self._block_keys // _LANES, name="group") as group:
            weights = self._local("p", self._rows, _LANES)
            with self._unrolled(self._rows, "r") as r:
                row, at = self._row(r), group * _LANES
                self._lanes(lambda lane: store(weights, (r, lane), self._weights[row, at + lane]))
            with self._unrolled(_LANES, "j") as j, self._unrolled(self._vectors, "v") as v:
                self._add(weights, group * _LANES + j, j, v)

    def _add(self, weights: Any, key: Any, j: Any, v: Any) -> None:
        """Add the terms of a key to a vector of each row."""
        with self._ib.new_scope():
            value = self._local("x", _LANES)
            column = (v * ACROSS + self._across) * _LANES
            self._lanes(lambda lane: store(value, lane, self._value[key, column + lane]))
            with self._unrolled(self._rows, "r") as r:
                self._lanes(
                    lambda lane: store(
                        self._sums,
                        (r, v, lane),
                        self._sums[r, v, lane] + weights[r, j] * value[lane],
                    )
                )

    def _write(self) -> None:
        """Divide by the sums of the exponentials."""
        ib, sizes = self._ib, self._sizes
        with self._unrolled(self._rows, "r") as r:
            self._totals[self._row(r), self._across] = self._total[r]
        with self._unrolled(self._rows, "r") as r:
            total = self._of_row(self._totals, self._const(0), r, lambda a, b: a + b)
            row = self._first + self._row(r)
            with self._unrolled(self._vectors, "v") as v:
                column = (v * ACROSS + self._across) * _LANES

                def write(lane: Any) -> None:
                    value = self._task.share(self._sums[r, v, lane], total)
                    self._operands.write(self._batch, row, column + lane, value)

                if sizes.width % _LANES == 0:
                    with ib.if_scope(te.all(row < sizes.rows, column < sizes.width)):
                        self._lanes(write)
                else:
                    for e in range(_LANES):
                        with ib.if_scope(te.all(row < sizes.rows, column + e < sizes.width)):
                            write(e)


__all__ = ["ACROSS", "DOWN", "THREADS", "BlockTile"]
