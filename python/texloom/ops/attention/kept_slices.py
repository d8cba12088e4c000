"""What slices of the keys leave in global memory, and how it is added up."""

from __future__ import annotations

from typing import Any

from ... import te, tir
from ...tir.ir_builder import IRBuilder
from .operands import power, store
from .pieces import in_pieces, piece_of

_WIDE = "float32"
LANES = 4  # of vectors of sums
AT_ONCE = 8  # slices, at most, that a thread loads before it adds them up


class KeptSlices:
    """Greatest scores, sums of exponentials and sums of values, of each slice of some queries.

    Parameters
    ----------
    ib : IRBuilder
        Outside of threads.
    groups, slices, rows, columns : int
        Groups of queries, slices of the keys, queries of a group, and vectors of a value.
    """

    def __init__(self, ib: IRBuilder, groups: int, slices: int, rows: int, columns: int) -> None:
        self._ib, self._slices = ib, slices
        shape = (groups, slices, rows)
        self._tops, self._totals, self._sums = (
            ib.allocate(_WIDE, own, name=name, scope="global")
            for name, own in (
                ("slice_tops", shape),
                ("slice_totals", shape),
                ("slice_sums", (*shape, columns * LANES)),
            )
        )

    def keep_row(self, at: tuple[Any, Any, Any], top: Any, total: Any) -> None:
        """Keep the greatest score and the sum of the exponentials of a group, a slice and a row."""
        self._tops[at], self._totals[at] = top, total

    def keep_sums(self, at: tuple[Any, Any, Any], column: Any, sums: Any) -> None:
        """Keep a vector of sums, from this column on."""
        self._lanes(lambda lane: store(self._sums, (*at, column + lane), sums[lane]))

    def added(self, group: Any, row: Any, column: Any) -> tuple[Any, Any]:
        """Add up the slices in their order.

        Returns a vector of sums, and the sum of the exponentials.
        """
        ib = self._ib
        top, total, sums = (
            self._local(*each) for each in (("top", 1), ("total", 1), ("sums", LANES))
        )
        top[0], total[0] = te.min_value(_WIDE), te.const(0, _WIDE)
        self._lanes(lambda lane: store(sums, lane, te.const(0, _WIDE)))

        def add(first: Any, count: int) -> None:
            """Load some slices, and then add them up."""
            tops, totals = (self._local(name, count) for name in ("tops", "totals"))
            parts = self._local("parts", count, LANES)
            with self._unrolled(count) as n:
                at = group, first + n, row
                tops[n], totals[n] = self._tops[at], self._totals[at]
                self._lanes(lambda lane: store(parts, (n, lane), self._sums[(*at, column + lane)]))
            best = top[0]
            for n in range(count):
                best = tir.max(best, tops[n])
            best = ib.let("best", best)
            factor = ib.let("factor", power(top[0] - best, _WIDE))
            top[0], total[0] = best, total[0] * factor
            self._lanes(lambda lane: store(sums, lane, sums[lane] * factor))
            with self._unrolled(count) as n:
                weight = ib.let("weight", power(tops[n] - best, _WIDE))
                total[0] = total[0] + weight * totals[n]
                self._lanes(lambda lane: store(sums, lane, sums[lane] + weight * parts[n, lane]))

        in_pieces(ib, self._slices, piece_of(self._slices, AT_ONCE), add)
        return sums, total[0]

    def _local(self, name: str, *shape: int) -> Any:
        return self._ib.allocate(_WIDE, shape, name=name, scope="local")

    def _unrolled(self, count: int) -> Any:
        return self._ib.for_range(0, count, name="n", kind="unroll")

    def _lanes(self, statement: Any) -> None:
        with self._ib.for_range(0, LANES, name="lane", kind="vectorize") as lane:
            statement(lane)


__all__ = ["AT_ONCE", "LANES", "KeptSlices"]
