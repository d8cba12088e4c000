"""The place of the largest value, and running sums."""

import numpy as np
import pytest
from workloads.schedules import block, cache_in_texture, spread, thread

from texloom import te


def combine(a, b):
    """The larger value; of equal ones that of the smaller index."""
    first = te.any(a[1] > b[1], te.all(a[1] == b[1], a[0] < b[0]))
    return (
        te.if_then_else(first, a[0], b[0]),
        te.if_then_else(first, a[1], b[1]),
    )


def identity(index, value):
    return te.max_value(index), te.min_value(value)


argmax = te.comm_reducer(combine, identity, name="argmax")


def test_argmax_of_channels(run):
    """Of each pixel, over channels in texels: the class of a segmentation."""
    shape = (2, 5, 6, 7, 4)
    x = te.placeholder(shape, name="X")
    k = te.reduce_axis((0, 20), name="k")
    index, _ = te.compute(
        (2, 6, 7), lambda n, y, x_: argmax((k.var, x[n, k // 4, y, x_, k % 4]), axis=k), name="A"
    )
    s = te.create_schedule(index.op)
    cache_in_texture(s, x, index)
    spread(s, index, vectorize=False)
    v = np.random.default_rng(17).integers(-4, 4, shape).astype("float32")  # with equal values
    expected = v.transpose(0, 1, 4, 2, 3).reshape(2, 20, 6, 7).argmax(axis=1)
    np.testing.assert_array_equal(run(s, [x, index], v), expected)


def test_argmax_over_the_threads_of_a_block(run):
    shape = (6, 100)
    x = te.placeholder(shape, name="X")
    k = te.reduce_axis((0, shape[1]), name="k")
    index, value = te.compute(shape[:1], lambda i: argmax((k.var, x[i, k]), axis=k), name="A")
    s = te.create_schedule(index.op)
    s[index].bind(s[index].op.axis[0], block())
    _, inner = s[index].split(k, factor=16)
    s[index].bind(inner, thread())
    v = np.random.default_rng(18).integers(-9, 9, shape).astype("float32")
    got = run(s, [x, index, value], v)
    np.testing.assert_array_equal(got[0], v.argmax(axis=1))
    np.testing.assert_array_equal(got[1], v.max(axis=1))


@pytest.mark.parametrize("n", [1, 2, 37, 64])
def test_prefix_sum_in_doubling_steps(run, n):
    """Step by step, each sum is added to the one that ends before it; a block for each row."""
    x = te.placeholder((5, n), "int32", name="X")
    sums, reach = x, 1
    steps = []
    while reach < n:
        sums = te.compute(
            (5, n),
            lambda i, j: sums[i, j] + te.if_then_else(j >= reach, sums[i, j - reach], 0),  # noqa: B023
            name=f"sums{reach}",
        )
        steps.append(sums)
        reach *= 2
    y = te.compute((5, n), lambda i, j: sums[i, j], name="Y")
    s = te.create_schedule(y.op)
    cache_in_texture(s, x, steps[0] if steps else y)
    s[y].bind(y.op.axis[0], block())
    s[y].bind(y.op.axis[1], thread())
    for t in steps:
        s[t].compute_at(s[y], y.op.axis[0])
        s[t].set_scope("shared")
        s[t].bind(s[t].op.axis[1], thread())
    v = np.random.default_rng(19).integers(-999, 999, (5, n)).astype("int32")
    np.testing.assert_array_equal(run(s, [x, y], v), v.cumsum(axis=1))
