"""Sums, means, products, extrema and norms over axes.

All functions take a tensor, the axes (None: all), and whether the reduced axes stay with extent 1.
Elements of 16 bits are accumulated in float32. Integers are accumulated in their own type, and wrap
if they overflow. Roots and logarithms of integers are computed in float32, and sums of exponentials
of integers in float64.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ... import te, tir
from ..._core import Tensor
from ...extents import product, value_of
from ..broadcast import elementwise
from ..extrema import maximum, minimum
from ..precision import sum_dtype
from .axes import extents, is_float, kept, normalized, reduce_over, reduced_shape

Axes = Sequence[int] | None
Function = Callable[[Any], Any]


def _same(value: Any) -> Any:
    return value


def _reduction(
    x: Tensor,
    axes: Axes,
    keepdims: bool,
    reducer: Callable[..., Any],
    name: str,
    before: Function = _same,
    after: Function = _same,
) -> Tensor:
    """Return ``after(reducer(before(x)))``, accumulated in a wider type, then rounded back."""
    wide, dtype = sum_dtype(x.dtype), x.dtype
    own = normalized(axes, len(x.shape))
    if not own:
        return elementwise(lambda v: after(before(v.astype(wide))).astype(dtype), x, name=name)
    total = reduce_over(x, own, reducer, lambda v, *_: before(v.astype(wide)), keepdims, name)
    if after is _same and wide == dtype:
        return total
    return elementwise(lambda v: after(v).astype(dtype), total, name=f"{name}_result")


def _in_float(function: Function) -> Function:
    """Return a function of floats that also accepts integers, which it converts to float32."""
    return lambda v: function(v if is_float(v.dtype) else v.astype("float32"))


def reduce_sum(x: Tensor, axes: Axes = None, keepdims: bool = True) -> Tensor:
    """Return the sum of the elements."""
    return _reduction(x, axes, keepdims, te.sum, "sum")


def reduce_mean(x: Tensor, axes: Axes = None, keepdims: bool = True) -> Tensor:
    """Return the mean of the elements; for integers, it is truncated toward zero."""
    own = normalized(axes, len(x.shape))
    count = product(extents(x)[a] for a in own)

    def divided(v: Any) -> Any:
        return tir.div(v, value_of(count, v.dtype))

    return _reduction(x, axes, keepdims, te.sum, "mean", after=divided)


def reduce_max(x: Tensor, axes: Axes = None, keepdims: bool = True) -> Tensor:
    """Return the maximum of the elements; NaN if one of them is NaN."""
    return _extremum(x, axes, keepdims, maximum, "max")


def reduce_min(x: Tensor, axes: Axes = None, keepdims: bool = True) -> Tensor:
    """Return the minimum of the elements; NaN if one of them is NaN."""
    return _extremum(x, axes, keepdims, minimum, "min")


def _extremum(
    x: Tensor, axes: Axes, keepdims: bool, reducer: Callable[..., Any], name: str
) -> Tensor:
    own = normalized(axes, len(x.shape))
    if not own:
        return elementwise(_same, x, name=name)
    return reduce_over(x, own, reducer, lambda v, *_: v, keepdims, name)


def reduce_prod(x: Tensor, axes: Axes = None, keepdims: bool = True) -> Tensor:
    """Return the product of the elements."""
    return _reduction(x, axes, keepdims, te.prod, "prod")


def reduce_l1(x: Tensor, axes: Axes = None, keepdims: bool = True) -> Tensor:
    """Return the sum of the magnitudes of the elements."""
    return _reduction(x, axes, keepdims, te.sum, "l1", before=te.abs)


def reduce_l2(x: Tensor, axes: Axes = None, keepdims: bool = True) -> Tensor:
    """Return the root of the sum of the squares of the elements."""
    return _reduction(x, axes, keepdims, te.sum, "l2", _square, _in_float(te.sqrt))


def reduce_sum_square(x: Tensor, axes: Axes = None, keepdims: bool = True) -> Tensor:
    """Return the sum of the squares of the elements."""
    return _reduction(x, axes, keepdims, te.sum, "sum_square", before=_square)


def _square(v: Any) -> Any:
    return v * v


def reduce_log_sum(x: Tensor, axes: Axes = None, keepdims: bool = True) -> Tensor:
    """Return the logarithm of the sum of the elements."""
    return _reduction(x, axes, keepdims, te.sum, "log_sum", after=_in_float(te.log))


def reduce_log_sum_exp(x: Tensor, axes: Axes = None, keepdims: bool = True) -> Tensor:
    """Return the logarithm of the sum of the exponentials of the elements.

    Intermediate values do not overflow unless the result does: the exponentials are computed of
    differences from the greatest element.
    """
    own = normalized(axes, len(x.shape))
    if not own:
        return elementwise(_same, x, name="log_sum_exp")
    top = reduce_max(x, own, True)
    wide = sum_dtype(x.dtype) if is_float(x.dtype) else "float64"

    def base(*i: Any) -> Any:
        value = top(*i).astype(wide)
        return te.if_then_else(te.isfinite(value), value, te.const(0, wide))

    total = reduce_over(
        x, own, te.sum, lambda v, *i: te.exp(v.astype(wide) - base(*kept(i, own))), True, "sum_exp"
    )

    def result(*i: Any) -> Any:
        at = i if keepdims else _inserted(i, own, len(x.shape))
        return (te.log(total(*at)) + base(*at)).astype(x.dtype)

    return te.compute(reduced_shape(extents(x), own, keepdims), result, name="log_sum_exp")


def _inserted(indices: Sequence[Any], axes: Sequence[int], rank: int) -> list[Any]:
    """Return indices with 0 for the axes that were dropped."""
    rest = iter(indices)
    return [0 if a in axes else next(rest) for a in range(rank)]


__all__ = [
    "Axes",
    "reduce_l1",
    "reduce_l2",
    "reduce_log_sum",
    "reduce_log_sum_exp",
    "reduce_max",
    "reduce_mean",
    "reduce_min",
    "reduce_prod",
    "reduce_sum",
    "reduce_sum_square",
]
