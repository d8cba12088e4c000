"""Convolutions of integers that stand for real numbers with a zero point and a scale."""

from __future__ import annotations

import struct
from typing import Any

from ... import te
from ..._core import Tensor
from ..products.quantized import centered, requantized
from ..products.words import SIZE, corrected, product_of, words_along
from .direct import convolution, finished, sums_of_windows


def convolution_integer(
    data: Tensor,
    weight: Tensor,
    data_zero: Tensor | None = None,
    weight_zero: Tensor | None = None,
    *,
    sums: str = "int32",
    **windows: Any,
) -> Tensor:
    """Convolve 8-bit integers after their zero points are subtracted.

    Parameters
    ----------
    data : Tensor
        ``[N, C, *spatial]``, int8 or uint8.
    weight : Tensor
        ``[O, C / groups, *kernel]``, int8 or uint8.
    data_zero : Tensor, optional
        One element. The padding has this value.
    weight_zero : Tensor, optional
        One element, or ``[O]``.
    sums : str
        The type of sums: "int32", or "float32" if no sum of magnitudes exceeds 2 ** 24: then all
        sums are exact, and processors multiply floats faster.
    **windows
        Strides, pads, dilations and groups as of :func:`convolution`.

    Returns
    -------
    Tensor
        ``[N, O, *windows]``, int32.
    """
    made = _sums(data, weight, data_zero, weight_zero, sums, windows)
    if sums == "int32":
        return made
    return te.compute(made.shape, lambda *i: made(*i).astype("int32"), name="integers")


def _sums(
    data: Tensor,
    weight: Tensor,
    data_zero: Tensor | None,
    weight_zero: Tensor | None,
    dtype: str,
    windows: dict[str, Any],
) -> Tensor:
    factors = centered(data, data_zero, dtype=dtype), centered(weight, weight_zero, 0, dtype)
    return convolution(*factors, **windows)


def convolution_requantized(
    data: Tensor,
    data_scale: Tensor,
    data_zero: Tensor,
    weight: Tensor,
    weight_scale: Tensor,
    weight_zero: Tensor,
    scale: Tensor,
    zero: Tensor,
    bias: Tensor | None = None,
    *,
    sums: str = "int32",
    **windows: Any,
) -> Tensor:
    """Convolve quantized tensors, with a quantized result.

    Parameters
    ----------
    data, weight, data_zero, weight_zero, sums
        As of :func:`convolution_integer`.
    data_scale : Tensor
        One float32 element.
    weight_scale : Tensor
        One float32 element, or ``[O]``.
    scale, zero : Tensor
        The scale and zero point of the result: one element each, of float32 and of the result's
        dtype.
    bias : Tensor, optional
        ``[O]``, int32, in units of ``data_scale * weight_scale``.
    **windows
        Strides, pads, dilations and groups as of :func:`convolution`.

    Returns
    -------
    Tensor
        ``[N, O, *windows]`` of the dtype of `zero`.
    """
    made = _sums(data, weight, data_zero, weight_zero, sums, windows)
    if bias is not None:
        unbiased = made
        made = te.compute(
            made.shape,
            lambda *i: unbiased(*i).astype("int32") + bias(i[1]).astype("int32"),
            name="biased",
        )
    return requantized(made, (data_scale, weight_scale), scale, zero, axis=1)


def convolution_words(
    data: Tensor,
    weight: Tensor,
    channels: Tensor | None = None,
    data_zero: Tensor | None = None,
    *,
    padding: int = 0,
    groups: int = 1,
    **windows: Any,
) -> Tensor:
    """Convolve integers, less their zero point, with words of weights.

    Parameters
    ----------
    data : Tensor
        ``[N, C, *spatial]``, uint8, or int16.
    weight : Tensor
        ``[O, words, *kernel]`` of int32: words of int8, or of int16, along the channels of a group,
        and zeros beyond them.
    channels : Tensor, optional
        ``[O]`` of int32: what is added for each channel; with `data_zero`, the sum of its weights.
    data_zero : Tensor, optional
        The zero point of `data`, one element; 0 by default, where `channels` makes up for it.
    padding : int
        The padding of uint8: the zero point. That of int16 is 0.
    groups, **windows
        Groups, strides, pads and dilations as of :func:`convolution`.

    Returns
    -------
    Tensor
        ``[N, O, *windows]``, int32.
    """
    made = words_along(data, 1, groups)
    (word,) = struct.unpack("<i", struct.pack("B", padding) * SIZE)
    sums, counts = sums_of_windows(
        made, weight, product_of(data.dtype), "int32", padding=word, groups=groups, **windows
    )
    return corrected(finished(sums, None, "int32", counts), channels, data_zero, 1)


def convolution_whole(
    data: Tensor, weight: Tensor, bias: Tensor | None = None, *, zero: int = 0, **windows: Any
) -> Tensor:
    """Convolve 8-bit integers, less their zero point, in float32, whose sums must be exact.

    Parameters
    ----------
    data : Tensor
        ``[N, C, *spatial]``, int8 or uint8.
    weight : Tensor
        ``[O, C / groups, *kernel]`` of float32: integers. No sum of magnitudes exceeds 2 ** 24.
    bias : Tensor, optional
        ``[O]`` of int32.
    zero : int
        The zero point of `data`, and the padding.
    **windows
        Strides, pads, dilations and groups as of :func:`convolution`.

    Returns
    -------
    Tensor
        ``[N, O, *windows]``, int32.
    """
    own = te.compute(
        data.shape, lambda *i: data(*i).astype("float32") - te.const(zero, "float32"), name="whole"
    )
    sums = convolution(own, weight, **windows)
    made = te.compute(sums.shape, lambda *i: sums(*i).astype("int32"), name="integers")
    return corrected(made, bias, None, 1)


__all__ = ["convolution_integer", "convolution_requantized", "convolution_whole"]
__all__ += ["convolution_words"]
