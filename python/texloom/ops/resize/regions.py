"""Regions of images, pooled to one size."""

from __future__ import annotations

from typing import Any

from ... import te, tir
from ..._core import IterVar, Tensor
from ..extrema import maximum
from ..indexing.positions import inside


def _real(dtype: str) -> str:
    """Return the dtype of positions, weights and sums."""
    return "float64" if dtype == "float64" else "float32"


def _neighbor(place: Any, extent: int, side: Any) -> tuple[Any, Any]:
    """Return the element beside a position, on side 0 or 1 of it, and its weight."""
    zero = te.const(0, place.dtype)
    inner = tir.max(place, zero)
    low = tir.max(te.floor(inner).astype("int32"), te.const(0))
    last = te.const(extent - 1)
    share = te.if_then_else(low >= last, zero, inner - low.astype(place.dtype))
    return tir.min(low + side, last), te.if_then_else(side == 0, 1 - share, share)


def roi_align(
    x: Tensor,
    rois: Tensor,
    images: Tensor,
    *counts: Tensor,
    size: tuple[int, int],
    samples: tuple[int, int],
    scale: float = 1.0,
    half_pixel: bool = True,
    largest: bool = False,
) -> Tensor:
    """Pool regions, sampled by linear interpolation, as ONNX's operator RoiAlign.

    Parameters
    ----------
    x : Tensor
        ``[N, C, H, W]``.
    rois : Tensor
        ``[regions, 4]``: x and y of one corner, then of the other.
    images : Tensor
        ``[regions]``: the image of each region, an integer.
    counts : Tensor, optional
        ``[regions, 2]`` integers: samples of a bin down and across, at most `samples`. Without it
        there are `samples` in each.
    size : (int, int)
        Rows and columns of bins.
    samples : (int, int)
        Samples of a bin down and across.
    scale : float
        Pixels of `x` for each unit of `rois`.
    half_pixel : bool
        Whether a pixel's center is at half of it; otherwise regions are at least a pixel large.
    largest : bool
        Whether the largest weighted element counts, in place of the samples' mean.

    Returns
    -------
    Tensor
        ``[regions, C, *size]``, of the dtype of `x`.
    """
    real = _real(x.dtype)
    extents = [int(x.shape[2]), int(x.shape[3])]
    taps = [te.reduce_axis((0, n), name="sample") for n in samples]
    sides = [te.reduce_axis((0, 2), name="side") for _ in samples]
    shape = (rois.shape[0], x.shape[1], *size)

    def count(region: Any, axis: int) -> Any:
        return counts[0][region, axis] if counts else te.const(samples[axis], "int32")

    def place(region: Any, axis: int, position: Any, tap: IterVar) -> Any:
        offset = 0.5 if half_pixel else 0.0
        begin, end = (
            rois[region, k].astype(real) * te.const(scale, real) - te.const(offset, real)
            for k in (1 - axis, 3 - axis)
        )
        length = end - begin if half_pixel else tir.max(end - begin, te.const(1, real))
        part = length / te.const(size[axis], real)
        share = (tap.var.astype(real) + te.const(0.5, real)) / count(region, axis).astype(real)
        return begin + position.astype(real) * part + share * part

    def term(*i: Any) -> Any:
        region, channel = i[0], i[1]
        image = inside(images[region], int(x.shape[0]))
        places = [place(region, axis, i[2 + axis], taps[axis]) for axis in range(2)]
        used = []
        for axis, (there, extent) in enumerate(zip(places, extents, strict=True)):
            used += [there >= -1, there <= extent]
            used += [taps[axis].var < count(region, axis)] if counts else []
        (row, down), (column, across) = map(_neighbor, places, extents, [s.var for s in sides])
        zero = te.const(0, real)
        weighted = x[image, channel, row, column].astype(real) * (down * across)
        value = te.if_then_else(te.all(*used), weighted, zero)
        if not largest:
            return te.sum(value, axis=[*taps, *sides])
        if counts:
            is_sample = te.all(*(t.var < count(region, axis) for axis, t in enumerate(taps)))
            value = te.if_then_else(is_sample, value, te.const(float("-inf"), real))
        return maximum(value, axis=[*taps, *sides])

    pooled = te.compute(shape, term, name="pooled")

    def mean(*i: Any) -> Any:
        number = count(i[0], 0) * count(i[0], 1)
        if largest:
            value = te.if_then_else(number > 0, pooled(*i), te.const(0, real))
        else:
            value = pooled(*i) / tir.max(number, te.const(1, "int32")).astype(real)
        return value.astype(x.dtype)

    return te.compute(shape, mean, name="aligned")


def max_roi_pool(x: Tensor, rois: Tensor, size: tuple[int, int], scale: float = 1.0) -> Tensor:
    """Return the largest elements of the bins of regions, as ONNX's operator MaxRoiPool.

    Parameters
    ----------
    x : Tensor
        ``[N, C, H, W]``.
    rois : Tensor
        ``[regions, 5]``: the image, x and y of one corner, then of the other one, which belongs to
        the region.
    size : (int, int)
        Rows and columns of bins.
    scale : float
        Pixels of `x` for each unit of `rois`.

    Returns
    -------
    Tensor
        ``[regions, C, *size]``; zero for bins without pixels.
    """
    extents = [int(x.shape[2]), int(x.shape[3])]
    pixels = [te.reduce_axis((0, n), name="pixel") for n in extents]
    shape = (rois.shape[0], x.shape[1], *size)
    real = _real(x.dtype)

    def limits(region: Any, axis: int, position: Any) -> tuple[Any, Any]:
        begin, end = (
            te.round(rois[region, k].astype(real) * te.const(scale, real)).astype("int32")
            for k in (2 - axis, 4 - axis)
        )
        length = tir.max(end - begin + 1, te.const(1)).astype(real)
        part = length / te.const(size[axis], real)
        first = te.floor(position.astype(real) * part).astype("int32") + begin
        last = te.ceil((position + 1).astype(real) * part).astype("int32") + begin
        return first, last

    def term(*i: Any) -> Any:
        image = inside(rois[i[0], 0].astype("int32"), int(x.shape[0]))
        used = []
        for axis, pixel in enumerate(pixels):
            first, last = limits(i[0], axis, i[2 + axis])
            used += [pixel.var >= first, pixel.var < last]
        nothing = te.const(float("-inf"), x.dtype)
        value = x[image, i[1], pixels[0], pixels[1]]
        return maximum(te.if_then_else(te.all(*used), value, nothing), axis=pixels)

    pooled = te.compute(shape, term, name="largest")

    def filled(*i: Any) -> Any:
        is_empty = []
        for axis, extent in enumerate(extents):
            first, last = limits(i[0], axis, i[2 + axis])
            is_empty += [last <= 0, first >= extent, last <= first]
        return te.if_then_else(te.any(*is_empty), te.const(0, x.dtype), pooled(*i))

    return te.compute(shape, filled, name="pooled")


__all__ = ["max_roi_pool", "roi_align"]
