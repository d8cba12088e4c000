"""Products of matrices against NumPy and onnxruntime."""

from __future__ import annotations

import numpy as np
import pytest
from node_peers import model_of, onnxruntimes, ours, random

from texloom.examples.rounding import FLOAT32_ROUNDOFF, gamma

SHAPES = [
    ((5, 7), (7, 3)),
    ((2, 1, 5, 7), (3, 7, 4)),
    ((1, 5, 1), (4, 1, 6)),
    ((7,), (7, 3)),
    ((2, 5, 7), (7,)),
    ((7,), (2, 7, 3)),
    ((1, 1, 130), (130, 67)),
]


@pytest.mark.parametrize("shapes", SHAPES)
def test_matmul(shapes):
    """Batch axes are broadcast; an operand may be a vector."""
    inputs = [random(i, *shape) for i, shape in enumerate(shapes)]
    (got,) = ours(model_of("MatMul", inputs), inputs)
    expected = np.matmul(*(each.astype("float64") for each in inputs))
    magnitudes = np.matmul(*(np.abs(each.astype("float64")) for each in inputs))
    assert got.shape == expected.shape and got.dtype == np.float32
    bound = gamma(shapes[0][-1] + 1, FLOAT32_ROUNDOFF) * magnitudes
    assert (np.abs(got - expected) <= bound).all()


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "float64"])
def test_matmul_of_other_types(dtype):
    inputs = [random(1, 2, 5, 7, dtype=dtype), random(2, 7, 4, dtype=dtype)]
    inputs[0] = np.round(9 * inputs[0]).astype(dtype)
    (got,) = ours(model_of("MatMul", inputs), inputs)
    np.testing.assert_allclose(got, np.matmul(*inputs), rtol=0, atol=1e-13)
    assert got.dtype == dtype


@pytest.mark.parametrize("transpose", [(0, 0), (1, 0), (0, 1), (1, 1)])
@pytest.mark.parametrize("c", [(), (4,), (5, 1), (5, 4)])
def test_gemm(transpose, c):
    """C is broadcast; alpha and beta scale."""
    a, b = random(1, 5, 7), random(2, 7, 4)
    inputs = [a.T if transpose[0] else a, b.T if transpose[1] else b, random(3, *c)]
    inputs = [np.ascontiguousarray(each) for each in inputs]
    attributes = {"transA": transpose[0], "transB": transpose[1], "alpha": 0.5, "beta": -2.0}
    (got,) = ours(model_of("Gemm", inputs, **attributes), inputs)
    expected = 0.5 * (a.astype("float64") @ b) - 2.0 * inputs[2]
    magnitudes = 0.5 * (np.abs(a.astype("float64")) @ np.abs(b)) + 2 * np.abs(inputs[2])
    assert (np.abs(got - expected) <= gamma(7 + 3, FLOAT32_ROUNDOFF) * magnitudes).all()


@pytest.mark.parametrize("zeros", [((), ()), ((1,), (4,)), ((5,), (4,)), ((2, 5, 1), (2, 1, 4))])
def test_matmul_integer(zeros):
    """Zero points are scalars, or one per row of A and per column of B."""
    a, b = random(1, 2, 5, 7, dtype="uint8"), random(2, 2, 7, 4, dtype="int8")
    a_zero, b_zero = random(3, *zeros[0], dtype="uint8"), random(4, *zeros[1], dtype="int8")
    inputs = [a, b, a_zero, b_zero]
    (got,) = ours(model_of("MatMulInteger", inputs), inputs)
    rows = a_zero.reshape(-1, 1) if zeros[0] == (5,) else a_zero
    expected = np.matmul(a.astype("int32") - rows, b.astype("int32") - b_zero)
    np.testing.assert_array_equal(got, expected)


def test_qlinear_matmul_saturates():
    """Results beyond the dtype's range are limited to it, as the standard says."""
    a, b = random(1, 6, 9, dtype="int8"), random(2, 9, 4, dtype="int8")
    scale, zero = np.array(0.5, "float32"), np.array(1, "int8")
    inputs = [a, scale, zero, b, scale, zero, np.array(0.125, "float32"), zero]
    model = model_of("QLinearMatMul", inputs)
    (got,), (expected,) = ours(model, inputs), onnxruntimes(model, inputs)
    np.testing.assert_array_equal(got, expected)
    assert {-128, 127} <= set(got.flat)


@pytest.mark.parametrize("shape", [(5, 5), (2, 3, 4, 4), (1, 1)])
def test_determinant(shape):
    """Rows are swapped where a pivot is zero; a singular matrix has the determinant 0."""
    x = random(1, *shape)
    x.reshape(-1, *shape[-2:])[0, 0, 0] = 0
    (got,) = ours(model_of("Det", [x]), [x])
    expected = np.linalg.det(x.astype("float64"))
    # Partial pivoting changes each element, at most 1, by at most n^2 * 2^(n-1) roundoffs. So the
    # determinant changes by less than n^2 * (n-1)! times as much.
    n = shape[-1]
    bound = n**4 * 2.0 ** (n - 1) * np.prod(np.arange(1, n), initial=1) * FLOAT32_ROUNDOFF
    assert (np.abs(got - expected) <= bound).all()
    ones = np.ones_like(x)
    assert n == 1 or (ours(model_of("Det", [ones]), [ones])[0] == 0).all()


EQUATIONS = [
    ("ij,jk->ik", (3, 4), (4, 5)),
    ("ij, kj", (3, 4), (5, 4)),
    ("...ij,...jk->...ik", (2, 1, 3, 4), (5, 4, 6)),
    ("b...i,...i->b...", (2, 3, 4), (3, 4)),
    ("ii->i", (4, 4)),
    ("ii", (4, 4)),
    ("ij->", (3, 4)),
    ("ab,bc,cd->ad", (2, 3), (3, 4), (4, 5)),
    ("a,b,ab->b", (2,), (3,), (2, 3)),
    ("ijk->kij", (2, 3, 4)),
    ("i,j->ij", (3,), (4,)),
    ("bhqd,bkhd->bhqk", (2, 3, 4, 5), (2, 6, 3, 5)),
]


@pytest.mark.parametrize("equation", EQUATIONS, ids=lambda each: each[0])
def test_einsum(equation):
    """Equations have products, diagonals, ellipses, or no arrow; integers are exact."""
    text, *shapes = equation
    inputs = [np.round(9 * random(i, *shape)) for i, shape in enumerate(shapes)]
    model = model_of("Einsum", inputs, equation=text)
    np.testing.assert_array_equal(ours(model, inputs)[0], np.einsum(text, *inputs))
