"""Sums of products of integers that stand for real numbers with a zero point and a scale.

The real number of an integer q is ``scale * (q - zero)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import te
from ..._core import Tensor
from .matrix import matmul


def along(x: Tensor, indices: Sequence[Any], axis: int) -> Any:
    """Return the element of `x` for the indices of another tensor.

    `x` has one element, or one element for each position along `axis` of the other tensor, or the
    rank of the other tensor, with an extent of 1 along broadcast axes.
    """
    extents = [int(extent) for extent in x.shape]
    if all(extent == 1 for extent in extents):
        return x(*(0 for _ in extents))
    if len(extents) == 1:
        return x(indices[axis])
    return x(*(0 if e == 1 else i for i, e in zip(indices, extents, strict=True)))


def centered(x: Tensor, zero: Tensor | None = None, axis: int = 0, dtype: str = "int32") -> Tensor:
    """Return ``x - zero``; `zero` has one element, or one for each position along `axis`."""

    def element(*i: Any) -> Any:
        value = x(*i).astype("int32")
        made = value if zero is None else value - along(zero, i, axis).astype("int32")
        return made.astype(dtype)

    return te.compute(x.shape, element, name="centered")


def requantized(
    sums: Tensor, scales: tuple[Tensor, Tensor], scale: Tensor, zero: Tensor, axis: int
) -> Tensor:
    """Rescale int32 sums of products to quantized integers.

    Parameters
    ----------
    sums : Tensor
    scales : (Tensor, Tensor)
        The scales of the two factors. The first has one element; the second has one element, or one
        for each position along `axis`. float16 and float32 are computed in float32.
    scale, zero : Tensor
        The scale and zero point of the result, which has the dtype of `zero`.
    axis : int
        The axis of `sums` along which the second scale varies.

    Returns
    -------
    Tensor
        ``round(sums * scales[0] * scales[1] / scale) + zero``, rounded half to even, and clamped to
        the range of the dtype.
    """

    def element(*i: Any) -> Any:
        first, second, own = (along(s, i, axis).astype("float32") for s in (*scales, scale))
        return _limited(sums(*i).astype("float32") * (first * second / own), zero, i, axis)

    return te.compute(sums.shape, element, name="requantized")


def rescaled(sums: Tensor, factor: Tensor, zero: Tensor, *, axis: int) -> Tensor:
    """Rescale int32 sums of products to quantized integers, by factors of float32.

    Like :func:`requantized`, with ``scales[0] * scales[1] / scale`` given as `factor`.
    """

    def element(*i: Any) -> Any:
        return _limited(sums(*i).astype("float32") * along(factor, i, axis), zero, i, axis)

    return te.compute(sums.shape, element, name="requantized")


def _limited(number: Any, zero: Tensor, i: Sequence[Any], axis: int) -> Any:
    """Return a number, rounded half to even, plus the zero point, within the limits of its type."""
    low, high = te.min_value(zero.dtype), te.max_value(zero.dtype)
    value = te.nearbyint(number) + along(zero, i, axis).astype("float32")
    limited = te.max(te.min(value, high.astype("float32")), low.astype("float32"))
    return limited.astype(zero.dtype)


def matmul_integer(
    a: Tensor, b: Tensor, a_zero: Tensor | None = None, b_zero: Tensor | None = None
) -> Tensor:
    """Multiply matrices of 8-bit integers after their zero points are subtracted.

    Parameters
    ----------
    a, b : Tensor
        As of :func:`texloom.ops.products.matmul`, int8 or uint8.
    a_zero : Tensor, optional
        One element, one for each row, or ``[..., M, 1]``.
    b_zero : Tensor, optional
        One element, one for each column, or ``[..., 1, N]``.

    Returns
    -------
    Tensor
        As of :func:`texloom.ops.products.matmul`, int32.
    """
    rows = max(len(a.shape) - 2, 0)
    return matmul(centered(a, a_zero, rows), centered(b, b_zero, len(b.shape) - 1))


def matmul_requantized(
    a: Tensor,
    a_scale: Tensor,
    a_zero: Tensor,
    b: Tensor,
    b_scale: Tensor,
    b_zero: Tensor,
    scale: Tensor,
    zero: Tensor,
) -> Tensor:
    """Multiply quantized matrices, with a quantized result.

    Parameters
    ----------
    a, b, a_zero, b_zero
        As for :func:`matmul_integer`.
    a_scale, b_scale : Tensor
        float32 or float16, with one element; `b_scale` may also have one element for each column.
    scale, zero : Tensor
        Scale and zero point of the result, one element each.

    Returns
    -------
    Tensor
        As of :func:`texloom.ops.products.matmul`, of the dtype of `zero`.
    """
    sums = matmul_integer(a, b, a_zero, b_zero)
    return requantized(sums, (a_scale, b_scale), scale, zero, axis=len(sums.shape) - 1)


__all__ = ["along", "centered", "matmul_integer", "matmul_requantized", "requantized"]
__all__ += ["rescaled"]
