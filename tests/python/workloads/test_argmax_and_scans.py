"""The index of the largest value, running sums, and a recurrent cell."""

import numpy as np
import pytest

from texloom import te
from texloom.examples.texel_schedules import block, cache_in_texture, spread, thread


def combine(a, b):
    """Return the larger value; of equal ones, the one with the smaller index."""
    first = te.any(a[1] > b[1], te.all(a[1] == b[1], a[0] < b[0]))
    return (
        te.if_then_else(first, a[0], b[0]),
        te.if_then_else(first, a[1], b[1]),
    )


def identity(index, value):
    return te.max_value(index), te.min_value(value)


argmax = te.comm_reducer(combine, identity, name="argmax")


def test_argmax_of_channels(run):
    """Segmentation: each pixel's class is the argmax over channels that lie in texels."""
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
    """Step k adds to each sum the sum 2**k elements before; each row has a block."""
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


@pytest.mark.parametrize("rows", [2, 37])
def test_prefix_sum_of_rows(run, rows):
    """Steps run in order, each thread has its own columns; the input comes from a texture."""
    columns = 40
    x = te.placeholder((rows, columns), name="X")
    state = te.placeholder((rows, columns), name="state")
    init = te.compute((1, columns), lambda t, i: x[t, i], name="init")
    update = te.compute((rows, columns), lambda t, i: state[t - 1, i] + x[t, i], name="update")
    y = te.scan(init, update, state, inputs=[x], name="Y")
    s = te.create_schedule(y.op)
    cache_in_texture(s, x, update)
    for t in (init, update):
        outer, inner = s[t].split(t.op.axis[1], factor=16)
        s[t].bind(outer, block())
        s[t].bind(inner, thread())
    v = np.random.default_rng(20).integers(-99, 99, (rows, columns)).astype("float32")
    np.testing.assert_array_equal(run(s, [x, y], v), v.cumsum(axis=0))


def test_recurrent_cell(run):
    """h[t] = tanh(W h[t - 1] + U x[t]): each sequence has a block, each unit a thread."""
    steps, batch, units, width = 6, 3, 16, 12
    x = te.placeholder((steps, batch, width), name="X")
    w = te.placeholder((units, units), name="W")
    u = te.placeholder((units, width), name="U")
    h = te.placeholder((steps, batch, units), name="h")
    k = te.reduce_axis((0, units), name="k")
    j = te.reduce_axis((0, width), name="j")
    shape = (steps, batch, units)
    # Depends on no state, so one kernel computes all steps.
    inputs = te.compute(shape, lambda t, b, i: te.sum(u[i, j] * x[t, b, j], axis=j), name="inputs")
    init = te.compute((1, batch, units), lambda t, b, i: te.tanh(inputs[0, b, i]), name="init")
    own = te.compute(
        shape, lambda t, b, i: te.sum(w[i, k] * h[t - 1, b, k], axis=k), name="recurrent"
    )
    update = te.compute(
        shape, lambda t, b, i: te.tanh(own[t, b, i] + inputs[t, b, i]), name="update"
    )
    y = te.scan(init, update, h, inputs=[inputs], name="Y")
    s = te.create_schedule(y.op)
    cache_in_texture(s, w, own)
    before = s.cache_read(h, "shared", [own])
    for t in (inputs, init, update):
        s[t].bind(t.op.axis[1], block())
        s[t].bind(t.op.axis[2], thread())
    s[own].compute_at(s[update], update.op.axis[2])
    s[before].compute_at(s[update], update.op.axis[1])
    s[before].bind(s[before].op.axis[2], thread())
    rng = np.random.default_rng(21)
    xs, ws, us = (
        rng.uniform(-0.5, 0.5, n).astype("float32")
        for n in ((steps, batch, width), (units, units), (units, width))
    )
    rows = [np.tanh(xs[0] @ us.T)]
    for t in range(1, steps):
        rows.append(np.tanh(rows[-1] @ ws.T + xs[t] @ us.T))
    np.testing.assert_allclose(run(s, [x, w, u, y], xs, ws, us), rows, rtol=2e-5, atol=1e-6)
