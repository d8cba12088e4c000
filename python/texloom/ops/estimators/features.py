"""Preparation of features: scaling, normalization, imputation, look-up of categories.

Features are along the last axis.
"""

from __future__ import annotations

from typing import Any, Literal

from ... import te
from ..._core import Tensor
from ...extents import shape_of
from ..broadcast import elementwise
from ..elementwise.conversion import converted
from ..elementwise.table import is_float
from ..extrema import maximum
from ..reductions.axes import kept, reduce_over

Norm = Literal["MAX", "L1", "L2"]


def _wide(dtype: str) -> str:
    """Return the type in which numbers of a type are scaled."""
    return "float64" if dtype == "float64" else "float32"


def rescale(x: Tensor, offset: Tensor, scale: Tensor) -> Tensor:
    """Return ``(x - offset) * scale`` as float32; float64 is computed in float64.

    Parameters
    ----------
    x : Tensor
        ``[..., features]``.
    offset, scale : Tensor
        ``[features]`` or ``[1]``.
    """
    wide = _wide(x.dtype)

    def scaled(value: Any, own: Any, factor: Any) -> Any:
        return ((value.astype(wide) - own.astype(wide)) * factor.astype(wide)).astype("float32")

    return elementwise(scaled, x, offset, scale, name="rescaled")


def normalize(x: Tensor, norm: Norm) -> Tensor:
    """Return `x` divided by a norm of its last axis, as float32; a row whose norm is 0 stays.

    The norm is the greatest element, the sum of magnitudes, or the root of the sum of squares.
    """
    wide, axes = _wide(x.dtype), (len(x.shape) - 1,)

    def term(value: Any, *_: Any) -> Any:
        own = value.astype(wide)
        return {"MAX": own, "L1": te.abs(own), "L2": own * own}[norm]

    reducer = maximum if norm == "MAX" else te.sum
    total = reduce_over(x, axes, reducer, term, name="norm")

    def divided(*i: Any) -> Any:
        own = total(*kept(i, axes))
        divisor = te.sqrt(own) if norm == "L2" else own
        divisor = te.if_then_else(own.equal(te.const(0, wide)), te.const(1, wide), divisor)
        return (x(*i).astype(wide) / divisor).astype("float32")

    return te.compute(shape_of(x), divided, name="normalized")


def impute(x: Tensor, values: Tensor, replaced: float) -> Tensor:
    """Return `x` with the elements that equal `replaced` replaced; NaN equals NaN.

    Parameters
    ----------
    x : Tensor
        ``[..., features]``.
    values : Tensor
        ``[features]`` or ``[1]``, of the type of `x`.
    replaced : int or float
    """
    is_nan = replaced != replaced

    def chosen(value: Any, own: Any) -> Any:
        is_missing = te.isnan(value) if is_nan else value.equal(te.const(replaced, x.dtype))
        return te.if_then_else(is_missing, own, value)

    return elementwise(chosen, x, values, name="imputed")


def binarize(x: Tensor, threshold: float) -> Tensor:
    """Return 1 where `x` is greater than a number that its type can represent, else 0."""
    return elementwise(
        lambda value: (value > te.const(threshold, x.dtype)).astype(x.dtype), x, name="binarized"
    )


def places(x: Tensor, keys: Tensor) -> Tensor:
    """Return the place of each element of `x` among different keys, or -1, as int32.

    NaN equals NaN. `keys` is a list of the type of `x`.
    """

    def place(*i: Any) -> Any:
        k = te.reduce_axis((0, keys.shape[0]), name="k")
        key, value = keys(k.var), x(*i)
        same = value.equal(key)
        if is_float(x.dtype):
            same = te.any(same, te.all(te.isnan(value), te.isnan(key)))
        return te.max(te.if_then_else(same, k.var, te.const(-1, "int32")), axis=k)

    return te.compute(shape_of(x), place, name="places")


def encode(x: Tensor, keys: Tensor, values: Tensor, default: Tensor) -> Tensor:
    """Return the value of the key that equals each element of `x`, or the default.

    Parameters
    ----------
    x : Tensor
    keys, values : Tensor
        ``[keys]``; keys as for :func:`places`.
    default : Tensor
        ``[1]``, of the type of `values`.
    """
    found = places(x, keys)

    def value(*i: Any) -> Any:
        place = found(*i)
        is_known = place >= 0
        return te.if_then_else(is_known, values(te.if_then_else(is_known, place, 0)), default(0))

    return te.compute(shape_of(x), value, name="encoded")


def one_hot_of_categories(x: Tensor, categories: Tensor) -> Tensor:
    """Return vectors along a new last axis: 1 at the category that equals an element, else 0.

    Parameters
    ----------
    x : Tensor
        Numbers, which are truncated to integers.
    categories : Tensor
        ``[categories]`` of int64, all different.

    Returns
    -------
    Tensor
        ``[..., categories]`` of float32; zeros for an element of no category, such as NaN.
    """
    shape = (*shape_of(x), *shape_of(categories))

    def hot(*i: Any) -> Any:
        value = x(*i[:-1])
        same = converted(value, "int64").equal(categories(i[-1]))
        if is_float(x.dtype):
            same = te.all(same, te.isnan(value).equal(te.const(False, "bool")))
        return same.astype("float32")

    return te.compute(shape, hot, name="one_hot")


__all__ = [
    "binarize",
    "encode",
    "impute",
    "normalize",
    "one_hot_of_categories",
    "places",
    "rescale",
]
