"""The comparison of a node with another implementation: its bound, and exact cases."""

import numpy as np
import pytest
from onnx import helper

from texloom.onnx.comparison import compared, terms

NAMES = ("node", "Op", "output")
HALF_UNIT = 2.0**-24  # of float32


def compare(ours, peer, exact=None, magnitudes=None, count=1):
    return compared(NAMES, np.asarray(ours), np.asarray(peer), exact, magnitudes, count)


def floats(*values):
    return np.array(values, "float32")


def test_integers_are_equal_or_wrong():
    assert compare([1, 2, 3], [1, 2, 3]).is_within
    found = compare([1, 5, 3], [1, 2, 3])
    assert not found.is_within
    assert (found.index, found.value, found.peer, found.error, found.bound) == ((1,), 5, 2, 3, 0)


def test_a_rounded_integer_may_be_that_of_float64():
    """A quotient close to a half may be rounded to either side of the tie."""
    assert compare([3], [2], exact=np.array([3])).is_within


@pytest.mark.parametrize(("ours", "peer", "is_within"), [
    (np.nan, np.nan, True),
    (np.inf, np.inf, True),
    (np.nan, 1, False),
    (1, np.nan, False),
    (np.inf, 1, False),
    (-np.inf, np.inf, False),
])  # fmt: skip
def test_numbers_that_are_not_finite(ours, peer, is_within):
    found = compare(floats(0, ours), floats(0, peer), np.array([0, peer], "float64"))
    assert found.is_within is is_within
    assert is_within or found.index == (1,)


def test_overflow_in_both_is_right():
    """70000 overflows half precision, so infinity is right although the exact value is finite."""
    ours = np.array([np.inf], "float16")
    assert compare(ours, ours, np.array([70000.0])).is_within


def test_another_shape_or_dtype_is_wrong():
    assert not compare(floats(1), floats(1, 1)).is_within
    assert not compare(floats(1), np.array([1.0])).is_within


def test_the_bound_is_that_of_the_sum_at_this_element():
    """The bound, 2 (10 + 16) half units, scales with the element's own terms, not with others."""
    exact, magnitudes = np.array([0.0, 1e6]), np.array([4.0, 1e6])
    bound = 2 * (10 + 16) * HALF_UNIT * 4
    for share, is_within in ((0.9, True), (1.1, False)):
        found = compare(floats(share * bound, 1e6), floats(0, 1e6), exact, magnitudes, 10)
        assert found.is_within is is_within
        assert found.index == (0,) and found.bound == pytest.approx(bound)


def test_four_times_the_error_of_the_other_implementation_is_allowed():
    for error, is_within in ((0.039, True), (0.041, False)):
        assert compare(floats(1 + error), floats(1.01), np.array([1.0])).is_within is is_within


@pytest.mark.parametrize(("ours", "exact", "is_within"), [
    (1 + 2.0**-11, 1.0, True),  # half a unit of float16
    (1 + 2.0**-10, 1.0, False),
    (2.0**-24, 2.0**-25, True),  # the least number of float16
    (2.0**-23, 2.0**-25, False),
    (np.inf, 70000.0, False),
])  # fmt: skip
def test_the_rounding_of_a_result_to_float16_is_allowed(ours, exact, is_within):
    found = compared(
        NAMES, floats(ours), floats(exact), np.array([exact]), None, 1, is_rounded=True
    )
    assert found.is_within is is_within


def test_an_empty_output_is_right():
    assert compare(floats(), floats()).is_within


@pytest.mark.parametrize(("op", "attributes", "shapes", "output", "count"), [
    ("Add", {}, [(4, 4), (4, 4)], (4, 4), 2),
    ("Conv", {}, [(1, 8, 9, 9), (16, 4, 3, 3)], (1, 16, 7, 7), 37),
    ("ConvTranspose", {}, [(1, 8, 9, 9), (8, 4, 3, 3)], (1, 4, 11, 11), 73),
    ("MatMul", {}, [(2, 5, 7), (2, 7, 3)], (2, 5, 3), 7),
    ("Gemm", {"transA": 1}, [(7, 5), (7, 3), (3,)], (5, 3), 8),
    ("Softmax", {"axis": 1}, [(2, 5, 7)], (2, 5, 7), 5),
    ("LayerNormalization", {"axis": -2}, [(2, 5, 7), (5, 7)], (2, 5, 7), 35),
    ("ReduceSum", {}, [(2, 5, 7)], (2, 1, 1), 35),
    ("AveragePool", {"kernel_shape": [3, 3]}, [(1, 1, 9, 9)], (1, 1, 7, 7), 9),
    ("MatMul", {}, [(7,), (7,)], (), 7),
])  # fmt: skip
def test_terms_of_sums(op, attributes, shapes, output, count):
    node = helper.make_node(op, ["x"] * len(shapes), ["y"], **attributes)
    assert terms(node, shapes, output) == count
