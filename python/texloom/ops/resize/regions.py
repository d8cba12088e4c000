"""Regions of images, pooled to a common size."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ... import te, tir
from ..._core import IterVar, Tensor
from ..coordinates import reads_coordinates
from ..extrema import lowest, maximum
from ..indexing.positions import inside
from ..raveling import unraveled
from ..threads import each_thread


def _real(dtype: str) -> str:
    """Return the dtype of positions, weights and sums."""
    return "float64" if dtype == "float64" else "float32"


def _neighbor(place: Any, extent: int, side: Any) -> tuple[Any, Any]:
    """Return the index and weight of the element before (0) or after (1) a position."""
    zero = te.const(0, place.dtype)
    inner = tir.max(place, zero)
    low = tir.max(te.floor(inner).astype("int32"), te.const(0))
    last = te.const(extent - 1)
    share = te.if_then_else(low >= last, zero, inner - low.astype(place.dtype))
    return tir.min(low + side, last), te.if_then_else(side == 0, 1 - share, share)


def _side(
    rois: Tensor, region: Any, axis: int, scale: float, half_pixel: bool, dtype: str
) -> tuple[Any, Any]:
    """Return the begin and the length of a region along y (axis 0) or x (axis 1), in pixels."""
    offset = te.const(0.5 if half_pixel else 0.0, dtype)
    begin, end = (
        rois[region, k].astype(dtype) * te.const(scale, dtype) - offset
        for k in (1 - axis, 3 - axis)
    )
    return begin, end - begin if half_pixel else tir.max(end - begin, te.const(1, dtype))


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
        ``[regions, 2]`` integers: samples of a bin down and across, at most `samples`. By default,
        each bin has `samples`.
    size : (int, int)
        Rows and columns of bins.
    samples : (int, int)
        Samples of a bin down and across.
    scale : float
        Pixels of `x` for each unit of `rois`.
    half_pixel : bool
        Whether pixel centers are at half-integer coordinates; otherwise regions are at least one
        pixel large.
    largest : bool
        Whether the result is the largest weighted element instead of the mean of the samples.

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
        begin, length = _side(rois, region, axis, scale, half_pixel, real)
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


@reads_coordinates("rois")
def max_roi_pool(x: Tensor, rois: Tensor, size: tuple[int, int], scale: float = 1.0) -> Tensor:
    """Return the largest elements of the bins of regions, as ONNX's operator MaxRoiPool.

    Parameters
    ----------
    x : Tensor
        ``[N, C, H, W]``.
    rois : Tensor
        ``[regions, 5]``: the image, x and y of one corner, then of the opposite corner, which is
        inside of the region.
    size : (int, int)
        Rows and columns of bins.
    scale : float
        Pixels of `x` for each unit of `rois`.

    Returns
    -------
    Tensor
        ``[regions, C, *size]``; zero for bins without pixels.
    """
    shape = (int(rois.shape[0]), int(x.shape[1]), *size)
    return te.extern(
        shape,
        [x, rois],
        lambda ins, outs: _largest_of_bins(ins, outs, scale),
        name="pooled",
        dtype=x.dtype,
    )


def _largest_of_bins(inputs: Sequence[Any], outputs: Sequence[Any], scale: float) -> Any:
    """Store the largest element of each bin: each thread goes through the pixels of one bin."""
    ib = tir.ir_builder.create()
    x, rois = (ib.buffer_ptr(each) for each in inputs)
    result = ib.buffer_ptr(outputs[0])
    images, _, *extents = (int(extent) for extent in inputs[0].shape)
    shape = tuple(int(extent) for extent in outputs[0].shape)
    real = _real(x.dtype)

    def limits(region: Any, axis: int, position: Any) -> tuple[Any, Any]:
        """Return the first pixel of a bin along an axis, and the pixel after the last."""
        begin, end = (
            te.round(rois[region, k].astype(real) * te.const(scale, real)).astype("int32")
            for k in (2 - axis, 4 - axis)
        )
        length = tir.max(end - begin + 1, te.const(1)).astype(real)
        part = length / te.const(shape[2 + axis], real)
        first = te.floor(position.astype(real) * part).astype("int32") + begin
        last = te.ceil((position + 1).astype(real) * part).astype("int32") + begin
        zero, most = te.const(0, "int32"), te.const(extents[axis], "int32")
        return ib.let("first", tir.max(first, zero)), ib.let("last", tir.min(last, most))

    with each_thread(ib, prod(shape)) as thread:
        region, channel, *bins = unraveled(thread, shape)
        image = ib.let("image", inside(rois[region, 0].astype("int32"), images))
        (top, bottom), (left, right) = (limits(region, a, i) for a, i in enumerate(bins))
        best = ib.allocate(x.dtype, (1,), name="best", scope="local")
        row = ib.allocate("int32", (1,), name="row", scope="local")
        column = ib.allocate("int32", (1,), name="column", scope="local")
        best[0], row[0] = lowest(x.dtype), top
        with ib.while_loop(row[0] < bottom):
            column[0] = left
            with ib.while_loop(column[0] < right):
                best[0] = maximum(best[0], x[image, channel, row[0], column[0]])
                column[0] = column[0] + 1
            row[0] = row[0] + 1
        is_empty = te.any(bottom <= top, right <= left)
        made = te.if_then_else(is_empty, te.const(0, x.dtype), best[0])
        result[(region, channel, *bins)] = made
    return ib.get()


__all__ = ["max_roi_pool", "roi_align"]
