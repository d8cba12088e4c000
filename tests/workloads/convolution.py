"""NumPy references for convolutions of blocked layouts."""

from functools import partial

import numpy as np

from texloom.examples.texel_schedules import LANES

from .accuracy import Sums


def reference(convolution, data, weight):
    """Compute the convolution with NumPy in float64."""
    x = np.pad(
        _channels_first(convolution.data, data),
        [(0, 0), (0, 0), *[(convolution.padding, convolution.padding)] * 2],
    )
    _, w = convolution.extents(data.shape, weight.shape)
    order = [convolution.weight.index(letter) for letter in "KkCRS"]
    y = weight.transpose(order).reshape(w["K"] * LANES, w["C"], w["R"], w["S"])
    return Sums.of(partial(_correlate, convolution), w["C"] * w["R"] * w["S"], x, y)


def _channels_first(layout, data):
    x = data.transpose([layout.index(letter) for letter in "NCcHW"])
    n, groups, lanes, h, w = x.shape
    return x.reshape(n, groups * lanes, h, w)


def _correlate(convolution, x, y):
    """Correlate `[N, C, H, W]` with `[K, C, R, S]`; the result has the output's layout."""
    outputs, inputs, rows, columns = y.shape
    n, _, h, w = x.shape
    h = (h - convolution.dilation * (rows - 1) - 1) // convolution.stride + 1
    w = (w - convolution.dilation * (columns - 1) - 1) // convolution.stride + 1
    result = np.zeros((n, convolution.groups, outputs // convolution.groups, h * w))
    y = y.reshape(convolution.groups, -1, inputs, rows, columns)
    for r, s in np.ndindex(rows, columns):
        down, right = r * convolution.dilation, s * convolution.dilation
        part = x[:, :, down : down + h * convolution.stride : convolution.stride]
        part = part[:, :, :h, right : right + w * convolution.stride : convolution.stride][..., :w]
        result += y[..., r, s] @ part.reshape(n, convolution.groups, inputs, h * w)
    letters = result.reshape(n, outputs // LANES, LANES, h, w)
    return np.ascontiguousarray(letters.transpose(["NCcHW".index(v) for v in convolution.data]))
