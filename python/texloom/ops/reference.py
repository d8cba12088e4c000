"""What operators should return, by SciPy in float64, and how far float32 may be from it.

Needs SciPy; only the demonstration, the benchmarks and the tests import this module.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

Float64Array = NDArray[np.float64]

FLOAT32_ROUNDOFF = 2.0**-24
FLOAT64_ROUNDOFF = 2.0**-53


def conv2d_reference(
    data: NDArray[Any], weight: NDArray[Any], *, stride: int = 1, padding: int = 1
) -> Float64Array:
    """Convolve activations ``[N, I, H, W]`` with weights ``[O, I, KH, KW]`` in float64."""
    width = ((0, 0), (0, 0), (padding, padding), (padding, padding))
    padded = np.pad(data.astype(np.float64), width)
    outputs = [
        [_correlate(image, kernel) for kernel in weight.astype(np.float64)] for image in padded
    ]
    return np.array(outputs)[:, :, ::stride, ::stride]


def _correlate(image: Float64Array, kernel: Float64Array) -> Float64Array:
    """``[I, H, W]`` and ``[I, KH, KW]``: the sum over I, of the places where the kernel fits."""
    _, height, width = kernel.shape
    total = sum(
        ndimage.correlate(plane, rows, mode="constant")
        for plane, rows in zip(image, kernel, strict=True)
    )
    top, left = height // 2, width // 2  # SciPy's result is for the kernel's middle
    return total[
        top : total.shape[0] - (height - 1 - top), left : total.shape[1] - (width - 1 - left)
    ]


def gamma(terms: int, roundoff: float) -> float:
    """gamma_n = n*u / (1 - n*u), the factor of the error bounds of sums of `terms` products."""
    return terms * roundoff / (1 - terms * roundoff)


def conv2d_error_bound(
    data: NDArray[Any], weight: NDArray[Any], *, stride: int = 1, padding: int = 1
) -> Float64Array:
    r"""How far float32 sums may be from :func:`conv2d_reference`, for each element.

    A float32 sum of n products, in any order, with or without fused multiply-add, has an error of
    at most gamma_n(u) * sum(\|w\| * \|x\|) with u = 2^-24, if nothing overflows or underflows: N.
    J. Higham, "Accuracy and Stability of Numerical Algorithms", 2nd edition, SIAM 2002, section
    3.1. Products with a zero of the padding are exact and add no error. The reference has such an
    error as well, with u = 2^-53, and so has the sum of magnitudes computed here.
    """
    terms = int(np.prod(weight.shape[1:]))
    magnitudes = conv2d_reference(np.abs(data), np.abs(weight), stride=stride, padding=padding)
    own = gamma(terms, FLOAT64_ROUNDOFF)
    return (gamma(terms, FLOAT32_ROUNDOFF) + own) / (1 - own) * magnitudes
