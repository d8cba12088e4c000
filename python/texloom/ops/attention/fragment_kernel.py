"""Attention of float16 by matrix fragments, which SIMD-groups of a GPU multiply.

A block copies some queries to shared memory, then keys and values in parts. For each part, its
SIMD-groups multiply queries and keys; threads read these scores in shared memory, and write their
exponentials as float16; SIMD-groups multiply these and the values. The sums of a part are in shared
memory, too, where threads read them and add them to their own, which are in registers. What is
copied next is loaded before products, and stored to shared memory after them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

from ... import te, tir
from ...tir.fragments import FRAGMENT_SIDE
from ...tir.ir_builder import IRBuilder
from ..divisors import vector_lanes
from ..raveling import unraveled
from .fragment_copies import Copies, Factor
from .fragment_products import FragmentProducts
from .operands import Operands, Sizes, Task, power, store
from .row_values import combined

_GROUP = 32  # threads of a SIMD-group
_PAD = 8  # elements after a row in shared memory, so that rows are in different banks
_WIDE, _HALF = "float32", "float16"
# Arrays of one type and as many rows that are not alive together.
_TURNS = (("keys", "values"), ("scores", "terms", "totals"))
# Exponentials are at most 1. As halves they are multiplied by this power of two, so that those down
# to 2**-29 keep all of their bits.
_WEIGHT = 2.0**15


@dataclass(frozen=True)
class FragmentBlock:
    """How the SIMD-groups of a block share its work.

    Attributes
    ----------
    down : int
        Fragments of a block along rows, of 16 rows each.
    across : int
        SIMD-groups that share a fragment of rows: its keys when they compute scores, and columns of
        the values when they compute sums; 1, 2, 4 or 8.
    slices : int
        Into how many slices these groups divide the keys of a sum; a divisor of `across`.
    keys : int
        Keys that are in shared memory at once, a multiple of 16.
    takes_turns : bool
        Whether values take the memory of keys after the scores, and sums that of scores. Then more
        keys, or wider heads, fit into shared memory.
    """

    down: int
    across: int
    slices: int
    keys: int
    takes_turns: bool = False

    @property
    def rows(self) -> int:
        """Rows of a block."""
        return FRAGMENT_SIDE * self.down

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return _GROUP * self.down * self.across

    @property
    def threads_of_row(self) -> int:
        """Threads that compute the exponentials of a row."""
        return self.threads // self.rows

    def shared(self, sizes: Sizes) -> dict[tuple[str, ...], tuple[str, tuple[int, int]]]:
        """Return the types and shapes of the arrays in shared memory.

        An array has several names if it holds one of them after the other.
        """
        depth, width = whole(sizes.depth), whole(sizes.width)
        made = {
            "queries": (_HALF, (self.rows, depth + _PAD)),
            "keys": (_HALF, (self.keys, depth + _PAD)),
            "values": (_HALF, (self.keys, width + _PAD)),
            "scores": (_WIDE, (self.rows, self.keys + _PAD)),
            "weights": (_HALF, (self.rows, self.keys + _PAD)),
            "terms": (_WIDE, (self.rows, self.slices * width + _PAD)),
            "tops": (_WIDE, (self.rows, self.threads_of_row)),
            "totals": (_WIDE, (self.rows, self.threads_of_row)),
        }
        arrays = {(name,): array for name, array in made.items()}
        for names in _TURNS if self.takes_turns else ():
            turns = [arrays.pop((name,)) for name in names]
            dtype, (rows, _) = turns[0]
            arrays[names] = dtype, (rows, max(columns for _, (_, columns) in turns))
        return arrays

    def shared_bytes(self, sizes: Sizes, half_bytes: int = 2) -> int:
        """Return the bytes of shared memory, if an element of float16 has `half_bytes`."""
        of = {_HALF: half_bytes, _WIDE: 4}
        return sum(of[dtype] * prod(shape) for dtype, shape in self.shared(sizes).values())

    def registers(self, sizes: Sizes) -> int:
        """Return registers of a thread that hold elements, where it has the most of them."""
        depth, width = whole(sizes.depth), whole(sizes.width)
        ahead = -(-self.keys * (depth + width) // (2 * self.threads))
        sums = self.rows * width // self.threads
        parts = FRAGMENT_SIDE**2 // _GROUP
        scores = parts * -(-self.keys // (FRAGMENT_SIDE * self.across))
        values = parts * -(-width * self.slices // (FRAGMENT_SIDE * self.across))
        exponentials = self.keys // self.threads_of_row
        return sums + ahead + max(scores, values, exponentials)

    def body(self, ib: IRBuilder, operands: Operands, task: Task) -> None:
        """Emit the statements of the kernel."""
        _Kernel(ib, operands, task, self).body()


def whole(extent: int) -> int:
    """Return the extent of whole fragments."""
    return -(-extent // FRAGMENT_SIDE) * FRAGMENT_SIDE


class _Kernel:
    """The statements of a block."""

    def __init__(self, ib: IRBuilder, operands: Operands, task: Task, tile: FragmentBlock) -> None:
        self._ib, self._operands, self._task, self._tile = ib, operands, task, tile
        self._sizes = task.sizes
        self._depth, self._width = whole(task.sizes.depth), whole(task.sizes.width)
        self._parts = -(-task.sizes.keys // tile.keys)
        self._of_row = tile.threads_of_row
        self._score_lanes = vector_lanes(tile.keys // self._of_row, 4)
        self._sum_lanes = vector_lanes(self._width // self._of_row, 4)

    def body(self) -> None:
        ib, sizes, tile = self._ib, self._sizes, self._tile
        blocks = -(-sizes.rows // tile.rows)
        block = te.thread_axis("blockIdx.x")
        self._group, lane = te.thread_axis("threadIdx.y"), te.thread_axis("threadIdx.x")
        ib.scope_attr(block, "thread_extent", prod(sizes.batch) * blocks)
        ib.scope_attr(self._group, "thread_extent", tile.threads // _GROUP)
        ib.scope_attr(lane, "thread_extent", _GROUP)
        *self._batch, number = unraveled(block, (*sizes.batch, blocks))
        self._first = ib.let("first", number * tile.rows)
        self._thread = self._group * _GROUP + lane
        self._row = ib.let("row", self._thread // self._of_row)
        self._place = ib.let("place", self._thread % self._of_row)
        self._allocate()
        self._begin()
        with ib.for_range(0, self._parts, name="part") as part:
            self._base = ib.let("base", part * tile.keys)
            first = (self._keys,) if tile.takes_turns else (self._keys, self._values)
            self._put(*first)
            self._score()
            with ib.new_scope():
                factor = self._exponentials()
                if tile.takes_turns:
                    self._put(self._values)
                self._multiply_values()
                self._add_up(factor)
        self._write()

    def _allocate(self) -> None:
        made = {
            names: self._ib.allocate(dtype, shape, name=names[0], scope="shared")
            for names, (dtype, shape) in self._tile.shared(self._sizes).items()
        }
        array = {name: to for names, to in made.items() for name in names}
        self._queries, self._weights = array["queries"], array["weights"]
        self._scores, self._terms = array["scores"], array["terms"]
        self._tops, self._totals = array["tops"], array["totals"]
        sizes, threads = self._sizes, (self._tile.threads, self._thread)
        self._copies = Copies(self._ib, self._operands, self._batch, threads)
        shape = self._tile.keys, sizes.keys
        depths, widths = (self._depth, sizes.depth), (self._width, sizes.width)
        self._keys = Factor(self._copies, 1, array["keys"], shape, depths)
        self._values = Factor(self._copies, 2, array["values"], shape, widths)
        self._sums = self._local("sums", _WIDE, self._width // self._of_row)
        self._top, self._total = (self._local(name, _WIDE, 1) for name in ("top", "total"))

    def _local(self, name: str, dtype: str, *shape: int) -> Any:
        return self._ib.allocate(dtype, shape, name=name, scope="local")

    def _unrolled(self, extent: int, name: str) -> Any:
        return self._ib.for_range(0, extent, name=name, kind="unroll")

    def _lanes(self, count: int, statement: Callable[[Any], None]) -> None:
        with self._ib.for_range(0, count, name="lane", kind="vectorize") as lane:
            statement(lane)

    def _begin(self) -> None:
        sizes, tile = self._sizes, self._tile
        for each in (self._keys, self._values):
            each.fetch(0)

        def query(row: Any, column: Any) -> Any:
            place = tir.min(self._first + row, sizes.rows - 1)
            return self._operands.element(0, self._batch, place, column).astype(_HALF)

        self._copies.copy(self._queries, (tile.rows, self._depth, sizes.depth), query)
        self._top[0] = te.min_value(_WIDE)  # finite, so that differences from it are not NaN
        self._total[0] = te.const(0, _WIDE)
        if self._parts > 1:
            with self._unrolled(self._width // self._of_row // self._sum_lanes, "v") as v:
                at = v * self._sum_lanes
                self._lanes(
                    self._sum_lanes, lambda lane: store(self._sums, at + lane, te.const(0, _WIDE))
                )

    def _put(self, *factors: Factor) -> None:
        """Store keys, values or both into shared memory, and load those of the next part."""
        for each in factors:
            each.put()
        if self._parts > 1:
            following = self._base + self._tile.keys
            with self._ib.if_scope(following < self._sizes.keys):
                for each in factors:
                    each.fetch(following)

    def _score(self) -> None:
        """Multiply queries and keys: each SIMD-group computes some fragments of a row of scores."""
        tile = self._tile
        product = FragmentProducts(
            self._ib,
            (self._queries, self._keys.array, self._scores),
            self._group // tile.across * FRAGMENT_SIDE,
            (self._group % tile.across, tile.across, tile.keys // FRAGMENT_SIDE),
            right_transposed=True,
        )
        with product.sums(), self._ib.for_range(0, self._depth // FRAGMENT_SIDE, name="step") as d:
            product.step(d)

    def _multiply_values(self) -> None:
        """Multiply weights and values, in slices of the keys."""
        tile = self._tile
        shared = tile.across // tile.slices
        piece, across = self._group % tile.across // shared, self._group % shared
        steps = tile.keys // FRAGMENT_SIDE
        product = FragmentProducts(
            self._ib,
            (self._weights, self._values.array, self._terms),
            self._group // tile.across * FRAGMENT_SIDE,
            (across, shared, self._width // FRAGMENT_SIDE),
            offset=piece * self._width,
        )
        with product.sums():
            with self._ib.for_range(0, steps // tile.slices, name="step") as turn:
                product.step(turn * tile.slices + piece)
            if steps % tile.slices:
                last = steps // tile.slices * tile.slices + piece
                with self._ib.if_scope(last < steps):
                    product.step(last)

    def _exponentials(self) -> Any:
        """Share exponentials relative to the greatest score so far.

        Returns the factor of the sums of earlier parts.
        """
        ib, tile, lanes = self._ib, self._tile, self._score_lanes
        own = tile.keys // self._of_row
        scores = self._local("scores", _WIDE, own)

        def column(turn: Any) -> Any:
            return (turn * self._of_row + self._place) * lanes

        with self._unrolled(own // lanes, "turn") as turn:
            at = column(turn)
            self._lanes(
                lanes,
                lambda lane: store(scores, turn * lanes + lane, self._scores[self._row, at + lane]),
            )
            self._scale(scores, turn * lanes, at)
        best = _folded([scores[i] for i in range(own)], tir.max)
        self._tops[self._row, self._place] = best
        best = combined(ib, self._tops, self._row, self._of_row, self._top[0], tir.max)
        factor = ib.let("factor", power(self._top[0] - best, _WIDE))
        self._top[0] = best
        for i in range(own):
            scores[i] = power(scores[i] - best, _WIDE)
        total = _folded([scores[i] for i in range(own)], lambda a, b: a + b)
        self._total[0] = self._total[0] * factor + total
        with self._unrolled(own // lanes, "turn") as turn:
            at = column(turn)
            self._lanes(
                lanes,
                lambda lane: store(
                    self._weights,
                    (self._row, at + lane),
                    (scores[turn * lanes + lane] * te.const(_WEIGHT, _WIDE)).astype(_HALF),
                ),
            )
        return factor

    def _scale(self, scores: Any, first: Any, column: Any) -> None:
        """Scale and mask a vector of scores; those of keys that do not exist are -infinity."""
        task, sizes, operands = self._task, self._sizes, self._operands
        lanes = self._score_lanes
        scale = task.scale * operands.factor
        is_whole = sizes.keys % self._tile.keys == 0
        if scale == 1 and not operands.masks and is_whole:
            return
        row = tir.min(self._first + self._row, sizes.rows - 1)
        key = self._base + column

        def change(lane: Any) -> None:
            score = scores[first + lane]
            if scale != 1:
                score = score * te.const(scale, _WIDE)
            # Masks are read as vectors if the keys end after whole ones.
            if sizes.keys % lanes == 0:
                place = tir.min(key, sizes.keys - lanes) + lane
            else:
                place = tir.min(key + lane, sizes.keys - 1)
            for mask in operands.masks:
                score = score + operands.read(mask, self._batch, row, place)
            if not is_whole:
                score = tir.Select(key + lane < sizes.keys, score, te.const(float("-inf"), _WIDE))
            scores[first + lane] = score

        self._lanes(lanes, change)

    def _each_sum(self, statement: Callable[[Any, Any], None]) -> None:
        """Emit a statement for each vector of sums of a thread: its place, and its column."""
        lanes = self._sum_lanes
        with self._unrolled(self._width // self._of_row // lanes, "v") as v:
            statement(v * lanes, (v * self._of_row + self._place) * lanes)

    def _add_up(self, factor: Any) -> None:
        """Add the sums of this part, of all slices, to those of earlier parts."""

        def add(at: Any, column: Any) -> None:
            def sum_of(lane: Any) -> None:
                value = self._sums[at + lane] * factor if self._parts > 1 else None
                for piece in range(self._tile.slices):
                    own = self._terms[self._row, piece * self._width + column + lane]
                    value = own if value is None else value + own
                self._sums[at + lane] = value

            self._lanes(self._sum_lanes, sum_of)

        self._each_sum(add)

    def _write(self) -> None:
        """Divide by the sums of the exponentials."""
        ib, sizes, lanes = self._ib, self._sizes, self._sum_lanes
        self._totals[self._row, self._place] = self._total[0]
        zero = te.const(0, _WIDE)
        total = combined(ib, self._totals, self._row, self._of_row, zero, lambda a, b: a + b)
        row = self._first + self._row

        def write(at: Any, column: Any) -> None:
            def element(lane: Any) -> None:
                value = self._sums[at + lane] * te.const(1 / _WEIGHT, _WIDE)
                self._operands.write(
                    self._batch, row, column + lane, self._task.share(value, total)
                )

            if sizes.width % lanes == 0:
                with ib.if_scope(te.all(row < sizes.rows, column < sizes.width)):
                    self._lanes(lanes, element)
            else:
                for e in range(lanes):
                    with ib.if_scope(te.all(row < sizes.rows, column + e < sizes.width)):
                        element(e)

        self._each_sum(write)


def _folded(values: list[Any], combine: Callable[[Any, Any], Any]) -> Any:
    """Combine values pairwise, so that few of the operations wait for one another."""
    while len(values) > 1:
        pairs = [combine(a, b) for a, b in zip(values[::2], values[1::2], strict=False)]
        values = pairs + values[2 * len(pairs) :]
    return values[0]


__all__ = ["FragmentBlock", "whole"]
