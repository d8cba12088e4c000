"""Tables of a resized axis: the elements that each result is computed from, and their weights.

The coordinates are those of ONNX's operator Resize, computed in float32 as ONNX Runtime does: in
double precision, positions such as 8 / 1.6 would be rounded to the other side of an integer. Only
the weights of float64 elements come from coordinates in double precision.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...extents import Extent

Interpolation = Literal["nearest", "linear", "cubic"]
Real = type[np.float32] | type[np.float64]
"""The type in which coordinates are computed."""

TRANSFORMATIONS = (
    "half_pixel",
    "half_pixel_symmetric",
    "pytorch_half_pixel",
    "align_corners",
    "asymmetric",
    "tf_half_pixel_for_nn",
    "tf_crop_and_resize",
)
"""The rules by which a position in the result becomes a position in the tensor."""

ROUNDINGS = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
"""The rules that round a position to that of an element, for the interpolation "nearest"."""


@dataclass(frozen=True)
class Sampling:
    """How the elements of a resized axis are computed; names and meanings are ONNX's.

    Attributes
    ----------
    interpolation : "nearest", "linear" or "cubic"
    transformation : str
        One of :data:`TRANSFORMATIONS`.
    rounding : str
        One of :data:`ROUNDINGS`, or "by_scale": round up if the axis becomes shorter, else down.
    cubic_coefficient : float
        The parameter of the cubic convolution.
    antialias : bool
        Whether the filter is stretched when an axis becomes shorter.
    exclude_outside : bool
        Whether taps outside of the tensor have no weight; otherwise they read the element at its
        edge.
    """

    interpolation: Interpolation = "nearest"
    transformation: str = "half_pixel"
    rounding: str = "round_prefer_floor"
    cubic_coefficient: float = -0.75
    antialias: bool = False
    exclude_outside: bool = False


class Axis(NamedTuple):
    """An axis that is resized.

    Attributes
    ----------
    extent : int or Expr
        The extent of the tensor.
    size : int or Expr
        The extent of the result.
    scale : float
        The ratio of the lengths of result and tensor; ``scale * extent`` may differ from `size`.
        NaN if the scale is known only at a run: then it is the quotient `ratio`.
    begin, end : float
        The part of the axis that is resized, as fractions from 0 to 1, for "tf_crop_and_resize".
    ratio : (int or Expr, int or Expr), optional
        The numerator and the denominator of the scale.
    """

    extent: Any
    size: Any
    scale: float
    begin: float = 0.0
    end: float = 1.0
    ratio: tuple[Extent, Extent] | None = None


class Table(NamedTuple):
    """The taps of each element of a resized axis.

    Attributes
    ----------
    positions : array
        ``[size, taps]`` of int32.
    weights : array
        ``[size, taps]`` of float64.
    inside : array
        ``[size]`` of bool: whether the element lies in the tensor.
    """

    positions: NDArray[np.int32]
    weights: NDArray[np.float64]
    inside: NDArray[np.bool_]


def coordinates(axis: Axis, transformation: str, one: Real = np.float32) -> NDArray[Any]:
    """Return the position in the tensor of each element of the resized axis."""
    x = np.arange(axis.size, dtype=one)
    half, scale, last = one(0.5), one(axis.scale), one(axis.extent - 1)
    length = scale * one(axis.extent)
    if transformation == "asymmetric":
        return x / scale
    if transformation == "align_corners":
        return np.zeros_like(x) if length == 1 else x * last / (length - one(1))
    if transformation == "tf_half_pixel_for_nn":
        return (x + half) / scale
    if transformation == "tf_crop_and_resize":
        begin, end = one(axis.begin), one(axis.end)
        if axis.size == 1:
            return x + half * (begin + end) * last
        return begin * last + x * (end - begin) * last / one(axis.size - 1)
    if transformation == "pytorch_half_pixel" and axis.size == 1:
        return np.zeros_like(x)
    centered = (x + half) / scale - half
    if transformation == "half_pixel_symmetric":
        centered += one(axis.extent) / one(2) * (one(1) - one(axis.size) / length)
    return centered


def _rounded(x: NDArray[np.float32], rounding: str, scale: float) -> NDArray[Any]:
    half = np.float32(0.5)
    if rounding == "by_scale":
        rounding = "ceil" if scale < 1 else "floor"
    if rounding == "round_prefer_floor":
        return np.ceil(x - half)
    if rounding == "round_prefer_ceil":
        return np.floor(x + half)
    return np.floor(x) if rounding == "floor" else np.ceil(x)


def _linear(distance: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.maximum(1 - np.abs(distance), 0)


def _cubic(distance: NDArray[np.float64], a: float) -> NDArray[np.float64]:
    """Return the cubic convolution of R. G. Keys, "Cubic convolution interpolation" (1981)."""
    d = np.abs(distance)
    near = ((a + 2) * d - (a + 3)) * d * d + 1
    far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
    return np.where(d <= 1, near, np.where(d < 2, far, 0))


def table(axis: Axis, sampling: Sampling, real: Real = np.float32) -> Table:
    """Return the taps of a resized axis, with coordinates of this type."""
    x = coordinates(axis, sampling.transformation, real)
    inside = np.ones(axis.size, bool)
    if sampling.transformation == "tf_crop_and_resize":
        inside = (x >= 0) & (x <= axis.extent - 1)
    if sampling.interpolation == "nearest":
        positions = _rounded(x, sampling.rounding, axis.scale)[:, None]
        weights = np.ones(positions.shape)
    else:
        positions, weights = _filtered(x, axis.scale, sampling)
    if sampling.exclude_outside:
        is_outside = (positions < 0) | (positions >= axis.extent)
        kept = np.where(is_outside, 0, weights)
        total = kept.sum(1, keepdims=True)
        weights = np.where(total == 0, weights, kept / np.where(total == 0, 1, total))
    positions = np.clip(positions, 0, axis.extent - 1).astype(np.int32)
    return Table(positions, weights, inside)


class Phases(NamedTuple):
    """The periodic taps of a resized axis of any extent, whose scale is a fraction p / q.

    Element o of the result has the taps of phase o % p, moved by q * (o // p).

    Attributes
    ----------
    offsets : array
        ``[p, taps]`` of int32; positions outside of the tensor stand for the element at its edge.
    weights : array
        ``[p, taps]`` of float64.
    step : int
        The denominator q.
    """

    offsets: NDArray[np.int32]
    weights: NDArray[np.float64]
    step: int


_MOST_PHASES = 64
_PERIODIC = ("half_pixel", "pytorch_half_pixel", "asymmetric", "tf_half_pixel_for_nn")


def parts_of(scale: float) -> tuple[int, int] | None:
    """Return the numerator and the denominator of a scale; None if they are not small."""
    above, below = scale.as_integer_ratio()
    return None if max(above, below) > _MOST_PHASES else (above, below)


def phases(scale: float, sampling: Sampling, real: Real = np.float32) -> Phases | None:
    """Return the taps for a scale and any extent; None if they depend on the extent.

    "pytorch_half_pixel" treats a result of one element differently: the extent must be at least 2.
    """
    parts = parts_of(scale)
    if parts is None or sampling.transformation not in _PERIODIC:
        return None
    count, step = parts
    if sampling.exclude_outside:  # weights differ near the edges
        return None
    # Take a period so far from the edges that no tap is outside.
    before = 64 // min(count, step) + 1
    axis = Axis(extent=(2 * before + 1) * step, size=(2 * before + 1) * count, scale=scale)
    middle = slice(before * count, (before + 1) * count)
    made = table(axis, sampling, real)
    return Phases(made.positions[middle] - before * step, made.weights[middle], step)


def _filtered(
    x: NDArray[Any], scale: float, sampling: Sampling
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return the positions under the filter around each coordinate, and their weights."""
    shrink = min(float(scale), 1.0) if sampling.antialias else 1.0
    radius = int(np.ceil((1 if sampling.interpolation == "linear" else 2) / shrink))
    positions = np.floor(x)[:, None] + np.arange(1 - radius, radius + 1)
    distance = (positions - x[:, None]).astype(np.float64) * shrink
    if sampling.interpolation == "linear":
        weights = _linear(distance)
    else:
        weights = _cubic(distance, sampling.cubic_coefficient)
    if sampling.antialias:
        weights = weights / weights.sum(1, keepdims=True)
    return positions, weights


__all__ = ["ROUNDINGS", "TRANSFORMATIONS", "Axis", "Interpolation", "Phases", "Real", "Sampling"]
__all__ += ["Table", "coordinates", "parts_of", "phases", "table"]
