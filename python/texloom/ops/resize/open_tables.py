"""Tables of a resized axis whose scale is known only at a run; a kernel computes them.

Coordinates are quotients of integers, and hence exact. The tables of :mod:`.tables` are rounded as
ONNX Runtime rounds them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from ... import te
from ..._core import Tensor
from ...extents import Extent, value_of
from ...tir import PrimExpr
from .tables import Sampling

TRANSFORMATIONS_OF_QUOTIENTS = (
    "half_pixel",
    "pytorch_half_pixel",
    "align_corners",
    "asymmetric",
    "tf_half_pixel_for_nn",
)
"""The transformations for which :func:`open_table` computes coordinates."""

_WIDE = "int64"  # the type of products of extents


def open_table(
    extent: Extent, size: Extent, ratio: tuple[Extent, Extent], sampling: Sampling, dtype: str
) -> list[Tensor]:
    """Return the taps of each element of a resized axis.

    Parameters
    ----------
    extent, size : int or Expr
        The extents of the tensor and of the result.
    ratio : (int or Expr, int or Expr)
        The numerator and the denominator of the scale.
    sampling : Sampling
        Its transformation is one of :data:`TRANSFORMATIONS_OF_QUOTIENTS`. The filter is not
        stretched.
    dtype : str
        The type of the weights.

    Returns
    -------
    list of Tensor
        The positions, ``[size]`` of int32, for the interpolation "nearest". For others the
        positions, ``[size, taps]``, and their weights, ``[size, taps]``.
    """
    whole, last = value_of(size, _WIDE), value_of(extent, _WIDE) - 1

    def coordinate(o: Any) -> tuple[PrimExpr, PrimExpr, PrimExpr]:
        """Return the floor of the coordinate, and the rest as numerator and denominator."""
        above, below = _quotient(o.astype(_WIDE), whole, last, ratio, sampling.transformation)
        floor = te.floordiv(above, below)
        return floor, above - floor * below, below

    def clamped(place: PrimExpr) -> PrimExpr:
        return te.max(te.min(place, last), te.const(0, _WIDE)).astype("int32")

    if sampling.interpolation == "nearest":

        def nearest(o: Any) -> PrimExpr:
            floor, rest, below = coordinate(o)
            up = _rounds_up(rest, below, ratio, sampling.rounding)
            return clamped(floor + up.astype(_WIDE))

        return [te.compute((size,), nearest, name="positions")]
    before = 0 if sampling.interpolation == "linear" else 1
    taps = 2 * before + 2

    def position(o: Any, tap: Any) -> PrimExpr:
        return clamped(coordinate(o)[0] - before + tap.astype(_WIDE))

    def weight(o: Any, tap: Any) -> PrimExpr:
        floor, rest, below = coordinate(o)
        part = rest.astype(dtype) / below.astype(dtype)
        weights = _linear(part) if before == 0 else _cubic(part, sampling.cubic_coefficient)
        if sampling.exclude_outside:
            places = [floor + (number - before) for number in range(taps)]
            weights = _inside([te.all(p >= 0, p <= last) for p in places], weights)
        return _chosen(tap, weights)

    return [
        te.compute((size, taps), position, name="positions"),
        te.compute((size, taps), weight, name="weights"),
    ]


def _quotient(
    o: PrimExpr,
    size: PrimExpr,
    last: PrimExpr,
    ratio: tuple[Extent, Extent],
    transformation: str,
) -> tuple[PrimExpr, PrimExpr]:
    """Return the coordinate of element `o` of the result as a quotient."""
    above, below = (value_of(each, _WIDE) for each in ratio)
    if transformation == "asymmetric":
        return o * below, above
    if transformation == "align_corners":  # a result of one element has the coordinate 0
        return o * last * below, te.max((last + 1) * above - below, te.const(1, _WIDE))
    if transformation == "tf_half_pixel_for_nn":
        return (2 * o + 1) * below, 2 * above
    centered = (2 * o + 1) * below - above
    if transformation == "pytorch_half_pixel":
        centered = te.if_then_else(size > 1, centered, te.const(0, _WIDE))
    return centered, 2 * above


def _rounds_up(
    rest: PrimExpr, below: PrimExpr, ratio: tuple[Extent, Extent], rounding: str
) -> PrimExpr:
    """Whether the nearest element is the one after the floor of a coordinate."""
    if rounding == "round_prefer_floor":
        return 2 * rest > below
    if rounding == "round_prefer_ceil":
        return 2 * rest >= below
    if rounding == "floor":
        return te.const(False, "bool")
    if rounding == "ceil":
        return rest > 0
    return te.all(rest > 0, value_of(ratio[0], _WIDE) < value_of(ratio[1], _WIDE))


def _linear(part: PrimExpr) -> list[PrimExpr]:
    """Return the weights of the elements before and after a coordinate."""
    return [1 - part, part]


def _cubic(part: PrimExpr, a: float) -> list[PrimExpr]:
    """Return the weights of four elements around a coordinate; see the module `tables`."""

    def near(d: PrimExpr) -> PrimExpr:
        return ((a + 2) * d - (a + 3)) * d * d + 1

    def far(d: PrimExpr) -> PrimExpr:
        return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a

    return [far(1 + part), near(part), near(1 - part), far(2 - part)]


def _inside(inside: Sequence[PrimExpr], weights: Sequence[PrimExpr]) -> list[PrimExpr]:
    """Return the weights, in which those of elements outside of the tensor are 0, of equal sum."""
    zero = te.const(0, weights[0].dtype)
    kept = [te.if_then_else(is_in, w, zero) for is_in, w in zip(inside, weights, strict=True)]
    total = reduce(lambda a, b: a + b, kept)
    is_none = total.equal(zero)
    divisor = te.if_then_else(is_none, te.const(1, weights[0].dtype), total)
    return [te.if_then_else(is_none, w, k / divisor) for w, k in zip(weights, kept, strict=True)]


def _chosen(number: PrimExpr, values: Sequence[PrimExpr]) -> PrimExpr:
    """Return one of several values by its number."""
    made = values[-1]
    for each in reversed(range(len(values) - 1)):
        made = te.if_then_else(number.equal(each), values[each], made)
    return made


__all__ = ["TRANSFORMATIONS_OF_QUOTIENTS", "open_table"]
