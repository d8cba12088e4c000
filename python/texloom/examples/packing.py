"""Layouts whose last axis is four channels: one texel of a texture.

Missing channels in the last group of four are zeros, which do not change sums.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

LANES = 4
"""Channels of one texel."""


def _padded_with_zeros(array: NDArray[Any], axis: int) -> NDArray[Any]:
    """Pad `axis` of `array` with zeros to a multiple of four."""
    missing = -array.shape[axis] % LANES
    widths = [(0, 0)] * array.ndim
    widths[axis] = (0, missing)
    return np.pad(array, widths)


def pack_nchw4c(array: NDArray[Any]) -> NDArray[Any]:
    """Activations ``[N, C, H, W]`` as ``[N, ceil(C / 4), H, W, 4]``, same dtype."""
    n, _, h, w = array.shape
    padded = _padded_with_zeros(array, axis=1)
    split = padded.reshape(n, padded.shape[1] // LANES, LANES, h, w)
    return np.ascontiguousarray(split.transpose(0, 1, 3, 4, 2))


def unpack_nchw4c(array: NDArray[Any], channels: int) -> NDArray[Any]:
    """The first `channels` channels of ``[N, C / 4, H, W, 4]`` as ``[N, channels, H, W]``."""
    n, groups, h, w, lanes = array.shape
    return array.transpose(0, 1, 4, 2, 3).reshape(n, groups * lanes, h, w)[:, :channels]


def pack_oihw4o(array: NDArray[Any]) -> NDArray[Any]:
    """Weights ``[O, I, KH, KW]`` as ``[ceil(O / 4), 4 * ceil(I / 4), KH, KW, 4]``, same dtype.

    The four lanes are output channels. The input channels are padded with zeros to match
    :func:`pack_nchw4c`.
    """
    padded = _padded_with_zeros(_padded_with_zeros(array, axis=0), axis=1)
    o, i, kh, kw = padded.shape
    split = padded.reshape(o // LANES, LANES, i, kh, kw)
    return np.ascontiguousarray(split.transpose(0, 2, 3, 4, 1))


def unpack_oihw4o(array: NDArray[Any], outputs: int, inputs: int) -> NDArray[Any]:
    """The weights ``[outputs, inputs, KH, KW]`` in the result of :func:`pack_oihw4o`."""
    groups, i, kh, kw, lanes = array.shape
    return array.transpose(0, 4, 1, 2, 3).reshape(groups * lanes, i, kh, kw)[:outputs, :inputs]
