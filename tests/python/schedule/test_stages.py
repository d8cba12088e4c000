"""fuse, relayout, alignment, double buffers, pragmas, and the order of directives."""

import re

import numpy as np
import pytest
from row_reductions import VALUES, argmax, block, row_sums, thread

import texloom as tvm
from texloom import te

# -- fuse


@pytest.mark.parametrize("swapped", [False, True])
def test_fuse_of_a_data_axis_with_a_reduction_axis(run, swapped):
    """The loop covers both axes; a split by 7 leaves a remainder at its end."""
    x, b, s = row_sums()
    i, k = s[b].op.axis[0], s[b].op.reduce_axis[0]
    if swapped:
        s[b].reorder(k, i)
    s[b].split(s[b].fuse(i, k), factor=7)
    s[b].bind(s[b].fuse(), block())
    np.testing.assert_array_equal(run(s, [x, b], VALUES), VALUES.sum(1))
    again = tvm.parse(str(tvm.program(s, [x, b])))
    assert str(tvm.lower(again)) == str(tvm.lower(s, [x, b]))


def test_split_and_fuse_by_turns():
    """Axis expressions stay simple, instead of doubling with each split and fuse."""
    x = te.placeholder((64,), name="X")
    y = te.compute((64,), lambda i: x[i] + 1, name="Y")
    s = te.create_schedule(y.op)
    axis = s[y].op.axis[0]
    for _ in range(60):
        axis = s[y].fuse(*s[y].split(axis, factor=8))
    s[y].bind(axis, block())
    assert "Y[blockIdx.x] = X[blockIdx.x] + 1.0" in str(tvm.lower(s, [x, y]))


def test_fuse_in_either_order_and_of_none(run):
    x = te.placeholder((4, 6), name="X")
    y = te.compute((4, 6), lambda i, j: x[i, j] + 1, name="Y")
    s = te.create_schedule(y.op)
    i, j = s[y].op.axis
    fused = s[y].fuse(j, i)
    assert fused.name == "i.j.fused"
    unit = s[y].fuse()
    assert s[y].leaf_iter_vars[0].same_as(unit)
    s[y].bind(unit, block())
    np.testing.assert_array_equal(run(s, [x, y], VALUES[:4, :6]), VALUES[:4, :6] + 1)


# -- cache_write and cache_read


def scaled(shape=(12, 30)):
    x = te.placeholder(shape, name="X")
    c = te.compute(shape, lambda i, j: x[i, j] * 2, name="C")
    return x, c, te.create_schedule(c.op)


def test_cache_write_after_split_and_reorder_stores_in_the_order_of_the_loops(run):
    """The loops become the cache's axes, in their order; the old stage has its original axes."""
    x, c, s = scaled()
    i, j = s[c].op.axis
    jo, ji = s[c].split(j, factor=8)
    s[c].reorder(jo, i, ji)
    cache = s.cache_write(c, "global")
    assert [int(n) for n in cache.shape] == [4, 12, 8]
    assert [a.name for a in cache.op.axis] == ["j.outer.c", "i.c", "j.inner.c"]
    assert [a.name for a in s[c].leaf_iter_vars] == ["i", "j"]
    for t in (cache, c):
        s[t].bind(s[t].op.axis[0], block())
    np.testing.assert_array_equal(run(s, [x, c], VALUES), VALUES * 2)


def test_relayout_of_a_reduction(run):
    x, b, s = row_sums()
    s[b].split(s[b].op.axis[0], factor=5)
    cache = s.cache_write(b, "global")
    assert [int(n) for n in cache.shape] == [3, 5]
    assert [a.name for a in s[cache].op.reduce_axis] == ["k"]
    for t in (cache, b):
        s[t].bind(s[t].op.axis[0], block())
    np.testing.assert_array_equal(run(s, [x, b], VALUES), VALUES.sum(1))


def test_cache_write_of_a_list_returns_a_list(run):
    x, c, s = scaled()
    (cache,) = s.cache_write([c], "local")
    s[cache].compute_at(s[c], s[c].op.axis[0])
    s[c].bind(s[c].op.axis[0], block())
    np.testing.assert_array_equal(run(s, [x, c], VALUES), VALUES * 2)


@pytest.mark.parametrize("split", [False, True])
def test_cache_write_of_several_outputs(run, split):
    """The cache computes both outputs, the operation copies both; 5 does not divide the rows."""
    x = te.placeholder((12, 30), name="X")
    outputs = te.compute((12, 30), lambda i, j: (x[i, j] + 1, x[i, j] * 2), name="T")
    s = te.create_schedule(outputs[0].op)
    if split:
        s[outputs[0]].split(s[outputs[0]].op.axis[0], factor=5)
    second, first = s.cache_write([outputs[1], outputs[0]], "local")
    assert [second.name, first.name] == ["T.local.v1", "T.local.v0"]
    rows = s[outputs[0]].op.axis[0]
    s[first].compute_at(s[outputs[0]], rows)
    s[outputs[0]].bind(rows, block())
    got = run(s, [x, *outputs], VALUES)
    np.testing.assert_array_equal(got[0], VALUES + 1)
    np.testing.assert_array_equal(got[1], VALUES * 2)
    text = str(tvm.program(s, [x, *outputs]))
    assert str(tvm.parse(text)) == text
    assert str(tvm.lower(tvm.parse(text))) == str(tvm.lower(s, [x, *outputs]))


def test_cache_write_of_a_reduction_of_several_values(run):
    x = te.placeholder((12, 30), name="X")
    k = te.reduce_axis((0, 30), name="k")
    index, value = te.compute((12,), lambda i: argmax((k.var, x[i, k]), axis=k), name="B")
    s = te.create_schedule(index.op)
    cache, _ = s.cache_write([index, value], "local")
    assert s[cache].op.reduce_axis[0].same_as(k) and not s[index].op.reduce_axis
    s[cache].compute_at(s[index], s[index].op.axis[0])
    s[index].bind(s[index].op.axis[0], block())
    got = run(s, [x, index, value], VALUES)
    np.testing.assert_array_equal(got[0], VALUES.argmax(1))
    np.testing.assert_array_equal(got[1], VALUES.max(1))


def test_cache_read_of_an_argument_that_is_a_texture_is_no_copy(run):
    """The reader reads the argument directly; in another scope a separate kernel copies it."""
    for scope, kernels in (("global.texture", 1), ("texture:weight", 2)):
        x, c, s = scaled((12, 8))
        cache = s.cache_read(x, scope, [c])
        for t in (cache, c):
            s[t].bind(s[t].op.axis[0], block())
        binds = {x: tvm.decl_buffer(x.shape, x.dtype, scope="global.texture")}
        function = tvm.build(s, [x, c], binds=binds)
        assert len(function.kernels) == kernels
        values = VALUES[:, :8]
        result = run(s, [x, c], values, scopes={x: "global.texture"})
        np.testing.assert_array_equal(result, values * 2)


# -- storage_align


@pytest.mark.parametrize(
    ("factor", "offset", "row"), [(32, 1, 33), (8, 0, 32), (8, 4, 36), (16, 24, 40)]
)
def test_storage_align_of_shared_memory(run, factor, offset, row):
    """Rows of 30 elements start k * factor + offset elements apart."""
    x, c, s = scaled()
    cache = s.cache_read(x, "shared", [c])
    i, j = s[c].op.axis
    io, ii = s[c].split(i, factor=4)
    s[c].bind(io, block())
    s[c].bind(ii, thread())
    s[cache].compute_at(s[c], io)
    s[cache].storage_align(s[cache].op.axis[0], factor, offset)
    text = str(tvm.lower(s, [x, c]))
    assert f"cols=(d0, d1%{row})" in text
    np.testing.assert_array_equal(run(s, [x, c], VALUES), VALUES * 2)
    again = tvm.parse(str(tvm.program(s, [x, c])))
    assert str(tvm.lower(again)) == text


def test_storage_align_leaves_the_caller_s_arrays_as_they_are(run):
    x, c, s = scaled()
    s[c].bind(s[c].op.axis[0], block())
    s[c].storage_align(s[c].op.axis[0], 32, 1)
    np.testing.assert_array_equal(run(s, [x, c], VALUES), VALUES * 2)


# -- double_buffer


@pytest.mark.parametrize("scope", ["shared", "local"])
@pytest.mark.parametrize("factor", [4, 7, 30])
def test_double_buffer(run, scope, factor):
    """The next tile is fetched while the current tile is used; the last use is after the loop."""
    x, b, s = row_sums()
    cache = s.cache_read(x, scope, [b])
    s[b].bind(s[b].op.axis[0], thread())
    ko, _ = s[b].split(s[b].op.reduce_axis[0], factor=factor)
    s[cache].compute_at(s[b], ko)
    s[cache].double_buffer()
    rows = 12 if scope == "shared" else 1
    loops = tvm.lower_texts(s, [x, b])["build_loops"]
    assert f"X.{scope}: {scope} float32[2, {rows}, {factor}]" in loops
    np.testing.assert_array_equal(run(s, [x, b], VALUES), VALUES.sum(1))


def test_double_buffer_of_a_chain(run):
    """Shared memory is one iteration ahead, registers are not; every thread fetches a part."""
    x, b, s = row_sums()
    shared = s.cache_read(x, "shared", [b])
    local = s.cache_read(shared, "local", [b])
    s[b].bind(s[b].op.axis[0], thread())
    ko, ki = s[b].split(s[b].op.reduce_axis[0], factor=5)
    s[shared].compute_at(s[b], ko)
    s[shared].bind(s[shared].op.axis[0], thread())
    s[shared].double_buffer()
    s[local].compute_at(s[b], ki)
    np.testing.assert_array_equal(run(s, [x, b], VALUES), VALUES.sum(1))


# -- pragmas and parallel


@pytest.mark.parametrize(("steps", "loops"), [(0, 2), (5, 1), (29, 1), (30, 0)])
def test_auto_unroll_max_step(run, steps, loops):
    """The limit counts stores: 5 in the inner loop, 30 in both; extent 1 is unrolled, too."""
    x, c, s = scaled()
    i, j = s[c].op.axis
    s[c].split(j, factor=5)
    s[c].bind(i, block())
    unit = s[c].fuse()
    s[c].pragma(unit, "auto_unroll_max_step", steps)
    s[c].pragma(unit, "unroll_explicit", True)
    assert len(re.findall(r"\bfor ", str(tvm.lower(s, [x, c])))) == loops
    np.testing.assert_array_equal(run(s, [x, c], VALUES), VALUES * 2)


def test_unroll_explicit_0_leaves_loops_to_the_device_compiler():
    x, c, s = scaled()
    i, j = s[c].op.axis
    s[c].bind(i, block())
    s[c].pragma(i, "auto_unroll_max_step", 100)
    s[c].pragma(i, "unroll_explicit", 0)
    assert "for j < 30" in str(tvm.lower(s, [x, c]))


def test_unknown_pragmas_are_kept_and_ignored(run):
    x, c, s = scaled()
    i, j = s[c].op.axis
    s[c].bind(i, block())
    s[c].pragma(i, "my_key", "my value")
    s[c].pragma(j, "debug_skip_region")
    assert s[c].iter_var_attrs[i].pragma_keys == ["my_key"]
    text = str(tvm.program(s, [x, c]))
    assert 'pragma i my_key="my value"' in text
    assert str(tvm.parse(text)) == text
    np.testing.assert_array_equal(run(s, [x, c], VALUES), VALUES * 2)


def test_parallel_stays_serial_on_a_gpu(run):
    """A warning suggests an alternative; the values are correct."""
    x, c, s = scaled()
    i, j = s[c].op.axis
    s[c].bind(i, block())
    s[c].parallel(j)
    with pytest.warns(tvm.TexloomWarning, match="TL3021"):
        tvm.lower(s, [x, c])
    text = str(tvm.program(s, [x, c]))
    assert "parallel j" in text and str(tvm.parse(text)) == text


# -- Order of directives


def test_the_last_attachment_holds(run):
    """compute_at, compute_root and compute_inline replace each other; the last one applies."""
    x = te.placeholder((12, 30), name="X")
    p = te.compute((12, 30), lambda i, j: x[i, j] * 2, name="P")
    c = te.compute((12, 30), lambda i, j: p[i, 29 - j] + 1, name="C")
    s = te.create_schedule(c.op)
    i, j = s[c].op.axis
    s[c].bind(i, block())
    s[p].compute_inline()
    s[p].compute_at(s[c], j)
    s[p].compute_root()
    s[p].compute_at(s[c], i)
    s[p].set_scope("local")
    assert s[p].attach_type == 4
    assert "P: local float32[1, 30]" in str(tvm.lower(s, [x, c]))
    np.testing.assert_array_equal(run(s, [x, c], VALUES), VALUES[:, ::-1] * 2 + 1)


def test_factor_above_the_extent_shrinks(run):
    """A factor or nparts above the extent shrinks to it; thread extents stay as written."""
    for how, extents in (({"factor": 50}, (1, 30)), ({"nparts": 50}, (30, 1))):
        x, c, s = scaled()
        i, j = s[c].op.axis
        outer, inner = s[c].split(j, **how)
        s[c].bind(i, block())
        bounds = s.bounds()
        assert (int(bounds[outer].extent), int(bounds[inner].extent)) == extents
        s[c].bind(inner if "factor" in how else outer, thread())
        (kernel,) = tvm.build(s, [x, c]).kernels
        assert kernel.block == (50, 1, 1)
        np.testing.assert_array_equal(run(s, [x, c], VALUES), VALUES * 2)


def test_thread_axes_of_one_tag_merge(run):
    """Objects with one tag are one index of a kernel; extents may differ between kernels."""
    x = te.placeholder((12, 30), name="X")
    p = te.compute((12, 30), lambda i, j: x[i, j] * 2, name="P")
    c = te.compute((12, 30), lambda i, j: p[i, 29 - j] + 1, name="C")
    s = te.create_schedule(c.op)
    cache = s.cache_read(p, "shared", [c])
    for t in (c, p):
        s[t].bind(s[t].op.axis[0], block())
    s[c].bind(s[c].op.axis[1], thread())
    s[cache].compute_at(s[c], s[c].op.axis[0])
    s[cache].bind(s[cache].op.axis[1], thread())
    s[p].bind(s[p].split(s[p].op.axis[1], factor=8)[1], thread())
    blocks = [kernel.block for kernel in tvm.build(s, [x, c]).kernels]
    assert blocks == [(8, 1, 1), (30, 1, 1)]
    np.testing.assert_array_equal(run(s, [x, c], VALUES), VALUES[:, ::-1] * 2 + 1)


def test_binding_a_bound_axis_warns_and_the_last_one_holds():
    x, c, s = scaled()
    i, _ = s[c].op.axis
    s[c].bind(i, thread("x"))
    with pytest.warns(tvm.TexloomWarning, match="TL2003"):
        s[c].bind(i, thread("y"))
    (kernel,) = tvm.build(s, [x, c]).kernels
    assert kernel.block == (1, 12, 1)


def test_loops_of_extent_1_disappear():
    x, c, s = scaled()
    i, j = s[c].op.axis
    s[c].bind(i, block())
    outer, _ = s[c].split(j, factor=30)
    assert "j.outer" not in str(tvm.lower(s, [x, c]))


def test_attachments_move_with_split_and_fuse(run):
    """An attachment moves to a split's inner part, or from a fuse's last operand to its result."""
    x = te.placeholder((12, 30), name="X")
    p = te.compute((12, 30), lambda i, j: x[i, j] * 2, name="P")
    c = te.compute((12, 30), lambda i, j: p[i, j] + 1, name="C")
    s = te.create_schedule(c.op)
    i, j = s[c].op.axis
    s[p].compute_at(s[c], j)
    _, inner = s[c].split(j, factor=8)
    assert s[p].attach_ivar.same_as(inner)
    outer = s[c].leaf_iter_vars[1]
    fused = s[c].fuse(outer, inner)
    assert s[p].attach_ivar.same_as(fused)
    s[c].bind(i, block())
    s[p].set_scope("local")
    np.testing.assert_array_equal(run(s, [x, c], VALUES), VALUES * 2 + 1)
