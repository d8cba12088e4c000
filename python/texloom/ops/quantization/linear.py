"""Linear quantization: an integer q stands for the number ``(q - zero_point) * scale``.

Scales and zero points are of one of three kinds: for a whole tensor, with one element; along an
axis, with rank 1 and one element for each index of the axis; or in blocks, with the tensor's shape,
except that the extent of one axis is divided by the block size and rounded up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import te
from ..._core import Tensor
from ...extents import product
from ..elementwise.table import is_float


def quantize(
    x: Tensor,
    scale: Tensor,
    zero_point: Tensor | None = None,
    *,
    dtype: str = "uint8",
    axis: int = 1,
    block_size: int = 0,
    precision: str | None = None,
    bits: int | None = None,
) -> Tensor:
    """Return ``x / scale`` rounded half to even, plus the zero point, clamped to the type's range.

    Parameters
    ----------
    x : Tensor
        Of floating point or int32.
    scale : Tensor
        Of floating point.
    zero_point : Tensor, optional
        Of type `dtype` and the shape of `scale`; 0 by default.
    dtype : str
        An integer type of 8 or 16 bits.
    axis : int
        The axis along which scales differ, if there are several.
    block_size : int
        How many elements along the axis share a scale; 0 if scales are not in blocks.
    precision : str, optional
        The type in which `x` is divided; that of `scale` by default.
    bits : int, optional
        The number of bits of an integer type that is stored in `dtype`; all by default.
    """
    least, greatest = te.min_value(dtype), te.max_value(dtype)
    if bits is not None:
        is_signed = dtype.startswith("int")
        least = te.const(-(1 << (bits - 1)) if is_signed else 0, dtype)
        greatest = te.const((1 << (bits - is_signed)) - 1, dtype)

    def quantized(*i: Any) -> Any:
        place = _place(x, scale, i, axis, block_size)
        # Sums of integers within the limits are exact in float32.
        rounded = te.nearbyint(_quotient(x, scale, i, place, precision)).astype("float32")
        if zero_point is not None:
            rounded = rounded + zero_point(*_place(x, zero_point, i, axis, block_size)).astype(
                "float32"
            )
        limits = te.max(rounded, least.astype("float32")), greatest.astype("float32")
        return te.min(*limits).astype(dtype)

    return te.compute(x.shape, quantized, name="quantize")


def quotient(
    x: Tensor,
    scale: Tensor,
    zero_point: Tensor | None = None,
    *,
    axis: int = 1,
    block_size: int = 0,
    precision: str | None = None,
) -> Tensor:
    """Return ``x / scale + zero_point``, the number that is rounded to a small float.

    The parameters are those of :func:`quantize`, but the zero point is of floating point. The
    result is of the type in which `x` is divided, or float32 if there is a zero point.
    """

    def divided(*i: Any) -> Any:
        place = _place(x, scale, i, axis, block_size)
        value = _quotient(x, scale, i, place, precision)
        if zero_point is None:
            return value
        return value.astype("float32") + zero_point(
            *_place(x, zero_point, i, axis, block_size)
        ).astype("float32")

    return te.compute(x.shape, divided, name="quotient")


def dequantize(
    x: Tensor,
    scale: Tensor,
    zero_point: Tensor | None = None,
    *,
    dtype: str | None = None,
    axis: int = 1,
    block_size: int = 0,
) -> Tensor:
    """Return ``(x - zero_point) * scale``, computed in float32.

    Parameters
    ----------
    x : Tensor
        Of integers of at most 32 bits, or of floating point.
    scale : Tensor
        Of floating point.
    zero_point : Tensor, optional
        Of the type of `x` and the shape of `scale`; 0 by default.
    dtype : str, optional
        The type of the result; that of `scale` by default.
    axis, block_size : int
        As for :func:`quantize`.
    """

    def dequantized(*i: Any) -> Any:
        place = _place(x, scale, i, axis, block_size)
        wide = "float32" if is_float(x.dtype) else "int32"
        steps = x(*i).astype(wide)
        if zero_point is not None:
            steps = steps - zero_point(*_place(x, zero_point, i, axis, block_size)).astype(wide)
        number = steps.astype("float32") * scale(*place).astype("float32")
        return number.astype(dtype or scale.dtype)

    return te.compute(x.shape, dequantized, name="dequantize")


def _quotient(
    x: Tensor, scale: Tensor, i: Sequence[Any], place: Sequence[Any], precision: str | None
) -> Any:
    """Return an element of `x` divided by its scale."""
    wide = precision or scale.dtype
    return x(*i).astype(wide) / scale(*place).astype(wide)


def _place(x: Tensor, scale: Tensor, i: Sequence[Any], axis: int, block_size: int) -> list[Any]:
    """Return the indices of the scale of an element."""
    if product(scale.shape) == 1:
        return [0] * len(scale.shape)
    axis %= len(x.shape)
    if block_size:
        return [each // block_size if j == axis else each for j, each in enumerate(i)]
    return [i[axis]]


__all__ = ["dequantize", "quantize", "quotient"]
