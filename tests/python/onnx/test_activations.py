"""Activation functions of ONNX, in all their types and with attributes."""

import math

import numpy as np
import pytest
from several_nodes import run_each
from single_node import run_node

X = np.concatenate([np.linspace(-12, 12, 97), [0.0, -0.0, 40.0, -40.0, 300.0, -300.0]])


def erfc(x):
    return np.array([math.erfc(each) for each in x])


def softplus(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def sigmoid(x):
    return np.exp(-softplus(-x))


def elu(x, alpha=1.0):
    return np.where(x < 0, alpha * np.expm1(np.minimum(x, 0)), x)


def unit(x):
    return np.clip(x, 0, 1)


def shrink(x, bias=0.0, lambd=0.5):
    return np.where(x < -lambd, x + bias, np.where(x > lambd, x - bias, 0.0))


def number(value):
    """The value of an attribute."""
    return float(np.float32(value))


TANH = math.sqrt(2 / math.pi)
# Operator, attributes, and the function in float64.
CASES = [
    ("Celu", {"alpha": 2.0}, lambda x: np.where(x < 0, 2 * np.expm1(np.minimum(x, 0) / 2), x)),
    ("Elu", {}, elu),
    ("Elu", {"alpha": 2.5}, lambda x: elu(x, 2.5)),
    ("Gelu", {}, lambda x: x * erfc(-x / math.sqrt(2)) / 2),
    ("Gelu", {"approximate": "tanh"}, lambda x: x * sigmoid(2 * TANH * (x + 0.044715 * x**3))),
    ("HardSigmoid", {}, lambda x: unit(number(0.2) * x + 0.5)),
    ("HardSigmoid", {"alpha": 0.5, "beta": 0.25}, lambda x: unit(0.5 * x + 0.25)),
    ("HardSwish", {}, lambda x: x * unit(x / 6 + 0.5)),
    ("LeakyRelu", {}, lambda x: np.where(x < 0, number(0.01) * x, x)),
    ("LeakyRelu", {"alpha": -0.5}, lambda x: np.where(x < 0, -0.5 * x, x)),
    ("Mish", {}, lambda x: x * np.tanh(softplus(x))),
    ("Selu", {}, lambda x: number(1.05070102) * elu(x, number(1.67326319))),
    ("Selu", {"alpha": 2.0, "gamma": 3.0}, lambda x: 3 * elu(x, 2.0)),
    ("Shrink", {"bias": 1.5, "lambd": 1.5}, lambda x: shrink(x, 1.5, 1.5)),
    ("Sigmoid", {}, sigmoid),
    ("Softplus", {}, softplus),
    ("Softsign", {}, lambda x: x / (1 + np.abs(x))),
    ("ThresholdedRelu", {}, lambda x: np.where(x > 1, x, 0)),
    ("ThresholdedRelu", {"alpha": -2.0}, lambda x: np.where(x > -2, x, 0)),
]


@pytest.mark.parametrize("alpha", [0.0, -0.0, np.inf, np.nan])
def test_celu_that_divides_by_no_number(alpha):
    """The second term of the sum is NaN where the formula is, also beside a positive x."""
    x = np.array([2, 0, -2, np.inf, -np.inf], "float32")
    with np.errstate(all="ignore"):
        curve = np.float32(alpha) * np.expm1(x / np.float32(alpha))
    expected = np.maximum(x, 0) + np.minimum(0, curve)
    np.testing.assert_array_equal(run_node("Celu", [x], 12, alpha=alpha), expected)


SOME = [case for case in CASES if case[0] in ("Elu", "Gelu", "HardSwish", "Mish", "Softplus")]


@pytest.mark.parametrize(
    ("dtype", "cases"), [("float32", CASES), ("float16", SOME), ("float64", SOME)]
)
def test_activation(dtype, cases):
    """The error is at most 16 ulp for each of two functions, plus a few operations."""
    x, info = X.astype(dtype), np.finfo(dtype)
    # A rounding of the argument x causes an error of |x| units in exp.
    units = 1 if dtype == "float16" else 40 + 2 * np.minimum(np.abs(X), 13)
    # Gelu's probability has an absolute error: half of the 16 ulp of erf, which are 8 epsilon, is
    # 4; rounding erf's argument adds half of what two roundings change in it, below 0.3; the
    # product and the sum add 1. tanh has 5 ulp, and three roundings of its argument add 0.4.
    of_probability = 6 * np.finfo("float32" if dtype == "float16" else dtype).eps * np.abs(X)
    results = run_each([(op, attributes) for op, attributes, _ in cases], [x], version=22)
    for (op, attributes, function), got in zip(cases, results, strict=True):
        assert got.dtype == dtype
        with np.errstate(all="ignore"):
            expected = function(x.astype("float64")).astype(dtype).astype("float64")
        error = np.abs(got.astype("float64") - expected)
        bound = units * info.eps * np.abs(expected) + 64 * info.tiny
        bound += of_probability if op == "Gelu" else 0
        is_right = (error <= bound) | (got == expected)
        assert is_right.all(), (op, attributes, x[~is_right], got[~is_right])


def test_nan():
    """NaN stays NaN, except in operators that select by comparisons, which are false for NaN."""
    x = np.array([np.nan, 1], "float32")
    results = run_each([(op, attributes) for op, attributes, _ in CASES], [x], version=22)
    for (op, _, _), got in zip(CASES, results, strict=True):
        assert np.isnan(got[0]) != (op in ("Shrink", "ThresholdedRelu")), op


def test_activations_of_integers():
    x = np.arange(-4, 5, dtype="int32")
    np.testing.assert_array_equal(run_node("Relu", [x], 14), np.maximum(x, 0))
    slope = np.array([3], "int32")
    np.testing.assert_array_equal(run_node("PRelu", [x, slope], 16), np.where(x < 0, 3 * x, x))
    got = run_node("Shrink", [x.astype("int8")], 9, bias=1.5, lambd=1.5)
    np.testing.assert_array_equal(got, np.trunc(shrink(x, 1.5, 1.5)).astype("int8"))


def test_prelu_broadcasts_its_slope():
    x = np.random.default_rng(0).standard_normal((2, 3, 5)).astype("float32")
    for shape in ((3, 1), (1, 1, 5), (5,), (2, 1, 1)):
        slope = np.arange(np.prod(shape), dtype="float32").reshape(shape)
        np.testing.assert_array_equal(
            run_node("PRelu", [x, slope], 16, known=[1]), np.where(x < 0, slope * x, x)
        )
