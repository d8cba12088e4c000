"""Convolutions whose taps are moved by offsets, which are an input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import te
from ..._core import Tensor
from ..precision import sum_dtype
from ..windows import Windows
from .direct import check_groups, finished, grouped


def deformable_convolution(
    data: Tensor,
    weight: Tensor,
    offset: Tensor,
    bias: Tensor | None = None,
    mask: Tensor | None = None,
    *,
    strides: Sequence[int] = (),
    pads: Sequence[int] = (),
    dilations: Sequence[int] = (),
    groups: int = 1,
    offset_groups: int = 1,
) -> Tensor:
    """Convolve pixels at fractional positions, sampled with bilinear interpolation.

    Parameters
    ----------
    data : Tensor
        ``[N, C, H, W]``.
    weight : Tensor
        ``[O, C / groups, KH, KW]`` of the same dtype.
    offset : Tensor
        ``[N, offset_groups * KH * KW * 2, OH, OW]``: how many rows and columns each tap is moved.
    bias : Tensor, optional
        ``[O]``.
    mask : Tensor, optional
        ``[N, offset_groups * KH * KW, OH, OW]``: factors of the pixels.
    strides, pads, dilations, groups
        As of :func:`convolution`. Pixels outside the data are zero.
    offset_groups : int
        The number of groups of channels; the channels of a group share their offsets.

    Returns
    -------
    Tensor
        ``[N, O, OH, OW]`` of the dtype of `data`.

    Raises
    ------
    ValueError
        For shapes that do not match.
    """
    dtype = sum_dtype(data.dtype)
    outputs, inner, *kernel = (int(extent) for extent in weight.shape)
    batch, channels, height, width = (int(extent) for extent in data.shape)
    check_groups(channels, outputs, inner, groups)
    windows = Windows.of(kernel, strides, pads, dilations)
    per_offset = channels // offset_groups
    shape = (batch, outputs, *windows.counts((height, width)))

    def pixel(n: Any, c: Any, y: Any, x: Any) -> Any:
        inside = te.all(y >= 0, y < height, x >= 0, x < width)
        return te.if_then_else(inside, data(n, c, y, x).astype(dtype), te.const(0, dtype))

    def sampled(n: Any, channel: Any, ky: Any, kx: Any, y: Any, x: Any) -> Any:
        tap = (te.indexdiv(channel, per_offset) * kernel[0] + ky) * kernel[1] + kx
        rows, columns = windows.positions((y, x), (ky, kx))
        row = (rows - windows.begins[0]).astype(dtype) + offset(n, tap * 2, y, x).astype(dtype)
        column = (columns - windows.begins[1]).astype(dtype)
        column = column + offset(n, tap * 2 + 1, y, x).astype(dtype)
        # Beyond these limits, all four pixels are outside. The limits keep the indices in the range
        # of int32.
        row = te.max(te.min(row, te.const(height, dtype)), te.const(-1, dtype))
        column = te.max(te.min(column, te.const(width, dtype)), te.const(-1, dtype))
        top, left = te.floor(row), te.floor(column)
        down, right = row - top, column - left
        top, left = top.astype("int32"), left.astype("int32")
        one = te.const(1, dtype)
        value = (
            pixel(n, channel, top, left) * ((one - down) * (one - right))
            + pixel(n, channel, top, left + 1) * ((one - down) * right)
            + pixel(n, channel, top + 1, left) * (down * (one - right))
            + pixel(n, channel, top + 1, left + 1) * (down * right)
        )
        return value if mask is None else value * mask(n, tap, y, x).astype(dtype)

    pixels = te.compute((batch, channels, *kernel, *shape[2:]), sampled, name="sampled")
    c = te.reduce_axis((0, inner), name="c")
    taps = windows.axes()

    def product(n: Any, o: Any, y: Any, x: Any) -> Any:
        read = pixels(n, grouped(o, outputs, groups, inner, c.var), *taps, y, x)
        return te.sum(read * weight(o, c, *taps).astype(dtype), axis=[c, *taps])

    return finished(te.compute(shape, product, name="sums"), bias, data.dtype, shape[2:])


__all__ = ["deformable_convolution"]
