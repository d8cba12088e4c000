"""Stages that would read outside of tensors at points that nobody computes."""

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
    """As in TVM's schedules for Adreno, where the axes of the cache are multiples of 4.

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
    """No point is computed that only a left out point needs."""
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
    """A stage at the root computes what its readers need, all of which must exist."""
    a = te.placeholder((10,), name="A")
    b = te.compute((12,), lambda i: a[i - 1], name="B")
    c = te.compute((11,), lambda i: b[i + 1], name="C")
    s = te.create_schedule(c.op)
    with pytest.raises(tvm.TVMError, match=r"'B' reads axis 0 of 'A' at indices 0 to 10, but"):
        tvm.lower(s, [a, c])
