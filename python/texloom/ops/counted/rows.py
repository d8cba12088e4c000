"""Tensors of which only the first rows count: rows that are masked and joined.

A count is an int64 scalar, at most the extent of the counted axis.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from ... import te, tir
from ..._core import Tensor
from ...extents import plain
from ..extrema import highest, lowest

Filling = Literal["zero", "one", "lowest", "highest"]
"""What masked rows become: a value that changes nothing in a sum, a product or an extremum."""

_FILLINGS: dict[str, Callable[[str], Any]] = {
    "zero": lambda dtype: te.const(0, dtype),
    "one": lambda dtype: te.const(1, dtype),
    "lowest": lambda dtype: te.const(0, dtype) if dtype == "bool" else lowest(dtype),
    "highest": lambda dtype: te.const(1, dtype) if dtype == "bool" else highest(dtype),
}


def masked_rows(x: Tensor, count: Tensor, axis: int, filling: Filling) -> Tensor:
    """Return `x` with another value in the rows after the first `count` along an axis."""
    value = _FILLINGS[filling](x.dtype)

    def at(*i: Any) -> Any:
        return te.if_then_else(i[axis] < _number(count), x(*i), value)

    return te.compute(tuple(x.shape), at, name="masked")


def joined_rows(*tensors: Tensor, axis: int) -> Tensor:
    """Join the counted rows of tensors along an axis; the rows after them have no meaning.

    Parameters
    ----------
    tensors : Tensor
        The parts, then the count of each part.
    axis : int

    Returns
    -------
    Tensor
        As long as all parts together.
    """
    number = len(tensors) // 2
    parts, counts = tensors[:number], tensors[number:]
    shape = list(parts[0].shape)
    shape[axis] = plain(_sum([part.shape[axis] for part in parts]))

    def at(*i: Any) -> Any:
        begins = [_sum([_number(each) for each in counts[:k]]) for k in range(number)]

        def row(k: int) -> Any:
            last = plain(parts[k].shape[axis] - 1)
            place = tir.max(tir.min(i[axis] - begins[k], last), 0)
            return parts[k](*i[:axis], place, *i[axis + 1 :])

        value = row(number - 1)
        for k in reversed(range(number - 1)):
            value = te.if_then_else(i[axis] < begins[k + 1], row(k), value)
        return value

    return te.compute(tuple(shape), at, name="joined_rows")


def places_from_begin(indices: Tensor, count: Tensor) -> Tensor:
    """Return indices of counted rows, of which negative ones count from the end, from 0 on."""

    def at(*i: Any) -> Any:
        index = indices(*i)
        return te.if_then_else(index < 0, index + count().astype(index.dtype), index)

    return te.compute(tuple(indices.shape), at, name="places")


def _number(count: Tensor) -> Any:
    return count().astype("int32")


def _sum(numbers: Sequence[Any]) -> Any:
    total: Any = 0
    for each in numbers:
        total = total + each
    return total


__all__ = ["Filling", "joined_rows", "masked_rows", "places_from_begin"]
