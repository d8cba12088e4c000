"""Linear models and support vector machines of ai.onnx.ml, compared with onnxruntime."""

import numpy as np
import pytest
from ml_nodes import both, own
from nightly import most_at_night

from texloom.onnx import Unsupported

SINGLE = 2.0**-23


def drawn(seed, *shape):
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype("float32")


def close(got, expected, terms):
    """Allow a rounding for each term of sums of numbers up to 1, and 8 for functions."""
    for mine, theirs in zip(got, expected, strict=True):
        bound = (terms + 8) * SINGLE
        np.testing.assert_allclose(mine, theirs, rtol=bound, atol=bound * terms, strict=True)


@pytest.mark.parametrize("targets", most_at_night([2, 1], 1))
def test_linear_regressor(targets):
    given = {"coefficients": drawn(1, 5 * targets).tolist(), "intercepts": [0.5, -1][:targets]}
    close(*both("LinearRegressor", [drawn(0, 7, 5)], 1, targets=targets, **given), 5)


@pytest.mark.parametrize(
    "transform", most_at_night(["SOFTMAX", "NONE", "LOGISTIC", "SOFTMAX_ZERO"], 1)
)
def test_linear_classifier(transform):
    given = {"coefficients": drawn(1, 15).tolist(), "intercepts": [0.5, -1, 0]}
    given |= {"classlabels_ints": [5, 9, 7], "post_transform": transform}
    close(*both("LinearClassifier", [drawn(0, 7, 5)], 1, 2, **given), 5)


@pytest.mark.nightly
def test_probit():
    """The formula in float64; a quotient and roots of float32 have 16 roundings."""
    p = np.linspace(0.01, 0.99, 50).astype("float32").reshape(-1, 2)
    given = {"coefficients": [1.0, 0, 0, 1], "intercepts": [0.0, 0], "targets": 2}
    (got,) = own("LinearRegressor", [p], 1, post_transform="PROBIT", **given)
    x = 2 * p.astype("float64") - 1
    log = np.log((1 - x) * (1 + x))
    v = 2 / (np.pi * 0.147) + log / 2
    root = np.sqrt(np.sqrt(v * v - log / 0.147) - v)
    expected = np.sqrt(2) * np.sign(x) * root
    np.testing.assert_allclose(got, expected, rtol=16 * SINGLE, atol=16 * SINGLE)


PARAMETERS = {"kernel_params": [0.5, 0.25, 3.0]}


@pytest.mark.parametrize("kernel", most_at_night(["RBF", "POLY", "LINEAR", "SIGMOID"], 1))
@pytest.mark.parametrize("one_class", most_at_night([0, 1], 1))
def test_svm_regressor(kernel, one_class):
    given = PARAMETERS | {"coefficients": drawn(1, 4).tolist(), "rho": [0.1], "n_supports": 4}
    given |= {"support_vectors": drawn(2, 12).tolist(), "kernel_type": kernel}
    close(*both("SVMRegressor", [drawn(0, 7, 3)], 1, one_class=one_class, **given), 12)


@pytest.mark.parametrize(
    ("classes", "proba", "kernel"),
    most_at_night(
        [(3, True, "RBF"), (2, False, "POLY"), (2, True, "RBF"), (4, False, "SIGMOID")], 2
    ),
)
def test_svm_classifier(classes, proba, kernel):
    """Classes have different numbers of vectors."""
    vectors = list(range(1, classes + 1))
    count, pairs = sum(vectors), classes * (classes - 1) // 2
    given = PARAMETERS | {
        "classlabels_ints": list(range(5, 5 + classes)),
        "coefficients": drawn(1, count * (classes - 1)).tolist(),
        "rho": drawn(2, pairs).tolist(),
        "support_vectors": drawn(3, count * 3).tolist(),
        "vectors_per_class": vectors,
        "kernel_type": kernel,
    }
    if proba:
        given |= {"prob_a": drawn(4, pairs).tolist(), "prob_b": drawn(5, pairs).tolist()}
    close(*both("SVMClassifier", [drawn(0, 9, 3)], 1, 2, **given), 3 * count)


@pytest.mark.parametrize(
    ("op", "changes", "message"),
    [
        ("LinearRegressor", {"coefficients": [1.0]}, "'coefficients' has 1 numbers for 1 results"),
        (
            "LinearRegressor",
            {"coefficients": [1.0, 2], "post_transform": "SOFTMAX"},
            "'post_transform' is SOFTMAX for a single target",
        ),
        (
            "LinearClassifier",
            {"coefficients": [1.0, 2], "classlabels_strings": ["a", "b"]},
            "'classlabels_strings' has strings",
        ),
        (
            "LinearClassifier",
            {"coefficients": [1.0, 2], "intercepts": [0.0], "classlabels_ints": [0, 1]},
            "'intercepts' has one number for two classes",
        ),
        ("SVMRegressor", {"coefficients": [1.0, 2]}, "lacks the attribute 'rho'"),
        ("SVMClassifier", {"classlabels_ints": [0, 1]}, "'vectors_per_class'"),
        (
            "SVMRegressor",
            {
                "n_supports": 1,
                "coefficients": [1.0],
                "support_vectors": [1.0, 2],
                "kernel_type": "X",
            },
            "'kernel_type' is 'X'",
        ),
    ],
)
def test_refused_attributes(op, changes, message):
    outputs = 2 if "Classifier" in op else 1
    with pytest.raises(Unsupported, match=message):
        own(op, [np.zeros((1, 2), "float32")], 1, outputs, **changes)
