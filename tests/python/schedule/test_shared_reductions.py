"""rfactor, reductions over threads, and which thread stores a shared result."""

import numpy as np
import pytest
from row_reductions import VALUES, argmax, block, row_sums, thread

import texloom as tvm
from texloom import te

# -- rfactor


@pytest.mark.parametrize("factor_axis", [0, 1, -1, -2])
def test_rfactor_names_and_place_of_the_new_axis(run, factor_axis):
    """B.rf has its new axis at factor_axis; B.repl has the axes ax0, ... and k.inner.v."""
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
    """In the partial stage, unsplit axes come first, then the remaining part of the split axis."""
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
    """The other reduction axis keeps its place."""
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


@pytest.mark.parametrize("factor", [None, 7, 30])
def test_rfactor_of_several_values_returns_a_list(run, factor):
    """rfactor returns one tensor per value; the factor need not divide the axis of 30."""
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
    """Threads combine rfactor's partial results; their number need not divide the axis of 30."""
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
    """Serial reduction loops are on both sides of the bound one, with rows over threadIdx.y."""
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
    """All threads have the result; one that satisfies the predicate stores it."""
    x, b, s = row_sums()
    s[b].bind(s[b].op.axis[0], block())
    tx = thread()
    s[b].bind(s[b].op.reduce_axis[0], tx)
    s[b].set_store_predicate(tx.var > 5)
    assert "threadIdx.x == 6" in str(tvm.lower(s, [x, b]))
    np.testing.assert_array_equal(run(s, [x, b], VALUES), VALUES.sum(1))
    text = str(tvm.program(s, [x, b]))
    assert str(tvm.parse(text)) == text


def test_store_predicate_of_two_axes_of_one_tag(run):
    """Axes of one tag are one index, also in the text form."""
    x, b, s = row_sums()
    s[b].bind(s[b].op.axis[0], block())
    s[b].bind(s[b].op.reduce_axis[0], thread())
    s[b].set_store_predicate(tvm.tir.all(thread().var > 5, thread().var < 8))
    text = str(tvm.program(s, [x, b]))
    assert "predicate threadIdx.x > 5 && threadIdx.x < 8" in text
    assert str(tvm.parse(text)) == text
    np.testing.assert_array_equal(run(s, [x, b], VALUES), VALUES.sum(1))


def row_sums_plus_one():
    x, b, _ = row_sums()
    y = te.compute((12,), lambda i: b[i] + 1, name="Y")
    return x, b, y, te.create_schedule(y.op)


def test_store_predicate_of_the_reader(run):
    """All threads get the reader's value; the predicate picks which one stores it, as in topi."""
    x, b, y, s = row_sums_plus_one()
    s[b].bind(s[b].op.reduce_axis[0], tx := thread())
    s[y].bind(s[y].op.axis[0], block())
    s[b].compute_at(s[y], s[y].op.axis[0])
    s[y].set_store_predicate(tx.var.equal(0))
    np.testing.assert_array_equal(run(s, [x, y], VALUES), VALUES.sum(1) + 1)


@pytest.mark.parametrize("factor", [4, 5])
def test_store_predicate_that_repeats_the_guard_of_a_loop(run, factor):
    """As in topi's reductions that keep axes, the predicate repeats the guard of a split."""
    x, b, s = row_sums()
    _, ki = s[b].split(s[b].op.reduce_axis[0], factor=8)
    bf = s.rfactor(b, ki)
    tx, ty, bx = thread(), thread("y"), block()
    s[b].bind(s[b].op.reduce_axis[0], tx)
    s[bf].compute_at(s[b], s[b].op.reduce_axis[0])
    outer, inner = s[b].split(s[b].op.axis[0], factor=factor)
    s[b].bind(inner, ty)
    s[b].bind(outer, bx)
    s[b].set_store_predicate(tvm.tir.all(tx.equal(0), bx * factor + ty < 12))
    np.testing.assert_array_equal(run(s, [x, b], VALUES), VALUES.sum(1))


def test_store_predicate_that_leaves_out_elements():
    x, b, s = row_sums()
    tx, bx = thread(), block()
    s[b].bind(s[b].op.reduce_axis[0], tx)
    s[b].bind(s[b].op.axis[0], bx)
    s[b].set_store_predicate(tvm.tir.all(tx.equal(0), bx < 11))
    with pytest.raises(tvm.TVMError, match="TL2031.*blockIdx.x, but threads along it compute"):
        tvm.lower(s, [x, b])


@pytest.mark.parametrize("of_reader", [False, True])
@pytest.mark.parametrize("of_reduction", [False, True])
def test_store_predicates_of_a_reduction_inside_its_reader(run, of_reduction, of_reader):
    """Every thread keeps the result of the reduction; the predicate affects only the store."""
    x, b, y, s = row_sums_plus_one()
    _, ki = s[b].split(s[b].op.reduce_axis[0], factor=8)
    bf = s.rfactor(b, ki)
    outer, inner = s[y].split(s[y].op.axis[0], factor=4)
    s[b].compute_at(s[y], inner)
    s[y].bind(outer, block())
    s[y].bind(inner, thread("y"))
    s[b].bind(s[b].op.reduce_axis[0], tx := thread())
    s[bf].compute_at(s[b], s[b].op.reduce_axis[0])
    if of_reduction:
        s[b].set_store_predicate(tx.var.equal(0))
    if of_reader:
        s[y].set_store_predicate(tx.var.equal(0))
    np.testing.assert_array_equal(run(s, [x, y], VALUES), VALUES.sum(1) + 1)


@pytest.mark.parametrize("rows", [12, 11])
def test_store_predicate_with_the_guard_of_a_reader(run, rows):
    """In the last block, the cache, and so the reduction, has more rows than the output.

    A predicate that leaves out an element of the output is refused.
    """
    x, b, _ = row_sums()
    y = te.compute((12,), lambda i: b[i // 2] + 1, name="Y")
    s = te.create_schedule(y.op)
    cache = s.cache_write(y, "shared")
    outer, inner = s[y].split(y.op.axis[0], factor=5)
    tx, ty, bx = thread(), thread("y"), block()
    s[y].bind(outer, bx)
    s[y].bind(inner, tx)
    for t in (b, cache):
        s[t].compute_at(s[y], inner)
    s[b].bind(s[b].op.reduce_axis[0], ty)
    s[b].set_store_predicate(tvm.tir.all(ty.equal(0), bx * 5 + tx < rows))
    if rows == 11:
        with pytest.raises(tvm.TVMError, match="TL2031.*names blockIdx.x, but threads along it"):
            tvm.lower(s, [x, y])
        return
    np.testing.assert_array_equal(run(s, [x, y], VALUES), np.repeat(VALUES.sum(1)[:6], 2) + 1)


@pytest.mark.parametrize("same_row", [True, False])
def test_reduction_inside_a_loop_over_its_own_threads(run, same_row):
    """The reader's threads need one common result, or one each; all threads reduce each result."""
    x, b, _ = row_sums()
    row = (lambda i, j: i) if same_row else (lambda i, j: j)
    y = te.compute((12, 12), lambda i, j: b[row(i, j)] + j, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
    s[y].bind(s[y].op.axis[1], thread())
    outer, _ = s[b].split(s[b].op.reduce_axis[0], nparts=12)
    s[b].bind(outer, thread())
    s[b].compute_at(s[y], s[y].op.axis[1])
    sums = VALUES.sum(1)
    expected = (sums[:, None] if same_row else sums[None, :]) + np.arange(12)
    np.testing.assert_array_equal(run(s, [x, y], VALUES), np.broadcast_to(expected, (12, 12)))


@pytest.mark.parametrize("storing", [0, 3])
def test_store_predicate_with_a_guard_of_its_own_threads(run, storing):
    """The guard of the reader's blocks names the threads of the reduction, too.

    In the last block the guard leaves out thread 3, so the predicate must not choose thread 3.
    """
    x, b, _ = row_sums()
    y = te.compute((10,), lambda i: b[i] + 1, name="Y")
    s = te.create_schedule(y.op)
    outer, inner = s[y].split(y.op.axis[0], factor=4)
    tx, bx = thread(), block()
    s[y].bind(outer, bx)
    s[y].bind(inner, tx)
    steps, _ = s[b].split(s[b].op.reduce_axis[0], nparts=4)
    s[b].bind(steps, tx)
    s[b].compute_at(s[y], inner)
    s[b].set_store_predicate(tvm.tir.all(tx.equal(storing), bx * 4 + tx < 10))
    if storing == 3:
        with pytest.raises(tvm.TVMError, match="TL2031.*names blockIdx.x, but threads along it"):
            tvm.lower(s, [x, y])
        return
    np.testing.assert_array_equal(run(s, [x, y], VALUES), VALUES.sum(1)[:10] + 1)


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        (lambda tx, ty: tx.var > 29, "holds for no thread"),
        (lambda tx, ty: ty.var.equal(0), "threadIdx.y, but threads along it compute different"),
    ],
)
def test_store_predicates_of_a_reader_that_are_refused(condition, message):
    """One predicate is satisfied by no thread; the other names threads that the stage binds."""
    x, b, y, s = row_sums_plus_one()
    s[b].bind(s[b].op.reduce_axis[0], tx := thread())
    s[y].bind(s[y].op.axis[0], ty := thread("y"))
    s[b].compute_at(s[y], s[y].op.axis[0])
    s[y].set_store_predicate(condition(tx, ty))
    with pytest.raises(tvm.TVMError, match=f"TL2031.*{message}"):
        tvm.lower(s, [x, y])
