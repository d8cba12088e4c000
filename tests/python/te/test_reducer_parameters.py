"""Reducers that use axes of the tensor and symbols."""

import numpy as np
import pytest

import texloom as tvm
from texloom import te

ROWS, STEPS = 6, 10
VALUES = np.random.default_rng(3).integers(0, 9, size=(ROWS, STEPS)).astype("int32")
CAPS = np.arange(ROWS) * 7
STARTS = np.arange(ROWS) * 2
CAPPED = np.minimum(VALUES.sum(axis=1), CAPS)
HIGHEST = np.maximum(VALUES.max(axis=1), STARTS)


def capped(cap):
    """Return a reducer that is associative for nonnegative values."""
    return te.comm_reducer(lambda a, b: te.min(a + b, cap), lambda t: te.const(0, t), name="capped")


def highest(start):
    return te.comm_reducer(te.max, lambda t: start, name="highest")


def by_row():
    """Return reducers that use a tensor axis in the combination and in the identity."""
    x, k = te.placeholder((ROWS, STEPS), "int32", name="X"), te.reduce_axis((0, STEPS), name="k")
    sums = te.compute((ROWS,), lambda i: capped(i * 7)(x[i, k], axis=k), name="sums")
    m = te.reduce_axis((0, STEPS), name="m")
    tops = te.compute((ROWS,), lambda i: highest(i * 2)(x[i, m], axis=m), name="tops")
    return x, sums, tops, te.create_schedule([sums.op, tops.op])


def unscheduled(s, t):
    pass


def reduction_outside(s, t):
    """The loop over the inner part of a split axis is inside the reduction's loop."""
    outer, inner = s[t].split(s[t].op.axis[0], factor=4)
    s[t].reorder(outer, s[t].op.reduce_axis[0], inner)


def factored(s, t):
    outer, _ = s[t].split(s[t].op.reduce_axis[0], factor=4)
    s[s.rfactor(t, outer)].compute_at(s[t], s[t].op.axis[0])


def factored_whole(s, t):
    s[s.rfactor(t, s[t].op.reduce_axis[0])].compute_at(s[t], s[t].op.axis[0])


def cached(s, t):
    s[s.cache_write(t, "local")].compute_at(s[t], s[t].op.axis[0])


def cached_in_loops(s, t):
    """The cache has an axis for each loop; its reducer uses these axes, not the tensor's."""
    s[t].split(s[t].op.axis[0], factor=4)
    s[s.cache_write(t, "local")].compute_at(s[t], s[t].leaf_iter_vars[0])


SCHEDULES = (unscheduled, reduction_outside, factored, factored_whole, cached, cached_in_loops)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_schedules(run, schedule):
    x, sums, tops, s = by_row()
    for t in (sums, tops):
        schedule(s, t)
        leaf = s[t].leaf_iter_vars[0]
        s[t].bind(leaf, te.thread_axis("threadIdx.x"))
    args = [x, sums, tops]
    got_sums, got_tops = run(s, args, VALUES)
    np.testing.assert_array_equal(got_sums, CAPPED)
    np.testing.assert_array_equal(got_tops, HIGHEST)
    text = str(tvm.program(s, args))
    assert str(tvm.parse(text)) == text
    assert "min(a + b, axis * 7), identity=0" in text and "identity=axis * 2" in text


def test_threads_share_a_reduction(run):
    x, sums, tops, s = by_row()
    for t in (sums, tops):
        s[t].bind(s[t].op.axis[0], te.thread_axis("blockIdx.x"))
        s[t].bind(s[t].op.reduce_axis[0], te.thread_axis("threadIdx.x"))
    got_sums, got_tops = run(s, [x, sums, tops], VALUES)
    np.testing.assert_array_equal(got_sums, CAPPED)
    np.testing.assert_array_equal(got_tops, HIGHEST)


def test_threads_outside_the_tensor_start_from_nothing(run):
    """Threads outside the tensor start from no identity, which would divide by zero there."""
    x, k = te.placeholder((ROWS, STEPS), "int32", name="X"), te.reduce_axis((0, STEPS), name="k")
    y = te.compute((ROWS,), lambda i: highest(30 // (ROWS - i))(x[i, k], axis=k), name="Y")
    s = te.create_schedule(y.op)
    outer, inner = s[y].split(y.op.axis[0], factor=4)
    s[y].bind(outer, te.thread_axis("blockIdx.x"))
    s[y].bind(inner, te.thread_axis("threadIdx.y"))
    s[y].bind(k, te.thread_axis("threadIdx.x"))
    expected = np.maximum(VALUES.max(axis=1), 30 // (ROWS - np.arange(ROWS)))
    np.testing.assert_array_equal(run(s, [x, y], VALUES), expected)


def test_an_intrinsic_does_not_match():
    """An intrinsic whose reducer uses axes of its own compute does not match."""
    x, k = te.placeholder((ROWS, STEPS), "int32", name="X"), te.reduce_axis((0, STEPS), name="k")
    y = te.compute((ROWS,), lambda i: capped(i)(x[i, k], axis=k), name="Y")

    def statement(ins, outs):
        ib = tvm.tir.ir_builder.create()
        ib.buffer_ptr(outs[0])[0] = 0
        return ib.get()

    m = te.reduce_axis((0, STEPS), name="m")
    z = te.compute((ROWS,), lambda i: capped(i)(x[i, m], axis=m), name="Z")
    s = te.create_schedule(y.op)
    s[y].tensorize(y.op.axis[0], te.decl_tensor_intrin(z.op, statement))
    with pytest.raises(tvm.TVMError, match="TL3033"):
        tvm.lower(s, [x, y])


def test_a_new_layout(run):
    """The reducer gets an expression of the tensor's new axes."""
    x, sums, tops, s = by_row()
    twice = te.compute((ROWS,), lambda i: sums[i] * 2, name="twice")
    s = te.create_schedule(twice.op)
    s[sums].transform_layout(lambda i: [i // 4, i % 4])
    for t in (sums, twice):
        s[t].bind(s[t].leaf_iter_vars[0], te.thread_axis("threadIdx.x"))
    text = str(tvm.program(s, [x, twice]))
    assert str(tvm.parse(text)) == text
    np.testing.assert_array_equal(run(s, [x, twice], VALUES), CAPPED * 2)


def test_one_reducer_for_the_axes_of_two_stages():
    """Two stages use one reducer declaration with different parameter values."""
    x, k = te.placeholder((ROWS, STEPS), "int32", name="X"), te.reduce_axis((0, STEPS), name="k")
    m = te.reduce_axis((0, STEPS), name="m")
    y = te.compute((ROWS,), lambda i: capped(i)(x[i, k], axis=k), name="Y")
    z = te.compute((ROWS, 2), lambda i, j: capped(j)(x[i, m], axis=m), name="Z")
    text = str(tvm.program(te.create_schedule([y.op, z.op]), [x, y, z]))
    declared = "reducer capped(a, b, axis: int32): int32 = min(a + b, axis), identity=0"
    assert text.count("reducer ") == 1 and declared in text
    assert "reduce(capped(i), [k < 10], X[i, k])" in text
    assert "reduce(capped(j), [m < 10], X[i, m])" in text


def test_a_symbol(dev):
    n, k = te.var("n"), te.reduce_axis((0, STEPS), name="k")
    x = te.placeholder((n, STEPS), "int32", name="X")
    y = te.compute((n,), lambda i: capped(n + i)(x[i, k], axis=k), name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(y.op.axis[0], te.thread_axis("blockIdx.x"))
    result = tvm.nd.array(np.zeros(ROWS, "int32"), dev)
    tvm.build(s, [x, y], "opencl")(tvm.nd.array(VALUES, dev), result)
    expected = np.minimum(VALUES.sum(axis=1), ROWS + np.arange(ROWS))
    np.testing.assert_array_equal(result.numpy(), expected)
    text = str(tvm.program(s, [x, y]))
    assert "axis: int32, axis.1: int32" in text and str(tvm.parse(text)) == text


def test_several_values(run):
    """Find the position of the value nearest to the row's number."""
    x, k = te.placeholder((ROWS, STEPS), "int32", name="X"), te.reduce_axis((0, STEPS), name="k")

    def element(i):
        def combine(a, b):
            nearer = te.abs(a[1] - i) <= te.abs(b[1] - i)
            return te.if_then_else(nearer, a[0], b[0]), te.if_then_else(nearer, a[1], b[1])

        nearest = te.comm_reducer(combine, lambda t, u: (te.const(-1, t), te.const(99, u)))
        return nearest((k.var, x[i, k]), axis=k)

    place, value = te.compute((ROWS,), element, name="Y")
    s = te.create_schedule(place.op)
    s[place].bind(place.op.axis[0], te.thread_axis("threadIdx.x"))
    expected = np.abs(VALUES - np.arange(ROWS)[:, None]).argmin(axis=1)
    got_place, got_value = run(s, [x, place, value], VALUES)
    np.testing.assert_array_equal(got_place, expected)
    np.testing.assert_array_equal(got_value, VALUES[np.arange(ROWS), expected])


def test_an_axis_of_the_reduction_is_refused():
    x, k = te.placeholder((ROWS, STEPS), "int32", name="X"), te.reduce_axis((0, STEPS), name="k")
    with pytest.raises(tvm.TVMError, match="TL1004.*'capped' of 'Y' uses the axis 'k'"):
        te.compute((ROWS,), lambda i: capped(k.var)(x[i, k], axis=k), name="Y")


def test_identities_do_not_use_operands():
    x, k = te.placeholder((ROWS, STEPS), "int32", name="X"), te.reduce_axis((0, STEPS), name="k")
    kept = []

    def combine(a, b):
        kept.append(a)
        return a + b

    leak = te.comm_reducer(combine, lambda t: kept[0], name="leak")
    with pytest.raises(tvm.TVMError, match="TL1004.*reducer 'leak' uses its operand 'a'"):
        leak(x[0, k], axis=k)
