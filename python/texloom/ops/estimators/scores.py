"""Transformations of scores that only estimators use."""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

from ... import te
from ..._core import Tensor
from ...extents import shape_of
from ..elementwise.table import unary
from ..reductions import reduce_max
from ..reductions.axes import kept, reduce_over

_WINITZKI = 0.147
_NONZERO = 1e-7
"""Scores of this magnitude or less are zeros for :func:`softmax_zero`."""


def _probit(p: Any) -> Any:
    def number(value: float) -> Any:
        return te.const(value, p.dtype)

    # With q = log(1 - x²) and x = 2 p - 1, the inverse error function is the root of
    # sqrt(v² - q / 0.147) - v. The quotient has no cancellation where p is near 1 / 2.
    log = te.log(number(4) * p * (number(1) - p))
    v = number(2 / (pi * _WINITZKI)) + number(0.5) * log
    ratio = log * number(1 / _WINITZKI)
    root = te.sqrt(-ratio / (v + te.sqrt(v * v - ratio)))
    return number(sqrt(2)) * te.if_then_else(p < number(0.5), -root, root)


probit = unary(
    "probit",
    _probit,
    "The quantile of the normal distribution at ``x``, by an approximation with a relative error "
    "of 0.002 (S. Winitzki, A handy approximation for the error function and its inverse, 2008); "
    "NaN outside of the range from 0 to 1.",
)


def softmax_zero(x: Tensor) -> Tensor:
    """Return the softmax over the last axis of the elements other than 0; zeros stay 0."""
    axes = (len(x.shape) - 1,)
    top = reduce_max(x, axes)

    def exponential(*i: Any) -> Any:
        value = x(*i)
        is_zero = te.abs(value) <= te.const(_NONZERO, x.dtype)
        own = te.exp(value - top(*kept(i, axes)))
        return te.if_then_else(is_zero, te.const(0, x.dtype), own)

    above = te.compute(shape_of(x), exponential, name="exponentials")
    total = reduce_over(above, axes, te.sum, lambda value, *_: value, name="total")

    def share(*i: Any) -> Any:
        own = total(*kept(i, axes))
        return above(*i) / te.if_then_else(
            own.equal(te.const(0, x.dtype)), te.const(1, x.dtype), own
        )

    return te.compute(shape_of(x), share, name="softmax_zero")


__all__ = ["probit", "softmax_zero"]
