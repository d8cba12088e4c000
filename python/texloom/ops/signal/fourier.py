"""Discrete Fourier transforms of arrays whose last axis holds real and imaginary parts."""

from __future__ import annotations

from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import te
from ..._core import Tensor
from ..precision import sum_dtype
from ..reductions.axes import extents


def turns(length: int, inverse: bool = False, dtype: str = "float32") -> NDArray[Any]:
    """Return the powers of a root of unity as matrices, which multiply complex numbers.

    Parameters
    ----------
    length : int
        The root is ``exp(-2j * pi / length)``.
    inverse : bool
        Whether the root is conjugated.
    dtype : str

    Returns
    -------
    array ``[length, 2, 2]``
        For each power, the matrix from real and imaginary part of a number to those of the product.
        Each factor is rounded once.
    """
    angle = 2 * np.pi * np.arange(length) / length * (1 if inverse else -1)
    cosine, sine = np.cos(angle), np.sin(angle)
    return np.stack([cosine, sine, -sine, cosine], axis=1).reshape(length, 2, 2).astype(dtype)


def dft(x: Tensor, powers: Tensor, axis: int, onesided: bool = False, scale: float = 1.0) -> Tensor:
    """Return the discrete Fourier transform along an axis.

    A length that is a product of two numbers is transformed in two steps, along the columns and
    along the rows of a matrix: J. W. Cooley and J. W. Tukey, "An Algorithm for the Machine
    Calculation of Complex Fourier Series", Mathematics of Computation 19 (1965).

    Parameters
    ----------
    x : Tensor ``[..., 1]`` or ``[..., 2]``
        Real parts, or real and imaginary ones. Along the axis, `x` is padded with zeros or cut off
        to the length of the transform.
    powers : Tensor ``[length, 2, 2]``
        The result of :func:`turns`; of the type of `x`, or of float32 for 16 bits.
    axis : int
        Any axis but the last.
    onesided : bool
        Whether to return only the first ``length // 2 + 1`` elements, which determine the others
        for a real `x`.
    scale : float
        A factor of the result, such as ``1 / length`` for the inverse.

    Returns
    -------
    Tensor ``[..., 2]``
    """
    wide = sum_dtype(x.dtype)
    length = extents(powers)[0]
    axis %= len(x.shape)
    columns = next(n for n in range(isqrt(length), 0, -1) if length % n == 0)
    rows = length // columns
    parts = extents(x)[-1]
    outer, between = extents(x)[:axis], extents(x)[axis + 1 : -1]

    def padded(at: list[Any]) -> Any:
        value = x(*at).astype(wide)
        if extents(x)[axis] >= length:
            return value
        return te.if_then_else(at[axis] < extents(x)[axis], value, te.const(0, wide))

    def along_columns(*i: Any) -> Any:
        """Transform each column: i[axis] is the number of the column, i[-2] that of the power."""
        k, b = te.reduce_axis((0, columns), name="k"), te.reduce_axis((0, parts), name="b")
        at = [*i[:axis], rows * k.var + i[axis], *i[axis + 1 : -2], b.var]
        power = powers((rows * k.var * i[-2]) % length, b.var, i[-1])
        return te.sum(padded(at) * power, axis=[k, b])

    inner = x
    if columns > 1:
        shape = (*outer, rows, *between, columns, 2)
        inner = te.compute(shape, along_columns, name="columns")

    def along_rows(*i: Any) -> Any:
        count = 2 if columns > 1 else parts
        k, b = te.reduce_axis((0, rows), name="k"), te.reduce_axis((0, count), name="b")
        at = [*i[:axis], k.var, *i[axis + 1 : -1]]
        value = inner(*at, i[axis] % columns, b.var) if columns > 1 else padded([*at, b.var])
        power = powers((k.var * i[axis]) % length, b.var, i[-1])
        return te.sum(value * power, axis=[k, b])

    wanted = length // 2 + 1 if onesided else length
    made = te.compute((*outer, wanted, *between, 2), along_rows, name="rows")
    if scale == 1.0 and wide == x.dtype:
        return made
    factor = te.const(scale, wide)
    return te.compute(made.shape, lambda *i: (made(*i) * factor).astype(x.dtype), name="dft")


def stft(
    x: Tensor, powers: Tensor, step: int, window: Tensor | None = None, onesided: bool = True
) -> Tensor:
    """Return the Fourier transforms of overlapping frames of signals.

    Parameters
    ----------
    x : Tensor ``[batch, length, 1]`` or ``[batch, length, 2]``
    powers : Tensor ``[frame, 2, 2]``
        As for :func:`dft`.
    step : int
        The distance from the start of one frame to the start of the next.
    window : Tensor ``[frame]``, optional
        Factors of the elements of a frame.
    onesided : bool
        As for :func:`dft`.

    Returns
    -------
    Tensor ``[batch, frames, frame or frame // 2 + 1, 2]``
    """
    batch, length, parts = extents(x)
    frame = extents(powers)[0]
    wide = sum_dtype(x.dtype)

    def element(n: Any, f: Any, i: Any, b: Any) -> Any:
        value = x(n, f * step + i, b).astype(wide)
        return value if window is None else value * window(i).astype(wide)

    frames = te.compute((batch, (length - frame) // step + 1, frame, parts), element, name="frames")
    made = dft(frames, powers, 2, onesided)
    return te.compute(made.shape, lambda *i: made(*i).astype(x.dtype), name="stft")


__all__ = ["dft", "stft", "turns"]
