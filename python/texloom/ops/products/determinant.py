"""Determinants of square matrices."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ... import te, tir
from ..._core import Tensor
from ..precision import sum_dtype
from ..raveling import unraveled

LARGEST = 128
"""The most rows of a matrix: a thread keeps a whole matrix."""


def determinant(x: Tensor) -> Tensor:
    """Return the determinants of matrices, by Gaussian elimination with row pivots.

    Each thread computes the determinant of one matrix, in float32 for float16.

    Parameters
    ----------
    x : Tensor
        ``[..., M, M]``, floating-point numbers.

    Returns
    -------
    Tensor
        ``[...]`` of the dtype of `x`.

    Raises
    ------
    ValueError
        For matrices that are not square, or larger than :data:`LARGEST`.
    """
    *batch, rows, columns = (int(extent) for extent in x.shape)
    if rows != columns or rows > LARGEST:
        raise ValueError(f"the matrices of {x} must be square and have at most {LARGEST} rows")
    dtype = sum_dtype(x.dtype)

    def body(inputs: Sequence[Any], outputs: Sequence[Any]) -> Any:
        ib = tir.ir_builder.create()
        source, result = ib.buffer_ptr(inputs[0]), ib.buffer_ptr(outputs[0])
        thread = te.thread_axis("blockIdx.x")
        ib.scope_attr(thread, "thread_extent", prod(batch))
        place = unraveled(thread, batch)
        own = ib.allocate(dtype, (rows, rows), name="matrix", scope="local")
        value = ib.allocate(dtype, (1,), name="value", scope="local")
        with ib.for_range(0, rows, name="i") as i, ib.for_range(0, rows, name="j") as j:
            own[i, j] = source[(*place, i, j)].astype(dtype)
        value[0] = te.const(1, dtype)
        with ib.for_range(0, rows, name="k") as k:
            _bring_pivot(ib, own, value, k, rows)
            value[0] = value[0] * own[k, k]
            _eliminate(ib, own, k, rows)
        result[tuple(place)] = value[0].astype(x.dtype)
        return ib.get()

    return te.extern(tuple(batch), [x], body, name="determinant", dtype=x.dtype)


def _bring_pivot(ib: Any, own: Any, value: Any, k: Any, rows: int) -> None:
    """Swap row k with the row, from k on, whose element in column k has the largest magnitude."""
    best = ib.allocate("int32", (1,), name="best", scope="local")
    best[0] = k
    with ib.for_range(0, rows, name="i") as i, ib.if_scope(i > k):
        is_larger = te.abs(own[i, k]) > te.abs(own[best[0], k])
        with ib.if_scope(is_larger):
            best[0] = i
    with ib.if_scope(best[0] != k):
        value[0] = te.const(0, own.dtype) - value[0]
        spare = ib.allocate(own.dtype, (1,), name="spare", scope="local")
        with ib.for_range(0, rows, name="j") as j:
            spare[0] = own[k, j]
            own[k, j] = own[best[0], j]
            own[best[0], j] = spare[0]


def _eliminate(ib: Any, own: Any, k: Any, rows: int) -> None:
    """Subtract multiples of row k from the rows below, unless the pivot is zero."""
    factor = ib.allocate(own.dtype, (1,), name="factor", scope="local")
    with ib.for_range(0, rows, name="i") as i, ib.if_scope(te.all(i > k, own[k, k] != 0)):
        factor[0] = own[i, k] / own[k, k]
        with ib.for_range(0, rows, name="j") as j:
            own[i, j] = own[i, j] - factor[0] * own[k, j]


__all__ = ["LARGEST", "determinant"]
