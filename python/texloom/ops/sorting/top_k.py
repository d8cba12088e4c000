"""The k greatest or least elements along an axis."""

from __future__ import annotations

from typing import Any

from ... import te
from ..._core import Tensor
from ...extents import Extent, product
from ..raveling import raveled, unraveled
from ..reductions.axes import extents, normalized
from .order import by_value, sorted_order
from .ranks import ranked_order

_MOST_COMPARED = 512
"""The most elements along the axis for which all pairs are compared."""


def top_k(x: Tensor, k: Extent, axis: int = -1, largest: bool = True) -> tuple[Tensor, Tensor]:
    """Return the k greatest or least elements along an axis in order, and their indices.

    Among equal elements those with lower indices come first. NaN is greater than all numbers.

    Parameters
    ----------
    x : Tensor
    k : int or Expr
        At most the extent of the axis.
    axis : int
    largest : bool
        Whether the greatest elements are wanted, from the greatest down.

    Returns
    -------
    values : Tensor
        As `x`, but with extent `k` along the axis.
    indices : Tensor of int64
    """
    (own,) = normalized([axis], len(x.shape))
    shape = extents(x)
    length = shape[own]
    outer, inner = shape[:own], shape[own + 1 :]
    rows = product([*outer, *inner])

    def element(row: Any, i: Any) -> Any:
        rest = unraveled(row, (*outer, *inner))
        return x(*rest[:own], i, *rest[own:])

    table = te.compute((rows, length), element, name="rows")
    if isinstance(length, int) and length <= _MOST_COMPARED:
        order = ranked_order(table, k, largest)
    else:
        order = sorted_order([table], rows, length, k, by_value(largest))

    def place(i: Any) -> Any:
        return order(raveled([*i[:own], *i[own + 1 :]], (*outer, *inner)), i[own])

    shape_k = (*outer, k, *inner)
    values = te.compute(shape_k, lambda *i: x(*i[:own], place(i), *i[own + 1 :]), name="values")
    indices = te.compute(shape_k, lambda *i: place(i).astype("int64"), name="indices")
    return values, indices


__all__ = ["top_k"]
