"""SciPy references for operators in float64, and error bounds for float32.

Requires SciPy; only the demonstration, the benchmarks and the tests import this module.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from .rounding import sum_error_bound

Float64Array = NDArray[np.float64]


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
    """Correlate ``[I, H, W]`` with ``[I, KH, KW]`` where the kernel fits, summed over I."""
    _, height, width = kernel.shape
    total = sum(
        ndimage.correlate(plane, rows, mode="constant")
        for plane, rows in zip(image, kernel, strict=True)
    )
    top, left = height // 2, width // 2  # SciPy stores a result at the kernel's center
    return total[
        top : total.shape[0] - (height - 1 - top), left : total.shape[1] - (width - 1 - left)
    ]


def conv2d_nhwc_reference(
    data: NDArray[Any], weight: NDArray[Any], *, stride: int = 1, padding: int = 1
) -> Float64Array:
    """Convolve ``[N, H, W, I]`` with ``[KH, KW, I, O]`` in float64.

    With weights ``[KH, KW, C]`` each channel has its own filter.
    """
    spread = ((0, 0), (padding, padding), (padding, padding), (0, 0))
    padded = np.pad(data.astype(np.float64), spread)
    rows, columns = weight.shape[:2]
    places = np.lib.stride_tricks.sliding_window_view(padded, (rows, columns), (1, 2))
    kernel = weight.astype(np.float64)
    subscripts = "nyxikl,klio->nyxo" if weight.ndim == 4 else "nyxckl,klc->nyxc"
    return np.einsum(subscripts, places[:, ::stride, ::stride], kernel, optimize=True)


def conv2d_nhwc_error_bound(
    data: NDArray[Any], weight: NDArray[Any], *, stride: int = 1, padding: int = 1
) -> Float64Array:
    """Bound the error of float32 sums from :func:`conv2d_nhwc_reference`, per element."""
    terms = int(np.prod(weight.shape[:3])) if weight.ndim == 4 else int(np.prod(weight.shape[:2]))
    magnitudes = conv2d_nhwc_reference(np.abs(data), np.abs(weight), stride=stride, padding=padding)
    return sum_error_bound(terms, magnitudes)


def conv2d_error_bound(
    data: NDArray[Any], weight: NDArray[Any], *, stride: int = 1, padding: int = 1
) -> Float64Array:
    """Bound the error of float32 sums from :func:`conv2d_reference`, per element.

    Products with a zero of the padding are exact and add no error.
    """
    terms = int(np.prod(weight.shape[1:]))
    magnitudes = conv2d_reference(np.abs(data), np.abs(weight), stride=stride, padding=padding)
    return sum_error_bound(terms, magnitudes)
