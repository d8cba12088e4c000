"""Cumulative sums."""

from __future__ import annotations

from typing import Any

from ... import te
from ..._core import Tensor
from ...extents import number_of, plain
from ..precision import sum_dtype
from .axes import extents, normalized

_RUN = 32
"""Elements that a thread sums by itself; longer axes are summed in runs of this length."""


def cumsum(x: Tensor, axis: int, exclusive: bool = False, reverse: bool = False) -> Tensor:
    """Return the cumulative sums of the elements along an axis.

    Parameters
    ----------
    x : Tensor
        Elements of 16 bits are accumulated in float32.
    axis : int
    exclusive : bool
        Whether a sum leaves out the element itself.
    reverse : bool
        Whether sums start from the end.
    """
    (own,) = normalized([axis], len(x.shape))
    last = extents(x)[own] - 1
    wide = sum_dtype(x.dtype)

    def turned(i: Any) -> list[Any]:
        return [*i[:own], last - i[own] if reverse else i[own], *i[own + 1 :]]

    terms = te.compute(x.shape, lambda *i: x(*turned(i)).astype(wide), name="terms")
    sums = _sums(terms, own, exclusive)
    return te.compute(x.shape, lambda *i: sums(*turned(i)).astype(x.dtype), name="cumsum")


def _sums(x: Tensor, axis: int, exclusive: bool) -> Tensor:
    """Sum within runs, and add the sums of all previous runs."""
    shape = extents(x)
    length = shape[axis]
    is_known = number_of(length) is not None
    run = min(_RUN, int(length)) if is_known else _RUN

    def at(i: Any, index: Any) -> list[Any]:
        return [*i[:axis], index, *i[axis + 1 :]]

    def within(*i: Any) -> Any:
        k = te.reduce_axis((0, run), name="k")
        place = i[axis] % run
        counts = k.var < place if exclusive else k.var <= place
        term = te.if_then_else(counts, x(*at(i, i[axis] // run * run + k.var)), _zero(x))
        return te.sum(term, axis=k)

    inside = te.compute(shape, within, name="within")
    if is_known and length <= run:
        return inside
    runs = plain((length + (run - 1)) // run)

    def total(*i: Any) -> Any:
        k = te.reduce_axis((0, run), name="k")
        place = i[axis] * run + k.var
        return te.sum(te.if_then_else(place < length, x(*at(i, place)), _zero(x)), axis=k)

    totals = te.compute((*shape[:axis], runs, *shape[axis + 1 :]), total, name="totals")
    before = _sums(totals, axis, exclusive=True) if is_known else _sums_before(totals, axis)
    return te.compute(shape, lambda *i: inside(*i) + before(*at(i, i[axis] // run)), name="sums")


def _sums_before(x: Tensor, axis: int) -> Tensor:
    """Sum all elements before each element, along an axis whose extent is known only at a run."""
    k = te.reduce_axis((0, extents(x)[axis]), name="k")

    def at(*i: Any) -> Any:
        term = x(*i[:axis], k.var, *i[axis + 1 :])
        return te.sum(te.if_then_else(k.var < i[axis], term, _zero(x)), axis=k)

    return te.compute(extents(x), at, name="before")


def _zero(x: Tensor) -> Any:
    return te.const(0, x.dtype)


__all__ = ["cumsum"]
