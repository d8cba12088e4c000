"""Row reductions and their readers in one kernel, on small integers."""

import numpy as np
import pytest

import texloom
from texloom import nd, te
from texloom.ops.reductions import reduce_max
from texloom.ops.schedules import schedule_default
from texloom.target import TargetValue

# Barriers under conditions would be wrong on a processor, where these tests run.
TARGETS = [
    TargetValue(text) for text in ("opencl", "opencl -device_class=gpu -conditional_barriers=0")
]


def spread(x, axes, row=lambda i: i):
    """Return (max - x) * sum(max - x), reduced over the axes; small integers make it exact."""
    top = reduce_max(x, axes)
    kept = [1 if a in axes else extent for a, extent in enumerate(x.shape)]
    terms = {a: te.reduce_axis((0, x.shape[a])) for a in axes}

    def at(i, numbered=True):
        places = [0 if a in axes else j for a, j in enumerate(i)]
        return row(places) if numbered else places

    below = te.compute(x.shape, lambda *i: top(*at(i)) - x(*i), name="below")

    def total_of(*i):
        return te.sum(below(*(terms.get(a, j) for a, j in enumerate(i))), axis=[*terms.values()])

    total = te.compute(kept, total_of, name="total")
    return te.compute(x.shape, lambda *i: below(*i) * total(*at(i, numbered=False)), name="y")


def computed(shape, axes, target, row=lambda i: i):
    """Run the default schedule; return the number of kernels, the input and the result."""
    x = te.placeholder(shape, name="x")
    y = spread(x, axes, row)
    s = schedule_default([y], [x], ("global", "global"), target)
    function = texloom.build(s, [x, y], target)
    device = texloom.opencl()
    array = np.random.default_rng(0).integers(-4, 5, shape).astype("float32")
    result = nd.empty(shape, "float32", device)
    function(nd.array(array, device), result)
    return len(function.kernels), array, result.numpy()


def expected(x, axes):
    below = x.max(axes, keepdims=True) - x
    return below * below.sum(axes, keepdims=True)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        ((5, 300), (1,)),  # partial results
        ((7, 10), (1,)),  # too few terms for partial results
        ((1, 1000), (1,)),  # one row
        ((3, 4, 5, 20), (2, 3)),  # rows of two axes
        ((70,), (0,)),  # one row, without an axis of rows
    ],
)
def test_rows_in_one_kernel(shape, axes, target):
    """Within one kernel, each reduction of a row is complete before the next one reads it."""
    kernels, x, result = computed(shape, axes, target)
    assert kernels == 1
    np.testing.assert_array_equal(result, expected(x, axes))


@pytest.mark.parametrize("target", TARGETS)
def test_columns_have_kernels_of_their_own(target):
    """One kernel requires contiguous rows; a column's elements are not contiguous."""
    kernels, x, result = computed((6, 6), (0,), target)
    assert kernels == 3
    np.testing.assert_array_equal(result, expected(x, (0,)))


@pytest.mark.parametrize("target", TARGETS)
def test_other_rows_are_complete_before(target):
    """Rows that read another row's maximum are computed in a later kernel."""
    kernels, x, result = computed((4, 30), (1,), target, lambda i: [3 - i[0], i[1]])
    assert kernels > 1
    below = x.max(1, keepdims=True)[::-1] - x
    np.testing.assert_array_equal(result, below * below.sum(1, keepdims=True))


def test_a_long_row_is_shared():
    """Several threads of a processor, in several kernels, compute one long row."""
    kernels, x, result = computed((1, 1 << 16), (1,), TargetValue("opencl"))
    assert kernels > 1
    exact = expected(x.astype("float64"), (1,))
    assert np.abs(result - exact).max() <= 2.0**-22 * np.abs(exact).max()
