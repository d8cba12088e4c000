"""Sums, minima and maxima over one or more axes, under every order of the loops."""

import numpy as np
import pytest

from texloom import te


def block(which="x"):
    return te.thread_axis(f"blockIdx.{which}")


VALUES = np.random.default_rng(1).integers(-9, 9, size=(5, 6, 7)).astype("float32")
HOW = {"sum": (te.sum, np.sum), "max": (te.max, np.max), "min": (te.min, np.min)}


@pytest.mark.parametrize("how", HOW)
def test_over_two_axes(run, how):
    over, reference = HOW[how]
    x = te.placeholder(VALUES.shape, name="X")
    a, b = te.reduce_axis((0, 5), name="a"), te.reduce_axis((0, 7), name="b")
    y = te.compute((6,), lambda j: over(x[a, j, b], axis=[a, b]), name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
    np.testing.assert_array_equal(run(s, [x, y], VALUES), reference(VALUES, axis=(0, 2)))


def test_range_of_the_axis(run):
    """A reduction axis (begin, end) runs from begin to end - 1."""
    x = te.placeholder((6, 7), name="X")
    k = te.reduce_axis((2, 5), name="k")
    y = te.compute((6,), lambda i: te.sum(x[i, k] * k, axis=k), name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
    expected = (VALUES[0][:, 2:5] * [2, 3, 4]).sum(axis=1)
    np.testing.assert_array_equal(run(s, [x, y], VALUES[0]), expected)


@pytest.mark.parametrize("how", HOW)
def test_where_guards_the_update(run, how):
    """A row of excluded points gives the identity; for `max`, the lowest finite value."""
    over, reference = HOW[how]
    x = te.placeholder((6, 7), name="X")
    k = te.reduce_axis((0, 7), name="k")
    y = te.compute((6,), lambda i: over(x[i, k], axis=k, where=k < i), name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
    identity = {"sum": 0, "max": np.finfo("float32").min, "min": np.finfo("float32").max}[how]
    i, k = np.indices((6, 7))
    expected = reference(np.where(k < i, VALUES[0], np.float32(identity)), axis=1)
    np.testing.assert_array_equal(run(s, [x, y], VALUES[0]), expected)


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint8", "float16"])
@pytest.mark.parametrize("how", HOW)
def test_dtypes(run, how, dtype):
    """The result has the dtype of the expression: a sum of int8 wraps as in NumPy."""
    over, reference = HOW[how]
    rng = np.random.default_rng(2)
    if dtype == "float16":
        v = rng.integers(-20, 20, size=(4, 9)).astype(dtype)
    else:
        info = np.iinfo(dtype)
        v = rng.integers(info.min, info.max, size=(4, 9), dtype=dtype, endpoint=True)
    x = te.placeholder(v.shape, dtype, name="X")
    k = te.reduce_axis((0, 9), name="k")
    y = te.compute((4,), lambda i: over(x[i, k], axis=k), name="Y")
    assert y.dtype == dtype
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
    extra = {"dtype": dtype} if how == "sum" else {}
    np.testing.assert_array_equal(run(s, [x, y], v), reference(v, axis=1, **extra))


def scheduled_product(schedule):
    """Return C = A @ B of 6 x 5 x 7, under a schedule that gets the stage's axes."""
    a, b = te.placeholder((6, 5), name="A"), te.placeholder((5, 7), name="B")
    k = te.reduce_axis((0, 5), name="k")
    c = te.compute((6, 7), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    s = te.create_schedule(c.op)
    schedule(s, c, *s[c].op.axis, *s[c].op.reduce_axis)
    return s, [a, b, c]


def outside(s, c, i, j, k):
    """The reduction is outside a data loop, so the initialization is a separate loop."""
    s[c].bind(i, block())
    s[c].reorder(k, j)


def between_threads(s, c, i, j, k):
    """Bind a data axis inside the reduction to threads."""
    s[c].reorder(i, k, j)
    s[c].bind(i, block())
    s[c].bind(j, te.thread_axis("threadIdx.x"))


def split_unevenly(s, c, i, j, k):
    """The guard of an unevenly split reduction does not apply to the initialization."""
    s[c].bind(i, block())
    ko, ki = s[c].split(k, factor=2)
    jo, ji = s[c].split(j, factor=3)
    s[c].reorder(ko, jo, ki, ji)
    s[c].unroll(ki)


def vectorized(s, c, i, j, k):
    """Vectorize the data axis inside the reduction."""
    s[c].bind(j, block())
    _, ii = s[c].split(i, factor=2)
    s[c].reorder(k, ii)
    s[c].vectorize(ii)


def in_registers(s, c, i, j, k):
    """Cache in local memory and split the reduction; the user's k belongs to the cache now."""
    cache = s.cache_write(c, "local")
    s[c].bind(s[c].fuse(i, j), block())
    s[cache].compute_at(s[c], s[c].leaf_iter_vars[0])
    s[cache].split(s[cache].op.reduce_axis[0], nparts=2)


@pytest.mark.parametrize(
    "schedule", [outside, between_threads, split_unevenly, vectorized, in_registers]
)
def test_schedules(run, schedule):
    s, args = scheduled_product(schedule)
    a, b = VALUES[:, :, 0].T.copy(), VALUES[:, 0, :]
    np.testing.assert_array_equal(run(s, args, a, b), a @ b)


def test_after_cache_write_the_reduction_belongs_to_the_cache():
    """The old stage keeps its data axes and no longer has a reduction."""
    s, (_, _, c) = scheduled_product(lambda s, c, i, j, k: None)
    cache = s.cache_write(c, "local")
    assert len(s[c].op.reduce_axis) == 0
    assert [a.name for a in s[cache].op.axis] == ["i.c", "j.c"]
    assert [a.name for a in s[cache].op.reduce_axis] == ["k"]


def test_max_of_an_axis_or_of_values():
    """te.max takes two values, or a value and an axis; with an axis, the result is a reduction."""
    x = te.placeholder((4,), name="X")
    k = te.reduce_axis((0, 4), name="k")
    forms = [
        te.compute((1,), lambda i: te.max(x[k], axis=k)),
        te.compute((1,), lambda i: te.max(x[k], axis=[k])),
        te.compute((1,), lambda i: te.max(x[k], k)),
    ]
    assert [len(t.op.reduce_axis) for t in forms] == [1, 1, 1]
    assert len(te.compute((1,), lambda i: te.max(x[i], 0.0, x[i + 1])).op.reduce_axis) == 0
    with pytest.raises(TypeError):
        te.max(x[0])
    with pytest.raises(TypeError):
        te.max(x[0], 1.0, axis=k)


def test_one_reduction_axis_in_two_computes(run):
    """An axis object may be reused: each stage has its own loops."""
    x = te.placeholder((4, 6), name="X")
    k = te.reduce_axis((0, 6), name="k")
    total = te.compute((4,), lambda i: te.sum(x[i, k], axis=k), name="total")
    rest = te.compute((4,), lambda i: te.sum(x[i, k] * total[i], axis=k), name="rest")
    s = te.create_schedule(rest.op)
    for t in (total, rest):
        s[t].bind(s[t].op.axis[0], block())
        s[t].split(s[t].op.reduce_axis[0], factor=4)
    v = VALUES[0][:4, :6]
    np.testing.assert_array_equal(run(s, [x, rest], v), v.sum(axis=1) ** 2)
