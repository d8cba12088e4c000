"""Schedules that look wrong but are valid: scripts use them, and the values are correct."""

import numpy as np
import pytest

import texloom as tvm
from texloom import te
from texloom.errors import TexloomWarning


def computed(s, x, y, given):
    """Return what the schedule's kernels compute from an array."""
    result = tvm.nd.empty(given.shape)
    tvm.build(s, [x, y], "opencl")(tvm.nd.array(given), result)
    return result.numpy()


def copy_of(shape):
    x = te.placeholder(shape, name="X")
    y = te.compute(shape, lambda *i: x(*i) + 1, name="Y")
    return x, y, te.create_schedule(y.op)


def numbers(*shape):
    return np.arange(np.prod(shape), dtype="float32").reshape(shape)


def test_pragma_of_an_unknown_key():
    x, y, s = copy_of((8, 4))
    s[y].bind(y.op.axis[0], te.thread_axis("blockIdx.x"))
    s[y].pragma(y.op.axis[1], "debug_skip_region", 1)
    assert "debug_skip_region" in str(tvm.driver.program(s, [x, y]))
    np.testing.assert_array_equal(computed(s, x, y, numbers(8, 4)), numbers(8, 4) + 1)


def test_prefetch_has_no_effect_on_a_gpu():
    x, y, s = copy_of((8, 4))
    s[y].bind(y.op.axis[0], te.thread_axis("blockIdx.x"))
    s[y].prefetch(x, y.op.axis[1], 2)
    assert "prefetch_X" in str(tvm.driver.program(s, [x, y]))
    np.testing.assert_array_equal(computed(s, x, y, numbers(8, 4)), numbers(8, 4) + 1)


def test_binding_a_bound_axis_warns_and_the_last_holds():
    x, y, s = copy_of((8, 4))
    s[y].bind(y.op.axis[0], te.thread_axis("blockIdx.x"))
    with pytest.warns(TexloomWarning, match="TL2003"):
        s[y].bind(y.op.axis[0], te.thread_axis("threadIdx.x"))
    assert "block=(8, 1, 1)" in str(tvm.lower(s, [x, y]))
    np.testing.assert_array_equal(computed(s, x, y, numbers(8, 4)), numbers(8, 4) + 1)


def unroll(stage, axis):
    stage.unroll(axis)


def vectorize(stage, axis):
    stage.vectorize(axis)


def parallel(stage, axis):
    stage.parallel(axis)


def unroll_by_pragma(stage, axis):
    stage.pragma(axis, "unroll")


@pytest.mark.parametrize("annotate", [unroll, vectorize, parallel, unroll_by_pragma])
def test_annotations_go_with_the_loops_that_are_split_or_fused(annotate):
    x, y, s = copy_of((8, 4))
    i, j = y.op.axis
    annotate(s[y], j)
    with pytest.warns(TexloomWarning, match="TL3021(.|\n)*is now split, which drops"):
        outer, inner = s[y].split(j, 2)
    annotate(s[y], outer)
    with pytest.warns(TexloomWarning, match="TL3021(.|\n)*is now fused, which drops"):
        rows = s[y].fuse(i, outer)
    annotate(s[y], rows)
    with pytest.warns(TexloomWarning, match="TL3021(.|\n)*is now split, which drops"):
        tiles = s[y].tile(rows, inner, 4, 2)
    s[y].bind(tiles[0], te.thread_axis("blockIdx.x"))
    np.testing.assert_array_equal(computed(s, x, y, numbers(8, 4)), numbers(8, 4) + 1)


@pytest.mark.parametrize("annotate", [unroll, vectorize, parallel, unroll_by_pragma])
@pytest.mark.parametrize("bound_first", [False, True])
def test_threads_win_over_annotations(annotate, bound_first):
    x, y, s = copy_of((8, 4))
    i, j = y.op.axis
    s[y].bind(i, te.thread_axis("blockIdx.x"))
    bind = lambda stage, axis: stage.bind(axis, te.thread_axis("threadIdx.x"))  # noqa: E731
    first, second = (bind, annotate) if bound_first else (annotate, bind)
    first(s[y], j)
    with pytest.warns(TexloomWarning, match="TL3021(.|\n)*bound to threadIdx.x"):
        second(s[y], j)
    assert "block=(4, 1, 1)" in str(tvm.lower(s, [x, y]))
    np.testing.assert_array_equal(computed(s, x, y, numbers(8, 4)), numbers(8, 4) + 1)


@pytest.mark.parametrize("options", [{"factor": 64}, {"nparts": 64}], ids=str)
def test_factor_above_the_extent(options):
    x, y, s = copy_of((8, 4))
    outer, _ = s[y].split(y.op.axis[0], **options)
    s[y].bind(outer, te.thread_axis("blockIdx.x"))
    np.testing.assert_array_equal(computed(s, x, y, numbers(8, 4)), numbers(8, 4) + 1)


def test_thread_tag_with_another_extent_in_another_kernel():
    x = te.placeholder((8, 6), name="X")
    p = te.compute((8, 6), lambda *i: x(*i) * 2, name="P")
    y = te.compute((8, 6), lambda *i: p(*i) + 1, name="Y")
    s = te.create_schedule(y.op)
    thread = te.thread_axis("threadIdx.x")
    s[p].bind(p.op.axis[0], thread)
    s[y].bind(y.op.axis[1], thread)
    np.testing.assert_array_equal(computed(s, x, y, numbers(8, 6)), numbers(8, 6) * 2 + 1)


def test_several_virtual_threads():
    x, y, s = copy_of((8, 4, 2))
    outer, inner = s[y].split(y.op.axis[0], 4)
    s[y].bind(outer, te.thread_axis("blockIdx.x"))
    for axis in (inner, *y.op.axis[1:]):
        s[y].bind(axis, te.thread_axis("vthread"))
    np.testing.assert_array_equal(computed(s, x, y, numbers(8, 4, 2)), numbers(8, 4, 2) + 1)


@pytest.mark.parametrize("scope", ["warp", "wmma.matrix_a", "wmma.matrix_b", "wmma.accumulator"])
def test_scope_of_a_warp(scope):
    x, y, s = copy_of((8, 4))
    cache = s.cache_read(x, scope, [y])
    s[y].bind(y.op.axis[0], te.thread_axis("blockIdx.x"))
    s[cache].compute_at(s[y], y.op.axis[0])
    np.testing.assert_array_equal(computed(s, x, y, numbers(8, 4)), numbers(8, 4) + 1)


def test_symbolic_extents_that_cannot_be_proven_equal():
    """The call checks that the symbolic extents are equal."""
    n, m = te.var("n"), te.var("m")
    x = te.placeholder((n,), name="X")
    z = te.placeholder((m,), name="Z")
    y = te.compute((n,), lambda i: x[i] + z[i], name="Y")
    s = te.create_schedule(y.op)
    outer, inner = s[y].split(y.op.axis[0], 4)
    s[y].bind(outer, te.thread_axis("blockIdx.x"))
    s[y].bind(inner, te.thread_axis("threadIdx.x"))
    function = tvm.build(s, [x, z, y], "opencl")
    result = tvm.nd.empty((10,))
    function(tvm.nd.array(numbers(10)), tvm.nd.array(numbers(10)), result)
    np.testing.assert_array_equal(result.numpy(), numbers(10) * 2)


# Odd programs that compute correct values: nothing here is refused.


def test_directives_on_an_inlined_stage_have_no_effect():
    x = te.placeholder((8, 4), name="X")
    p = te.compute((8, 4), lambda *i: x(*i) * 2, name="P")
    y = te.compute((8, 4), lambda *i: p(*i) + 1, name="Y")
    s = te.create_schedule(y.op)
    s[p].bind(p.op.axis[0], te.thread_axis("threadIdx.x"))
    s[p].double_buffer()
    s[p].compute_inline()
    s[y].bind(y.op.axis[0], te.thread_axis("blockIdx.x"))
    with pytest.warns(TexloomWarning, match="TL3021.*bind of 'i0' has no effect"):
        values = computed(s, x, y, numbers(8, 4))
    np.testing.assert_array_equal(values, numbers(8, 4) * 2 + 1)


@pytest.mark.filterwarnings("ignore::texloom.errors.TexloomWarning")  # the vector stays a loop
def test_threads_inside_vectorized_and_unrolled_loops():
    for annotate in ("vectorize", "unroll"):
        x, y, s = copy_of((8, 4, 2))
        i, j, k = y.op.axis
        s[y].bind(i, te.thread_axis("threadIdx.x"))
        getattr(s[y], annotate)(j)
        s[y].bind(k, te.thread_axis("blockIdx.x"))
        np.testing.assert_array_equal(computed(s, x, y, numbers(8, 4, 2)), numbers(8, 4, 2) + 1)


@pytest.mark.filterwarnings("ignore::texloom.errors.TexloomWarning")  # the vector stays a loop
@pytest.mark.parametrize("loop", ["vectorized", "virtual"])
def test_stage_attached_at_a_vector_or_at_virtual_threads(loop):
    x = te.placeholder((8, 4), name="X")
    p = te.compute((8, 4), lambda *i: x(*i) * 2, name="P")
    y = te.compute((8, 4), lambda *i: p(*i) + 1, name="Y")
    s = te.create_schedule(y.op)
    i, j = y.op.axis
    s[y].bind(i, te.thread_axis("blockIdx.x"))
    if loop == "vectorized":
        s[y].vectorize(j)
    else:
        s[y].bind(j, te.thread_axis("vthread"))
    s[p].compute_at(s[y], j)
    np.testing.assert_array_equal(computed(s, x, y, numbers(8, 4)), numbers(8, 4) * 2 + 1)


def test_alignment_by_a_large_factor_that_distances_have():
    """The padding of rows is computed, not found by trying all numbers up to the factor."""
    x = te.placeholder((8, 6), name="X")
    y = te.compute((8, 6), lambda *i: x(*i) + 1, name="Y")
    s = te.create_schedule(y.op)
    cache = s.cache_read(x, "shared", [y])
    s[y].bind(s[y].fuse(), te.thread_axis("blockIdx.x"))
    s[cache].compute_at(s[y], s[y].leaf_iter_vars[0])
    s[cache].storage_align(s[cache].op.axis[0], 2**31 - 1, 9)
    np.testing.assert_array_equal(computed(s, x, y, numbers(8, 6)), numbers(8, 6) + 1)
