"""Stages that would read outside of tensors only at points that no reader needs."""

import numpy as np
import pytest

import texloom as tvm
from texloom import te


def block():
    return te.thread_axis("blockIdx.x")


def test_points_before_the_first_that_is_needed(run):
    """B[0] would read A[-1], but its reader begins at B[1]."""
    a = te.placeholder((10,), name="A")
    b = te.compute((11,), lambda i: a[i - 1] + 1, name="B")
    c = te.compute((10,), lambda i: b[i + 1] * 2, name="C")
    s = te.create_schedule(c.op)
    for t in (b, c):
        s[t].bind(t.op.axis[0], block())
    values = np.arange(10.0)
    np.testing.assert_array_equal(run(s, [a, c], values), (values + 1) * 2)


@pytest.mark.parametrize("factor", [None, 2, 4])
@pytest.mark.parametrize("scope", ["local", "shared"])
def test_lengthened_axes(run, factor, scope):
    """As in TVM's Adreno schedules, axes of the cache are lengthened to multiples of 4.

    With tiles of 4, the region of the last block is b[12:16], and a guard leaves out b[14:16].
    """
    a = te.placeholder((14,), name="A")
    b = te.compute((16,), lambda i: a[i] * 2, name="B")
    c = te.compute((14,), lambda i: b[i] + 1, name="C")
    s = te.create_schedule(c.op)
    outer, inner = c.op.axis[0], None
    if factor:
        outer, inner = s[c].split(outer, factor=factor)
    s[b].compute_at(s[c], outer)
    s[b].set_scope(scope)
    s[c].bind(outer, block())
    values = np.arange(14.0)
    np.testing.assert_array_equal(run(s, [a, c], values), values * 2 + 1)


def test_a_chain_of_lengthened_stages(run):
    """Points that only left-out points need are left out, too."""
    a = te.placeholder((14,), name="A")
    packed = te.compute((16,), lambda i: a[i] * 2, name="packed")
    b = te.compute((16,), lambda i: packed[15 - i] * 3, name="B")
    c = te.compute((14,), lambda i: b[i + 2] + 1, name="C")
    s = te.create_schedule(c.op)
    outer, _ = s[c].split(c.op.axis[0], factor=4)
    s[b].compute_at(s[c], outer)
    s[packed].compute_at(s[c], outer)
    s[c].bind(outer, block())
    values = np.arange(14.0)
    np.testing.assert_array_equal(run(s, [a, c], values), values[::-1] * 6 + 1)


def test_points_that_are_computed():
    """A root stage computes all points that its readers need, and none of them may read outside."""
    a = te.placeholder((10,), name="A")
    b = te.compute((12,), lambda i: a[i - 1], name="B")
    c = te.compute((11,), lambda i: b[i + 1], name="C")
    s = te.create_schedule(c.op)
    with pytest.raises(tvm.TVMError, match=r"'B' reads axis 0 of 'A' at indices 0 to 10, but"):
        tvm.lower(s, [a, c])


@pytest.mark.parametrize(
    "index",
    [
        lambda i: te.truncmod(i - 8, 16),
        lambda i: i.astype("int64") * 2,
        lambda i: i.astype("uint32") - 1,
        lambda i: i | 16,
        lambda i: i << 1,
        lambda i: te.if_then_else(i < 8, i, i + 1),
        lambda i: i % (i + 1) + 1,
        lambda i: i * i,
    ],
)
def test_indices_whose_intervals_do_not_tell(index):
    """Where intervals of an index decide nothing, a search finds a point that reads outside."""
    a = te.placeholder((16,), name="A")
    b = te.compute((16,), lambda i: a[index(i)], name="B")
    s = te.create_schedule(b.op)
    s[b].bind(b.op.axis[0], block())
    with pytest.raises(tvm.TVMError, match=r"TL3020.*'A' at ind.* but that axis has only"):
        tvm.lower(s, [a, b])


@pytest.mark.parametrize(
    "condition",
    [
        lambda i: i * 2 < 32,
        lambda i: i // 2 < 8,
        lambda i: te.min(i, 3) < 4,
        lambda i: tvm.tir.NE(i, 20),
        lambda i: tvm.tir.NE(i, 3),
        lambda i: te.any(i < 15, i >= 15),
        lambda i: te.any(i < 15, i > 3),
    ],
)
@pytest.mark.parametrize("attached", [False, True])
def test_conditions_that_do_not_guard(condition, attached):
    a = te.placeholder((16,), name="A")
    c = te.compute((16,), lambda i: a[i] + 1, name="C") if attached else a
    b = te.compute((16,), lambda i: te.if_then_else(condition(i), c[i + 1], 0.0), name="B")
    s = te.create_schedule(b.op)
    s[b].bind(b.op.axis[0], block())
    if attached:
        s[c].compute_at(s[b], b.op.axis[0])
    with pytest.raises(tvm.TVMError, match=r"TL3020(?s:.*)help: narrow the condition"):
        tvm.lower(s, [a, b])


@pytest.mark.parametrize(
    ("extent", "index"),
    [(211, lambda i: i * i - i), (57, lambda i: i * (15 - i)), (226, lambda i: i * i)],
)
def test_squares_inside(run, extent, index):
    a = te.placeholder((extent,), name="A")
    b = te.compute((16,), lambda i: a[index(i)], name="B")
    s = te.create_schedule(b.op)
    s[b].bind(b.op.axis[0], block())
    values = np.arange(float(extent))
    np.testing.assert_array_equal(run(s, [a, b], values), index(np.arange(16)))
