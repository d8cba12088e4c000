"""Convolutions of integers that stand for real numbers with a zero point and a scale."""

from __future__ import annotations

from typing import Any

from ... import te
from ..._core import Tensor
from ..products.quantized import centered, requantized
from .direct import convolution


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


__all__ = ["convolution_integer", "convolution_requantized"]
