"""Images sampled at positions that are data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ... import te, tir
from ..._core import Tensor
from ..coordinates import reads_coordinates
from .tables import Interpolation

Outside = Literal["zeros", "border", "reflection"]

_CUBIC = -0.75
_RADIUS = {"linear": 1, "cubic": 2}


def _real(dtype: str) -> str:
    """Return the dtype of positions and weights."""
    return "float64" if dtype == "float64" else "float32"


def _denormalized(x: Any, extent: int, align_corners: bool) -> Any:
    """Return the position along an axis for a coordinate from -1 to 1."""
    if align_corners:
        return (x + 1) / 2 * (extent - 1)
    return ((x + 1) * extent - 1) / 2


def _reflected(x: Any, extent: int, align_corners: bool) -> Any:
    """Return a position reflected at the ends of the axis, until it is inside."""
    low = 0.0 if align_corners else -0.5
    width = float(extent - 1) if align_corners else float(extent)
    if width == 0:
        return x * 0
    distance = te.abs(x - low)
    times = te.floor(distance / width)
    rest = distance - times * width
    is_even = times - 2 * te.floor(times / 2) == 0
    folded = te.if_then_else(is_even, low + rest, low + width - rest)
    return te.if_then_else(te.all(x >= low, x <= low + width), x, folded)


def _continued(x: Any, extent: int, align_corners: bool, outside: Outside) -> Any:
    """Return the position to read for a position that may be outside of the image."""
    if outside == "border":
        zero, last = te.const(0, x.dtype), te.const(extent - 1, x.dtype)
        return tir.max(tir.min(x, last), zero)
    return _reflected(x, extent, align_corners) if outside == "reflection" else x


def _weight(distance: Any, interpolation: Interpolation) -> Any:
    """Return the interpolation weight of an element at a distance."""
    d = te.abs(distance)
    if interpolation == "linear":
        return tir.max(1 - d, te.const(0, d.dtype))
    near = ((_CUBIC + 2) * d - (_CUBIC + 3)) * d * d + 1
    far = ((_CUBIC * d - 5 * _CUBIC) * d + 8 * _CUBIC) * d - 4 * _CUBIC
    return te.if_then_else(d <= 1, near, te.if_then_else(d < 2, far, te.const(0, d.dtype)))


def _pixel(
    x: Tensor, image: Sequence[Any], places: Sequence[Any], align_corners: bool, outside: Outside
) -> Any:
    """Return the element at an integer position, which may be outside; reads stay in the image."""
    index, inside = [], []
    for place, extent in zip(places, [int(n) for n in x.shape[2:]], strict=True):
        there = _continued(place, extent, align_corners, outside)
        inside += [there >= 0, there <= extent - 1]
        number = there.astype("int32")
        index.append(tir.max(tir.min(number, te.const(extent - 1)), te.const(0)))
    if outside != "zeros":
        return x(*image, *index)
    return te.if_then_else(te.all(*inside), x(*image, *index), te.const(0, x.dtype))


def grid_sample(
    x: Tensor,
    grid: Tensor,
    interpolation: Interpolation = "linear",
    outside: Outside = "zeros",
    align_corners: bool = False,
) -> Tensor:
    """Sample images at positions, as ONNX's operator GridSample.

    If elements around a position are outside of the image, `outside` determines their values; the
    position itself is not changed, as in PyTorch.

    Parameters
    ----------
    x : Tensor
        ``[N, C, *image]``.
    grid : Tensor
        ``[N, *size, axes of the image]``: coordinates from -1 to 1; the coordinate along the last
        axis comes first.
    interpolation : "nearest", "linear" or "cubic"
    outside : "zeros", "border" or "reflection"
        The elements outside of the image.
    align_corners : bool
        Whether -1 and 1 are the centers of the first and the last element, or their outer edges.

    Returns
    -------
    Tensor
        ``[N, C, *size]`` of the dtype of `x`; sums are float32, or float64 if `x` is float64.
    """
    image = [int(extent) for extent in x.shape[2:]]
    real = _real(grid.dtype)
    shape = (*x.shape[:2], *grid.shape[1:-1])

    def position(i: Sequence[Any], axis: int) -> Any:
        given = grid(i[0], *i[2:], len(image) - 1 - axis).astype(real)
        place = _denormalized(given, image[axis], align_corners)
        return te.nearbyint(place) if interpolation == "nearest" else place

    def nearest(*i: Any) -> Any:
        places = [position(i, axis) for axis in range(len(image))]
        return _pixel(x, i[:2], places, align_corners, outside)

    if interpolation == "nearest":
        return te.compute(shape, nearest, name="sampled")
    radius = _RADIUS[interpolation]
    taps = [te.reduce_axis((0, 2 * radius), name="tap") for _ in image]
    total = _real(x.dtype)

    def term(*i: Any) -> Any:
        places, product = [], te.const(1.0, total)
        for axis, tap in enumerate(taps):
            center = position(i, axis)
            place = te.floor(center) + (tap.var - (radius - 1)).astype(real)
            places.append(place)
            product = product * _weight(center - place, interpolation).astype(total)
        value = _pixel(x, i[:2], places, align_corners, outside)
        return te.sum(value.astype(total) * product, axis=taps)

    made = te.compute(shape, term, name="sampled")
    if made.dtype == x.dtype:
        return made
    return te.compute(shape, lambda *i: made(*i).astype(x.dtype), name="rounded")


@reads_coordinates("theta", "places")
def affine_grid(theta: Tensor, places: Tensor, size: Sequence[int]) -> Tensor:
    """Return the grid with which :func:`grid_sample` transforms images by matrices.

    Parameters
    ----------
    theta : Tensor
        ``[N, axes, axes + 1]``: the matrices transform ``[..., height, width, 1]``, last axis
        first.
    places : Tensor
        The places of elements along all axes, one axis after the other: see :func:`grid_places`.
    size : sequence of int
        The spatial extents of the result.

    Returns
    -------
    Tensor
        ``[N, *size, axes]``.
    """
    axes = len(size)
    real = _real(theta.dtype)

    def at(*i: Any) -> Any:
        value = theta(i[0], i[-1], axes).astype(real)
        for axis in range(axes):
            place = places(sum(size[:axis]) + i[1 + axis])
            value = value + theta(i[0], i[-1], axes - 1 - axis).astype(real) * place
        return value.astype(theta.dtype)

    return te.compute((theta.shape[0], *size, axes), at, name="grid")


def grid_places(size: Sequence[int], dtype: str, align_corners: bool = False) -> NDArray[Any]:
    """Return the places of elements along all axes, between -1 and 1, for :func:`affine_grid`.

    They are a tensor because PoCL 3.1 vectorizes conversions of such indices to floating point
    wrongly where results are float16.

    Parameters
    ----------
    size : sequence of int
    dtype : str
        That of the matrices.
    align_corners : bool
        As for :func:`grid_sample`. The place of a single element is then -1.
    """
    first = 0 if align_corners else 1
    steps = [max(extent - 1, 1) if align_corners else extent for extent in size]
    places = [
        (2 * np.arange(extent) + first) / step - 1 for extent, step in zip(size, steps, strict=True)
    ]
    return np.concatenate(places).astype(_real(dtype))


__all__ = ["Outside", "affine_grid", "grid_places", "grid_sample"]
