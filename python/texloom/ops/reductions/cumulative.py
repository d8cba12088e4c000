"""Cumulative sums and products."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ... import te
from ..._core import Tensor
from ...extents import number_of, plain
from ..precision import sum_dtype
from .axes import extents, normalized

_RUN = 32
"""Elements that a thread accumulates by itself; longer axes are accumulated in such runs."""


@dataclass(frozen=True)
class _Accumulation:
    """How elements are accumulated."""

    name: str
    reduce: Callable[..., Any]
    combine: Callable[[Any, Any], Any]
    identity: int

    def all_if(self, condition: Any, element: Any, x: Tensor, k: Any) -> Any:
        """Accumulate those elements for which a condition on `k` holds."""
        chosen = te.if_then_else(condition, element, te.const(self.identity, x.dtype))
        return self.reduce(chosen, axis=k)


_SUM = _Accumulation("cumsum", te.sum, lambda a, b: a + b, 0)
_PRODUCT = _Accumulation("cumprod", te.prod, lambda a, b: a * b, 1)


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
    return _accumulated(_SUM, x, axis, exclusive, reverse)


def cumprod(x: Tensor, axis: int, exclusive: bool = False, reverse: bool = False) -> Tensor:
    """Return the cumulative products of the elements along an axis, like :func:`cumsum`."""
    return _accumulated(_PRODUCT, x, axis, exclusive, reverse)


def _accumulated(
    how: _Accumulation, x: Tensor, axis: int, exclusive: bool, reverse: bool
) -> Tensor:
    (own,) = normalized([axis], len(x.shape))
    last = extents(x)[own] - 1
    wide = sum_dtype(x.dtype)

    def turned(i: Any) -> list[Any]:
        return [*i[:own], last - i[own] if reverse else i[own], *i[own + 1 :]]

    terms = te.compute(x.shape, lambda *i: x(*turned(i)).astype(wide), name="terms")
    made = _in_runs(how, terms, own, exclusive)
    return te.compute(x.shape, lambda *i: made(*turned(i)).astype(x.dtype), name=how.name)


def _in_runs(how: _Accumulation, x: Tensor, axis: int, exclusive: bool) -> Tensor:
    """Accumulate within runs, and combine the results with those of all previous runs."""
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
        return how.all_if(counts, x(*at(i, i[axis] // run * run + k.var)), x, k)

    inside = te.compute(shape, within, name="within")
    if is_known and length <= run:
        return inside
    runs = plain((length + (run - 1)) // run)

    def total(*i: Any) -> Any:
        k = te.reduce_axis((0, run), name="k")
        place = i[axis] * run + k.var
        return how.all_if(place < length, x(*at(i, place)), x, k)

    totals = te.compute((*shape[:axis], runs, *shape[axis + 1 :]), total, name="totals")
    before = _in_runs(how, totals, axis, True) if is_known else _before(how, totals, axis)

    def combined(*i: Any) -> Any:
        return how.combine(inside(*i), before(*at(i, i[axis] // run)))

    return te.compute(shape, combined, name="sums")


def _before(how: _Accumulation, x: Tensor, axis: int) -> Tensor:
    """Accumulate all elements before each one, along an axis whose extent a run tells."""
    k = te.reduce_axis((0, extents(x)[axis]), name="k")

    def at(*i: Any) -> Any:
        return how.all_if(k.var < i[axis], x(*i[:axis], k.var, *i[axis + 1 :]), x, k)

    return te.compute(extents(x), at, name="before")


__all__ = ["cumprod", "cumsum"]
