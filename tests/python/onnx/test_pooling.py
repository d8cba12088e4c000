"""Pooling against onnxruntime, with attributes that ONNX's own cases do not combine."""

from __future__ import annotations

import numpy as np
import pytest
from node_peers import model_of, onnxruntimes, ours, random, references

from texloom.examples.rounding import FLOAT32_ROUNDOFF, gamma

WINDOWS = {
    "1d": ((2, 3, 11), {"kernel_shape": [3], "strides": [2], "pads": [1, 2]}),
    "2d": ((1, 2, 9, 8), {"kernel_shape": [3, 2], "strides": [2, 3], "pads": [1, 0, 2, 1]}),
    "3d": ((1, 2, 5, 6, 7), {"kernel_shape": [2, 3, 2], "strides": [2, 1, 3]}),
    "ceil": ((1, 2, 8, 9), {"kernel_shape": [3, 3], "strides": [3, 2], "ceil_mode": 1}),
    "ceil and pads": (
        (1, 2, 8, 9),
        {"kernel_shape": [3, 3], "strides": [2, 4], "pads": [1, 1, 1, 1], "ceil_mode": 1},
    ),
    "same upper": ((1, 1, 7, 8), {"kernel_shape": [4, 3], "auto_pad": "SAME_UPPER"}),
    "same lower": (
        (1, 1, 7, 8),
        {"kernel_shape": [4, 3], "auto_pad": "SAME_LOWER", "strides": [2, 2]},
    ),
    "dilations": ((1, 1, 9, 10), {"kernel_shape": [3, 2], "dilations": [2, 3]}),
}


@pytest.mark.parametrize("name", WINDOWS)
def test_max_pool(name):
    """Values and indices are right; among equal elements, the first wins."""
    shape, attributes = WINDOWS[name]
    x = np.round(4 * random(1, *shape))
    for outputs in (1, 2):
        model = model_of("MaxPool", [x], outputs, **attributes)
        for got, expected in zip(ours(model, [x]), onnxruntimes(model, [x]), strict=True):
            np.testing.assert_array_equal(got, expected)


def test_max_pool_of_the_least_value_and_nan():
    """Padding never wins, not even over minus infinity; NaN stays."""
    x = np.array([[[-np.inf, -np.inf, 1, np.nan, 2]]], "float32")
    model = model_of("MaxPool", [x], 2, kernel_shape=[2], strides=[2], pads=[1, 0])
    values, indices = ours(model, [x])
    np.testing.assert_array_equal(values, [[[-np.inf, 1, np.nan]]])
    np.testing.assert_array_equal(indices, [[[0, 2, 3]]])


def test_max_pool_of_integers():
    x = random(1, 1, 2, 6, 5, dtype="int8")
    model = model_of("MaxPool", [x], kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    np.testing.assert_array_equal(ours(model, [x])[0], onnxruntimes(model, [x])[0])


def test_column_major_indices():
    x = random(1, 2, 2, 6, 5)
    model = model_of("MaxPool", [x], 2, kernel_shape=[3, 2], storage_order=1)
    np.testing.assert_array_equal(ours(model, [x])[1], onnxruntimes(model, [x])[1])


@pytest.mark.parametrize("name", WINDOWS)
@pytest.mark.parametrize("counts_pads", [0, 1])
def test_average_pool(name, counts_pads):
    """Pads count only if count_include_pad says so; elements beyond the pads never do."""
    shape, attributes = WINDOWS[name]
    x = random(1, *shape)
    model = model_of("AveragePool", [x], count_include_pad=counts_pads, **attributes)
    (got,), (expected,) = ours(model, [x]), references(model, [x])
    terms = np.prod(attributes["kernel_shape"])
    np.testing.assert_allclose(got, expected, rtol=0, atol=2 * gamma(terms + 2, FLOAT32_ROUNDOFF))


@pytest.mark.parametrize("p", [1, 2, 3])
def test_lp_pool(p):
    x = random(1, 1, 2, 7, 8)
    model = model_of("LpPool", [x], kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 0, 1], p=p)
    (got,), (expected,) = ours(model, [x]), onnxruntimes(model, [x])
    # Two calls of OpenCL's `pow`, each within 16 ulps, and a sum of 6 terms.
    np.testing.assert_allclose(got, expected, rtol=2 * (32 + 6) * FLOAT32_ROUNDOFF)


@pytest.mark.parametrize("op", ["GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"])
@pytest.mark.parametrize("spatial", [(13,), (5, 7), (3, 4, 5)])
def test_whole_channels(op, spatial):
    x = random(1, 2, 3, *spatial)
    model = model_of(op, [x])
    (got,), (expected,) = ours(model, [x]), onnxruntimes(model, [x])
    bound = 2 * gamma(np.prod(spatial) + 2, FLOAT32_ROUNDOFF) * np.abs(x).sum()
    np.testing.assert_allclose(got, expected, rtol=0, atol=bound)


def test_max_unpool_undoes_max_pool():
    """Maxima of windows that do not overlap return to their positions."""
    x = random(1, 2, 3, 6, 8)
    pool = model_of("MaxPool", [x], 2, kernel_shape=[2, 3], strides=[2, 3])
    values, indices = ours(pool, [x])
    expected = np.zeros((2, 3, 6, 6), "float32")
    # The indices count positions in rows of 8, but the unpooled tensor has 6 columns.
    rows, columns = indices // 8, indices % 8
    places = rows * 6 + columns
    expected.flat[places] = values
    model = model_of("MaxUnpool", [values, places], kernel_shape=[2, 3], strides=[2, 3])
    np.testing.assert_array_equal(ours(model, [values, places])[0], expected)
