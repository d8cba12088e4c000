"""Softmax, log-softmax and hardmax over one or several axes.

Exponentials are computed of differences from the greatest element, so that they do not overflow.
Elements of 16 bits are computed in float32.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import te, tir
from ..._core import Tensor
from ..precision import sum_dtype
from ..reductions import reduce_max
from ..reductions.axes import extents, kept, normalized, reduce_over

LEAST_EXPONENT = {"float32": -87.3, "float64": -708.3}
"""Exponentials of less are subnormal, which processors compute with slowly: a softmax has 0 there.

The greatest exponential is 1, so that this changes a sum by less than its rounding.
"""


def _above(x: Tensor, axes: Sequence[int]) -> Tensor:
    """Return the differences from the maximum over `axes`."""
    wide = sum_dtype(x.dtype)
    top = reduce_max(x, axes)

    def difference(*i: Any) -> Any:
        return x(*i).astype(wide) - top(*kept(i, axes)).astype(wide)

    return te.compute(x.shape, difference, name="above")


def _exponentials(above: Tensor, axes: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Return the exponentials of the differences from the maximum, and their sum over `axes`."""
    least = te.const(LEAST_EXPONENT[above.dtype], above.dtype)

    def exponent(*i: Any) -> Any:
        value = above(*i)
        return te.if_then_else(value < least, te.const(float("-inf"), above.dtype), value)

    exponents = te.compute(above.shape, exponent, name="exponents")
    powers = te.compute(above.shape, lambda *i: te.exp(exponents(*i)), name="powers")
    return powers, reduce_over(powers, axes, te.sum, lambda v, *_: v, name="exponentials")


def softmax(x: Tensor, axes: Sequence[int] = (-1,)) -> Tensor:
    """Return ``exp(x)`` divided by its sum over `axes`."""
    own = normalized(axes, len(x.shape))
    powers, total = _exponentials(_above(x, own), own)

    def share(*i: Any) -> Any:
        # At least 1 is in the sum. Its inverse is computed once for all elements.
        inverse = te.const(1, total.dtype) / total(*kept(i, own))
        return (powers(*i) * inverse).astype(x.dtype)

    return te.compute(x.shape, share, name="softmax")


def masked_softmax(x: Tensor, axes: Sequence[int] = (-1,)) -> Tensor:
    """Return :func:`softmax`, but 0 where all elements over `axes` are minus infinity."""
    own, wide = normalized(axes, len(x.shape)), sum_dtype(x.dtype)
    top, least = reduce_max(x, own), te.min_value(wide)

    def difference(*i: Any) -> Any:  # from the maximum, made finite
        greatest = top(*kept(i, own)).astype(wide)
        return x(*i).astype(wide) - te.if_then_else(greatest < least, least, greatest)

    above = te.compute(x.shape, difference, name="above")
    powers, total = _exponentials(above, own)

    def share(*i: Any) -> Any:
        sum_ = total(*kept(i, own))
        divisor = te.if_then_else(sum_.equal(te.const(0, wide)), te.const(1, wide), sum_)
        return (powers(*i) / divisor).astype(x.dtype)

    return te.compute(x.shape, share, name="masked_softmax")


def log_softmax(x: Tensor, axes: Sequence[int] = (-1,)) -> Tensor:
    """Return the logarithm of :func:`softmax`, also exact where the softmax underflows."""
    own = normalized(axes, len(x.shape))
    above = _above(x, own)
    _, total = _exponentials(above, own)

    def result(*i: Any) -> Any:
        return (above(*i) - te.log(total(*kept(i, own)))).astype(x.dtype)

    return te.compute(x.shape, result, name="log_softmax")


def hardmax(x: Tensor, axes: Sequence[int] = (-1,)) -> Tensor:
    """Return 1 at the first greatest element over `axes`, and 0 elsewhere."""
    own = normalized(axes, len(x.shape))
    shape = extents(x)
    top = reduce_max(x, own)

    def number(i: Sequence[Any]) -> Any:
        """Return the index of an element among the elements that are reduced together."""
        place: Any = tir.const(0, "int32")
        for a in own:
            place = place * shape[a] + i[a]
        return place

    def candidate(value: Any, *i: Any) -> Any:
        best = top(*kept(i, own))
        wins = value.equal(best)
        if "float" in x.dtype:
            wins = te.any(wins, te.isnan(value))
        return te.if_then_else(wins, number(i), te.max_value("int32"))

    first = reduce_over(x, own, te.min, candidate, name="first")

    def hot(*i: Any) -> Any:
        return number(i).equal(first(*kept(i, own))).astype(x.dtype)

    return te.compute(shape, hot, name="hardmax")


__all__ = ["LEAST_EXPONENT", "hardmax", "log_softmax", "masked_softmax", "softmax"]
