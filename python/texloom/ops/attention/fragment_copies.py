"""Copies of rows of matrices as float16 to shared memory, whose columns fill whole fragments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ... import te, tir
from ...tir.ir_builder import IRBuilder
from ..divisors import vector_lanes
from .fragment_products import opened_if
from .operands import Operands, store

_HALF = "float16"


class Copies:
    """How the threads of a block share the vectors of a matrix.

    Parameters
    ----------
    ib : IRBuilder
    operands : Operands
    batch : sequence of Expr
        The indices of the matrices among those of the operands.
    threads : (int, Expr)
        The threads of a block, and the number of the own one.
    """

    def __init__(
        self, ib: IRBuilder, operands: Operands, batch: Sequence[Any], threads: tuple[int, Any]
    ) -> None:
        self.ib, self.operands, self.batch = ib, operands, batch
        self.threads, self.thread = threads

    def turns(self, count: int) -> int:
        """Return how many of `count` vectors a thread copies at most."""
        return -(-count // self.threads)

    def number(self, turn: Any) -> Any:
        """Return the number of a thread's vector."""
        return self.ib.let("number", turn * self.threads + self.thread)

    def unrolled(self, extent: int) -> Any:
        """Open a loop over the vectors of a thread."""
        return self.ib.for_range(0, extent, name="turn", kind="unroll")

    def lanes(self, count: int, statement: Callable[[Any], None]) -> None:
        """Emit a statement for each lane of a vector."""
        with self.ib.for_range(0, count, name="lane", kind="vectorize") as lane:
            statement(lane)

    def copy(self, to: Any, shape: tuple[int, int, int], element: Callable[..., Any]) -> None:
        """Copy the rows of a matrix to shared memory.

        Parameters
        ----------
        to : BufferVar
        shape : (int, int, int)
            The rows; the columns in shared memory; the columns of the matrix.
        element : callable
            Returns the element of a row and a column, as float16.
        """
        rows, width, exact = shape
        lanes = vector_lanes(exact)
        count = rows * width // lanes
        with self.unrolled(self.turns(count)) as turn:
            number = self.number(turn)
            row, column = row_and_column(number, width, lanes)
            with opened_if(self.ib, number < count, count % self.threads == 0):
                self.vector(
                    lambda lane, value: store(to, (row, column + lane), value),
                    lambda e: element(row, e),
                    (column, lanes),
                    (width, exact),
                )

    def vector(
        self,
        to: Callable[[Any, Any], None],
        element: Callable[[Any], Any],
        place: tuple[Any, int],
        widths: tuple[int, int],
        is_valid: Any = None,
    ) -> None:
        """Copy a vector of a row; zeros after the columns that there are, and of invalid rows.

        Parameters
        ----------
        to : callable
            Stores a value in a lane.
        element : callable
            Returns the element of a column.
        place : (Expr, int)
            The first column, and the lanes.
        widths : (int, int)
            The columns in shared memory, and those of the matrix.
        is_valid : Expr, optional
            Whether there is such a row.
        """
        (column, lanes), (width, exact) = place, widths

        def copy(lane: Any) -> None:
            if width == exact:
                value, conditions = element(column + lane), []
            else:
                value = element(tir.min(column, exact - lanes) + lane)
                conditions = [column < exact]
            if is_valid is not None:
                conditions.append(is_valid)
            if conditions:
                value = tir.Select(te.all(*conditions), value, te.const(0, _HALF))
            to(lane, value)

        self.lanes(lanes, copy)


class Factor:
    """The keys, or the values, of a part, which threads load before they store them.

    Parameters
    ----------
    copies : Copies
    number : int
        Of the input: 1 for keys, 2 for values.
    array : BufferVar
        In shared memory.
    rows : (int, int)
        The keys of a part, and all keys.
    widths : (int, int)
        The columns in shared memory, and in the input.
    """

    def __init__(
        self,
        copies: Copies,
        number: int,
        array: Any,
        rows: tuple[int, int],
        widths: tuple[int, int],
    ) -> None:
        self.array = array
        self._copies, self._number, self._widths = copies, number, widths
        self._rows, self._exact_rows = rows
        # Where neighboring keys are neighbors in memory, neighboring threads copy them.
        self._are_columns = number == 1 and copies.operands.is_contiguous(1)
        self._lanes = 1 if self._are_columns else vector_lanes(widths[1])
        self._count = self._rows * widths[0] // self._lanes
        self._turns = copies.turns(self._count)
        # What a thread has loaded of the following part.
        shape = (self._turns * self._lanes,)
        self._ahead = copies.ib.allocate(_HALF, shape, name="ahead", scope="local")

    def fetch(self, base: Any) -> None:
        """Load the vectors from the key `base` on into registers."""
        copies, number = self._copies, self._number
        # Values of keys that do not exist are zeros, since those of others may not be finite.
        is_whole = number == 1 or self._exact_rows % self._rows == 0
        with copies.unrolled(self._turns) as turn:
            row, column = self._place(copies.number(turn))
            key = copies.ib.let("key", base + row)
            place = tir.min(key, self._exact_rows - 1)

            def element(e: Any) -> Any:
                indices = (e, place) if number == 1 else (place, e)
                return copies.operands.element(number, copies.batch, *indices).astype(_HALF)

            at = turn * self._lanes
            copies.vector(
                lambda lane, value: store(self._ahead, at + lane, value),
                element,
                (column, self._lanes),
                self._widths,
                None if is_whole else key < self._exact_rows,
            )

    def put(self) -> None:
        """Store the vectors into shared memory."""
        copies, lanes = self._copies, self._lanes
        with copies.unrolled(self._turns) as turn:
            number = copies.number(turn)
            row, column = self._place(number)
            is_certain = self._count % copies.threads == 0
            with opened_if(copies.ib, number < self._count, is_certain):
                copies.lanes(
                    lanes,
                    lambda lane: store(
                        self.array, (row, column + lane), self._ahead[turn * lanes + lane]
                    ),
                )

    def _place(self, number: Any) -> tuple[Any, Any]:
        """Return the row and the column of a vector."""
        if self._are_columns:
            return number % self._rows, number // self._rows
        return row_and_column(number, self._widths[0], self._lanes)


def row_and_column(number: Any, width: int, lanes: int) -> tuple[Any, Any]:
    """Return where a vector of a matrix begins; the column is visibly one of whole vectors."""
    return number // (width // lanes), number % (width // lanes) * lanes


__all__ = ["Copies", "Factor", "row_and_column"]
