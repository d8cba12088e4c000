"""Products of matrices in shared memory, which SIMD-groups compute by fragments."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ...tir.fragments import (
    FRAGMENT_SIDE,
    fragment_fill,
    fragment_load,
    fragment_mma,
    fragment_part,
    fragment_store,
)
from ...tir.ir_builder import IRBuilder


class FragmentProducts:
    """Products of a row of fragments and several columns, which a SIMD-group computes.

    Parameters
    ----------
    ib : IRBuilder
    matrices : (BufferVar, BufferVar, BufferVar)
        In shared memory: the left factor, the right one, and the product.
    row : Expr
        The first row of the left factor and of the product.
    columns : (Expr, int, int)
        The first column of the SIMD-group, from which on it has every n-th one, n, and the number
        of all columns, in fragments.
    right_transposed : bool
        Whether the rows of the right factor are columns of the product.
    offset : Expr or int
        The column of the product where the first column is stored.
    """

    def __init__(
        self,
        ib: IRBuilder,
        matrices: tuple[Any, Any, Any],
        row: Any,
        columns: tuple[Any, int, int],
        *,
        right_transposed: bool = False,
        offset: Any = 0,
    ) -> None:
        self._ib, self._row, self._offset = ib, row, offset
        self._left, self._right, self._to = matrices
        self._first, self._apart, self._columns = columns
        self._right_transposed = right_transposed
        self._count = -(-self._columns // self._apart)

    @contextmanager
    def sums(self) -> Iterator[None]:
        """Open a block of steps, which starts with zeros and ends with stores."""
        ib = self._ib
        with ib.new_scope():
            self._sums = self._fragment("sums", "float32", self._count)
            with self._unrolled() as i:
                ib.emit(fragment_fill(self._sum("w", i)))
            yield
            with self._unrolled() as i, self._own(i) as column:
                to = fragment_part(self._to, "w", self._row, self._offset + column)
                ib.emit(fragment_store(to, self._sum("r", i), self._to.buffer.shape[-1]))

    def step(self, number: Any) -> None:
        """Add products of 16 columns of the left factor, of a number in fragments."""
        ib, at = self._ib, number * FRAGMENT_SIDE
        with ib.new_scope():
            left, right = (self._fragment(n, "float16", 1) for n in ("left", "right"))
            self._load(left, self._left, self._row, at)
            with self._unrolled() as i, self._own(i) as column:
                place = (column, at) if self._right_transposed else (at, column)
                self._load(right, self._right, *place)
                own, other = (fragment_part(each, "r", 0, 0) for each in (left, right))
                ib.emit(
                    fragment_mma(
                        self._sum("rw", i), own, other, right_transposed=self._right_transposed
                    )
                )

    def _unrolled(self) -> Any:
        return self._ib.for_range(0, self._count, name="n", kind="unroll")

    @contextmanager
    def _own(self, i: Any) -> Iterator[Any]:
        """Open a block that runs if the SIMD-group has a column; yields its first element."""
        column = self._first + i * self._apart
        with opened_if(self._ib, column < self._columns, self._columns % self._apart == 0):
            yield column * FRAGMENT_SIDE

    def _sum(self, access: str, i: Any) -> Any:
        return fragment_part(self._sums, access, 0, i * FRAGMENT_SIDE)

    def _fragment(self, name: str, dtype: str, columns: int) -> Any:
        shape = (FRAGMENT_SIDE, FRAGMENT_SIDE * columns)
        return self._ib.allocate(dtype, shape, name=name, scope="fragment")

    def _load(self, fragment: Any, source: Any, row: Any, column: Any) -> None:
        part = fragment_part(source, "r", row, column)
        to = fragment_part(fragment, "w", 0, 0)
        self._ib.emit(fragment_load(to, part, source.buffer.shape[-1]))


@contextmanager
def opened_if(ib: IRBuilder, condition: Any, is_certain: bool) -> Iterator[None]:
    """Open a block that runs if the condition holds, which may be certain."""
    with ib.new_scope() if is_certain else ib.if_scope(condition):
        yield


__all__ = ["FragmentProducts", "opened_if"]
