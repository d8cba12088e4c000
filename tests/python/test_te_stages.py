"""rfactor, reductions over threads, relayout, alignment, double buffers, pragmas."""

import re

import numpy as np
import pytest

import texloom as tvm
from texloom import te

VALUES = np.random.default_rng(4).integers(-9, 9, size=(12, 30)).astype("float32")


def block(which="x"):
    return te.thread_axis(f"blockIdx.{which}")


def thread(which="x"):
    return te.thread_axis(f"threadIdx.{which}")


def row_sums(n=30, **options):
    x = te.placeholder((12, n), name="X")
    k = te.reduce_axis((0, n), name="k")
    b = te.compute((12,), lambda i: te.sum(x[i, k], axis=k, **options), name="B")
    return x, b, te.create_schedule(b.op)


# -- rfactor


@pytest.mark.parametrize("factor_axis", [0, 1, -1, -2])
def test_rfactor_names_and_place_of_the_new_axis(run, factor_axis):
    """B.rf has the new axis at factor_axis; B.repl has axes ax0.. and the axis k.inner.v."""
    x, b, s = row_sums()
    ko, ki = s[b].split(s[b].op.reduce_axis[0], factor=4)
    bf = s.rfactor(b, ki, factor_axis)
    assert bf.op.name == "B.rf"
    first = factor_axis in (0, -2)
    assert [a.name for a in bf.op.axis] == (["k.inner", "i"] if first else ["i", "k.inner"])
    assert [a.name for a in s[bf].op.reduce_axis] == ["k.outer"]
    assert s[bf].op.reduce_axis[0].var.same_as(ko.var)
    assert s[b].op.name == "B.repl"
    assert [a.name for a in s[b].op.axis] == ["ax0"]
    assert [a.name for a in s[b].op.reduce_axis] == ["k.inner.v"]
    for t in (bf, b):
        s[t].bind(s[t].op.axis[0], block())
    np.testing.assert_array_equal(run(s, [x, b], VALUES), VALUES.sum(1))


def test_order_of_the_steps_of_partial_results():
    """Axes that were not split come first, then what is left of the one that was."""
    x = te.placeholder((4, 8, 6), name="X")
    k1, k2 = te.reduce_axis((0, 8), "k1"), te.reduce_axis((0, 6), "k2")
    b = te.compute((4,), lambda i: te.sum(x[i, k1, k2], axis=[k1, k2]), name="B")
    s = te.create_schedule(b.op)
    _, ki = s[b].split(k1, factor=4)
    bf = s.rfactor(b, ki)
    assert [a.name for a in bf.op.reduce_axis] == ["k2", "k1.outer"]


def test_axes_are_dead_after_rfactor():
    x, b, s = row_sums()
    i, k = b.op.axis[0], b.op.reduce_axis[0]
    s.rfactor(b, k)
    with pytest.raises(tvm.TVMError, match="TL2005"):
        s[b].bind(i, block())
    s[b].bind(s[b].op.axis[0], block())


def test_rfactor_of_a_whole_axis_of_two(run):
    """The other reduction axis stays where it was."""
    x = te.placeholder((4, 6, 5), name="X")
    k, m = te.reduce_axis((0, 6), name="k"), te.reduce_axis((1, 5), name="m")
    b = te.compute((4,), lambda i: te.max(x[i, k, m], axis=[k, m]), name="B")
    s = te.create_schedule(b.op)
    bf = s.rfactor(b, m)
    for t in (bf, b):
        s[t].bind(s[t].op.axis[0], block())
    values = np.random.default_rng(2).random((4, 6, 5), "float32")
    np.testing.assert_array_equal(run(s, [x, b], values), values[:, :, 1:].max((1, 2)))


def test_rfactor_where_no_other_loop_is_left(run):
    x, b, s = row_sums(where=None)
    bf = s.rfactor(b, b.op.reduce_axis[0])
    assert not s[bf].op.reduce_axis
    for t in (bf, b):
        s[t].bind(s[t].op.axis[0], block())
    np.testing.assert_array_equal(run(s, [x, b], VALUES), VALUES.sum(1))


def combined(a, b):
    first = te.any(a[1] > b[1], te.all(a[1] == b[1], a[0] < b[0]))
    return [te.if_then_else(first, a[i], b[i]) for i in range(2)]


argmax = te.comm_reducer(combined, lambda i, v: (te.max_value(i), te.min_value(v)), name="argmax")


@pytest.mark.parametrize("factor", [None, 7, 30])
def test_rfactor_of_several_values_returns_a_list(run, factor):
    """Partial results of each value; 7 is no divisor of 30, and those of a whole axis are steps."""
    x = te.placeholder((12, 30), name="X")
    k = te.reduce_axis((0, 30), name="k")
    index, value = te.compute(
        (12,), lambda i: argmax((k.var, x[i, k]), axis=k, where=k >= 4), name="B"
    )
    s = te.create_schedule(index.op)
    axis = k if factor is None else s[index].split(k, factor=factor)[1]
    parts = s.rfactor(index, axis, factor_axis=1)
    assert [(t.name, t.dtype) for t in parts] == [("B.rf.v0", "int32"), ("B.rf.v1", "float32")]
    s[parts[0]].bind(s[parts[0]].op.axis[0], block())
    s[index].bind(s[index].op.axis[0], block())
    s[index].bind(s[index].op.reduce_axis[0], thread())
    got = run(s, [x, index, value], VALUES)
    np.testing.assert_array_equal(got[0], VALUES[:, 4:].argmax(1) + 4)
    np.testing.assert_array_equal(got[1], VALUES[:, 4:].max(1))


# -- Reductions that threads share


@pytest.mark.parametrize("count", [1, 2, 7, 16, 30])
def test_reduction_over_threads(run, count):
    """The usual form: partial results by rfactor, combined by the threads; 30 is no multiple."""
    x, b, s = row_sums()
    _, ki = s[b].split(s[b].op.reduce_axis[0], factor=count)
    bf = s.rfactor(b, ki)
    s[b].bind(s[b].op.axis[0], block())
    tx = thread()
    s[b].bind(s[b].op.reduce_axis[0], tx)
    s[bf].compute_at(s[b], s[b].op.reduce_axis[0])
    s[b].set_store_predicate(tx.var.equal(0))
    (kernel,) = tvm.build(s, [x, b]).kernels
    assert kernel.block == (count, 1, 1)
    np.testing.assert_array_equal(run(s, [x, b], VALUES), VALUES.sum(1))


def test_reduction_over_threads_with_steps_of_its_own(run):
    """Serial reduction loops on both sides of the bound one, rows over threadIdx.y."""
    x, b, s = row_sums()
    outer, rest = s[b].split(s[b].op.reduce_axis[0], factor=14)
    middle, inner = s[b].split(rest, factor=3)
    s[b].bind(middle, thread("x"))
    io, ii = s[b].split(s[b].op.axis[0], factor=5)
    s[b].bind(io, block())
    s[b].bind(ii, thread("y"))
    np.testing.assert_array_equal(run(s, [x, b], VALUES), VALUES.sum(1))


def test_reduction_over_two_thread_axes(run):
    x = te.placeholder((3, 6, 5), name="X")
    k, m = te.reduce_axis((0, 6), name="k"), te.reduce_axis((0, 5), name="m")
    b = te.compute((3,), lambda i: te.min(x[i, k, m], axis=[k, m]), name="B")
    s = te.create_schedule(b.op)
    s[b].bind(s[b].op.axis[0], block())
    s[b].bind(k, thread("y"))
    s[b].bind(m, thread("x"))
    values = np.random.default_rng(2).random((3, 6, 5), "float32")
    np.testing.assert_array_equal(run(s, [x, b], values), values.min((1, 2)))


def test_every_thread_gets_the_result(run):
    """The sum of a row stays in local memory; each thread then writes an element of the row."""
    x = te.placeholder((12, 30), name="X")
    k = te.reduce_axis((0, 30), name="k")
    b = te.compute((12,), lambda i: te.sum(x[i, k], axis=k), name="B")
    y = te.compute((12, 30), lambda i, j: x[i, j] * 2 - b[i], name="Y")
    s = te.create_schedule(y.op)
    i, j = s[y].op.axis
    s[y].bind(i, block())
    _, ji = s[y].split(j, factor=8)
    s[y].bind(ji, thread())
    s[b].compute_at(s[y], i)
    s[b].set_scope("local")
    _, ki = s[b].split(s[b].op.reduce_axis[0], factor=8)
    s[b].bind(ki, thread())
    expected = VALUES * 2 - VALUES.sum(1, keepdims=True)
    np.testing.assert_array_equal(run(s, [x, y], VALUES), expected)


def test_reduction_over_threads_under_virtual_threads(run):
    x, b, s = row_sums()
    v, ii = s[b].split(s[b].op.axis[0], nparts=3)
    s[b].bind(v, te.thread_axis("vthread"))
    s[b].bind(ii, thread("y"))
    _, ki = s[b].split(s[b].op.reduce_axis[0], factor=4)
    s[b].bind(ki, thread("x"))
    np.testing.assert_array_equal(run(s, [x, b], VALUES), VALUES.sum(1))


def test_store_predicate_chooses_the_thread(run):
    """All threads have the result; one of those that the predicate names stores it."""
    x, b, s = row_sums()
    s[b].bind(s[b].op.axis[0], block())
    tx = thread()
    s[b].bind(s[b].op.reduce_axis[0], tx)
    s[b].set_store_predicate(tx.var > 5)
    assert "threadIdx.x == 6" in str(tvm.lower(s, [x, b]))
    np.testing.assert_array_equal(run(s, [x, b], VALUES), VALUES.sum(1))
    text = str(tvm.program(s, [x, b]))
    assert str(tvm.parse(text)) == text


def row_sums_plus_one():
    x, b, _ = row_sums()
    y = te.compute((12,), lambda i: b[i] + 1, name="Y")
    return x, b, y, te.create_schedule(y.op)


def test_store_predicate_of_the_reader(run):
    """Threads share the reduction, and all have what its reader stores: topi's schedule of it."""
    x, b, y, s = row_sums_plus_one()
    s[b].bind(s[b].op.reduce_axis[0], tx := thread())
    s[y].bind(s[y].op.axis[0], block())
    s[b].compute_at(s[y], s[y].op.axis[0])
    s[y].set_store_predicate(tx.var.equal(0))
    np.testing.assert_array_equal(run(s, [x, y], VALUES), VALUES.sum(1) + 1)


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        (lambda tx, ty: tx.var > 29, "holds for none of the threads"),
        (lambda tx, ty: ty.var.equal(0), "threadIdx.y, along which its elements are not repeated"),
    ],
)
def test_store_predicates_of_a_reader_that_are_refused(condition, message):
    """One that no thread meets, and one on threads that its own loop is bound to."""
    x, b, y, s = row_sums_plus_one()
    s[b].bind(s[b].op.reduce_axis[0], tx := thread())
    s[y].bind(s[y].op.axis[0], ty := thread("y"))
    s[b].compute_at(s[y], s[y].op.axis[0])
    s[y].set_store_predicate(condition(tx, ty))
    with pytest.raises(tvm.TVMError, match=f"TL2031.*{message}"):
        tvm.lower(s, [x, y])


# -- fuse


@pytest.mark.parametrize("swapped", [False, True])
def test_fuse_of_a_data_axis_with_a_reduction_axis(run, swapped):
    """The loop goes over both; split by 7 it leaves points over at its end."""
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
    """The axis is the same each time, not an expression twice as long as the one before."""
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
    """Relayout: the loops are the axes of the cache, and the old stage has its own axes again."""
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
    """The cache computes both, the operation copies both; 5 does not divide the rows."""
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
    """The reader reads the argument; in another scope it is a copy, into a kernel of its own."""
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
    """Rows of 30 elements lie k * factor + offset apart."""
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
    """The next tile is fetched while this one is used; the last stands behind the loop."""
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
    """Shared memory ahead by one, registers of this iteration; every thread fetches a part."""
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
    """The limit counts stores: 5 of the inner loop, 30 of both; on a loop of extent 1 it holds."""
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
    """With a warning that says what to do; the values are right."""
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
    """compute_at, compute_root and compute_inline replace one another; the last one holds."""
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
    """A factor shrinks the inner part to the extent, nparts the outer one; threads keep theirs."""
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
    """Different objects of one tag are one index of a kernel; two kernels may differ in extent."""
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
    """To the inner part of a split; as innermost operand of a fuse to the fused loop."""
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
