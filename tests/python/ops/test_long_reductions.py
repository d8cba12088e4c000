"""The default schedules of long reductions, and of reductions along outer axes."""

import numpy as np
import pytest

import texloom as tvm
from texloom import ops, te
from texloom.ops import reductions
from texloom.ops.schedules import schedule_default
from texloom.ops.schedules.reduction import parts_of
from texloom.target import TargetValue

PROCESSOR, ACCELERATOR = TargetValue("opencl"), TargetValue("opencl -device=adreno")

CASES = {
    "one result of many terms": ((70001,), (0,)),
    "few results of many terms": ((3, 40000), (1,)),
    "rows": ((37, 200), (1,)),
    "rows of two axes": ((5, 3, 20, 31), (2, 3)),
    "rows of several axes that are apart": ((7, 3, 130), (0, 2)),
    "rows of short axes that are apart": ((30, 3, 5), (0, 2)),
    "neighboring results": ((9, 131), (0,)),
    "few neighboring results of many terms": ((40000, 5), (0,)),
    "short rows": ((50, 9), (1,)),
}


def computed(dev, target, outputs, x, value):
    """Return the outputs and the number of kernels."""
    s = schedule_default(outputs, [x], [], target)
    function = tvm.build(s, [x, *outputs], target)
    made = [tvm.nd.empty([int(n) for n in t.shape], t.dtype, dev) for t in outputs]
    function(tvm.nd.array(value, dev), *made)
    return [each.numpy() for each in made], len(function.kernels)


def integers(shape):
    return np.random.default_rng(len(shape)).integers(-9, 9, shape)


@pytest.mark.parametrize("target", [PROCESSOR, ACCELERATOR])
@pytest.mark.parametrize("case", list(CASES))
def test_sums(dev, case, target):
    """Sums of these small integers are exact in any order."""
    shape, axes = CASES[case]
    value = integers(shape).astype("float32")
    x = te.placeholder(shape, name="x")
    y = reductions.reduce_sum(x, axes, keepdims=False)
    (got,), kernels = computed(dev, target, [y], x, value)
    np.testing.assert_array_equal(got, value.sum(axis=axes))
    has_parts = "many terms" in case
    assert kernels == 1 + has_parts


@pytest.mark.parametrize(
    ("terms", "parts"), [(192 * 16 * 40, 6), (3 << 16, 8), (70001, 4), (131071, 7), (9000, 1)]
)
def test_parts_of_many_terms_are_equal_if_some_number_divides_them(terms, parts):
    """Of 7 parts of 122,880 terms the last would be shorter, and no loop would have vectors."""
    x = te.placeholder((terms,), name="x")
    assert parts_of(reductions.reduce_sum(x, [0], keepdims=False), True, PROCESSOR) == parts


@pytest.mark.parametrize("target", [PROCESSOR, ACCELERATOR])
def test_places_among_many_terms(dev, target):
    """Pairs of value and index are reduced; of equal values the first wins, in any order."""
    value = integers((2, 50000)).astype("float32")
    x = te.placeholder(value.shape, name="x")
    y = reductions.argmax(x, 1, keepdims=False)
    (got,), _ = computed(dev, target, [y], x, value)
    np.testing.assert_array_equal(got, value.argmax(axis=1))


@pytest.mark.parametrize("target", [PROCESSOR, ACCELERATOR])
def test_two_reductions_of_one_input_and_a_reader(dev, target):
    value = integers((6, 3000)).astype("float32")
    x = te.placeholder(value.shape, name="x")
    top = reductions.reduce_max(x, [1])
    total = reductions.reduce_sum(x, [1])
    y = te.compute(x.shape, lambda i, j: x(i, j) * top(i, 0) - total(i, 0), name="y")
    (got,), _ = computed(dev, target, [y], x, value)
    top, total = value.max(1, keepdims=True), value.sum(1, keepdims=True)
    np.testing.assert_array_equal(got, value * top - total)


def test_terms_that_do_not_count(dev):
    """A reduction's `where`, and conditions around its reads, hold for each term."""
    value = integers((40, 300)).astype("float32")
    x = te.placeholder(value.shape, name="x")
    k = te.reduce_axis((0, 300), name="k")
    few = te.compute((40,), lambda i: ops.maximum(x(i, k.var), axis=k, where=k.var > i), name="few")
    j = te.reduce_axis((0, 3), name="j")
    window = te.compute(
        (40, 300),
        lambda i, w: te.sum(
            te.if_then_else(te.all(w + j.var >= 1, w + j.var < 301), x(i, w + j.var - 1), 0.0),
            axis=j,
        ),
        name="window",
    )
    got, _ = computed(dev, PROCESSOR, [few, window], x, value)
    np.testing.assert_array_equal(got[0], [value[i, i + 1 :].max() for i in range(40)])
    wide = np.pad(value, ((0, 0), (1, 1)))
    np.testing.assert_array_equal(got[1], wide[:, :-2] + wide[:, 1:-1] + wide[:, 2:])


def test_reduction_with_an_initial_value(dev):
    """The initial value is added once, not once per partial result."""
    value = integers((4, 500)).astype("float32")
    x = te.placeholder(value.shape, name="x")
    k = te.reduce_axis((0, 500), name="k")
    y = te.compute((4,), lambda i: te.sum(x(i, k.var), axis=k, init=[1000.0]), name="y")
    (got,), _ = computed(dev, PROCESSOR, [y], x, value)
    np.testing.assert_array_equal(got, 1000 + value.sum(axis=1))


@pytest.mark.parametrize("target", [PROCESSOR, ACCELERATOR])
def test_sums_in_the_steps_of_a_scan(dev, target):
    """Each row is a matrix times the row before it, plus a number."""
    value = np.random.default_rng(7).integers(-1, 2, (70, 70)).astype("float32")
    x = te.placeholder(value.shape, name="x")
    state = te.placeholder((4, 70), name="state")
    k = te.reduce_axis((0, 70), name="k")
    first = te.compute((1, 70), lambda t, i: x(0, i), name="first")
    total = te.compute(
        (4, 70), lambda t, i: te.sum(x(i, k.var) * state(t - 1, k.var), axis=k), name="total"
    )
    update = te.compute((4, 70), lambda t, i: total(t, i) + 1.0, name="update")
    (got,), _ = computed(dev, target, [te.scan(first, update, state)], x, value)
    expected = [value[0]]
    for _ in range(3):
        expected.append(value @ expected[-1] + 1)
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("target", [PROCESSOR, ACCELERATOR])
@pytest.mark.parametrize("case", list(CASES))
def test_reader_in_the_kernel_of_a_reduction(dev, case, target):
    """A reader runs in the thread that holds the result it reads, if one thread holds it."""
    shape, axes = CASES[case]
    value = integers(shape).astype("float32")
    x = te.placeholder(shape, name="x")
    sums = reductions.reduce_sum(x, axes, keepdims=False)
    bias = te.compute(sums.shape, lambda *i: te.const(3, "float32"), name="bias")
    y = te.compute(sums.shape, lambda *i: sums(*i) * 2.0 + bias(*i), name="y")
    (got,), kernels = computed(dev, target, [y], x, value)
    np.testing.assert_array_equal(got, value.sum(axis=axes) * 2 + 3)
    assert kernels == (2 if "many terms" in case else 1)
