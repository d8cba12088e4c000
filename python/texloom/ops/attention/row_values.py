"""Values of a row, of which several threads of a block have one each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...tir.ir_builder import IRBuilder
from ..divisors import vector_lanes
from .operands import store


def combined(
    ib: IRBuilder,
    shared: Any,
    row: Any,
    count: int,
    first: Any,
    combine: Callable[[Any, Any], Any],
) -> Any:
    """Combine a value with those that threads of a row have in shared memory, in vectors.

    Parameters
    ----------
    ib : IRBuilder
    shared : BufferVar
        ``[rows, values]``.
    row : Expr
    count : int
        The values of a row, which are its first elements.
    first : Expr
        The value that is combined with the others.
    combine : callable
        Combines two values.
    """
    lanes = vector_lanes(count, 4)
    value = ib.allocate(shared.dtype, (lanes,), name="of_row", scope="local")
    for i in range(count // lanes):
        with ib.for_range(0, lanes, name="lane", kind="vectorize") as lane:
            other = shared[row, i * lanes + lane]
            store(value, lane, combine(value[lane], other) if i else other)
    for i in range(lanes):
        first = combine(first, value[i])
    return ib.let("combined", first)


__all__ = ["combined"]
