"""Shared memory: which threads fill it, and barriers only where threads exchange data."""

import re

import numpy as np

import texloom as tvm
from texloom import te

VALUES = np.random.default_rng(5).integers(-9, 9, size=(6, 16)).astype("float32")


def block(which="x"):
    return te.thread_axis(f"blockIdx.{which}")


def thread(which="x"):
    return te.thread_axis(f"threadIdx.{which}")


def reversed_rows(cooperate):
    """Return Y[i, j] = X[i, 15 - j] through a shared row, filled by all 16 threads or by one."""
    x = te.placeholder((6, 16), name="X")
    y = te.compute((6, 16), lambda i, j: x[i, 15 - j], name="Y")
    s = te.create_schedule(y.op)
    cache = s.cache_read(x, "shared", [y])
    i, j = s[y].op.axis
    s[y].bind(i, block())
    s[y].bind(j, thread())
    s[cache].compute_at(s[y], i)
    if cooperate:
        s[cache].bind(s[cache].op.axis[1], thread())
    return x, y, s


def test_threads_fill_it_together(run):
    x, y, s = reversed_rows(cooperate=True)
    (kernel,) = tvm.build(s, [x, y]).kernels
    assert "__local float" in kernel.source
    assert kernel.source.count("barrier(CLK_LOCAL_MEM_FENCE)") == 1
    assert "== 0" not in kernel.source
    np.testing.assert_array_equal(run(s, [x, y], VALUES), VALUES[:, ::-1])


def test_one_thread_fills_it_when_nothing_is_said(run):
    """If a shared stage is not bound to threads, one thread computes it."""
    x, y, s = reversed_rows(cooperate=False)
    (kernel,) = tvm.build(s, [x, y]).kernels
    assert re.search(r"threadIdx_x == 0", kernel.source)
    assert kernel.source.count("barrier(CLK_LOCAL_MEM_FENCE)") == 1
    np.testing.assert_array_equal(run(s, [x, y], VALUES), VALUES[:, ::-1])


def test_no_barrier_without_shared_memory():
    x = te.placeholder((6, 16), name="X")
    y = te.compute((6, 16), lambda i, j: x[i, 15 - j], name="Y")
    s = te.create_schedule(y.op)
    cache = s.cache_read(x, "local", [y])
    i, j = s[y].op.axis
    s[y].bind(i, block())
    s[y].bind(j, thread())
    s[cache].compute_at(s[y], j)
    assert "barrier" not in tvm.build(s, [x, y]).get_source()


def test_refilled_in_a_loop(run):
    """Two barriers in the loop: before the reads, and before the next round's writes."""
    x = te.placeholder((6, 16), name="X")
    y = te.compute((6, 16), lambda i, j: x[i, 15 - j], name="Y")
    s = te.create_schedule(y.op)
    cache = s.cache_read(x, "shared", [y])
    i, j = s[y].op.axis
    s[y].bind(s[y].fuse(), block())
    s[y].bind(j, thread())
    s[cache].compute_at(s[y], i)
    s[cache].bind(s[cache].op.axis[1], thread())
    (kernel,) = tvm.build(s, [x, y]).kernels
    loop = kernel.source.partition("for (")[2]
    assert loop.count("barrier(") == 2
    np.testing.assert_array_equal(run(s, [x, y], VALUES), VALUES[:, ::-1])


def test_two_stages_of_shared_memory(run):
    """A shared stage reads another one; each is split among threads in its own way."""
    x = te.placeholder((6, 16), name="X")
    p = te.compute((6, 16), lambda i, j: x[i, j] + x[i, 15 - j], name="P")
    y = te.compute((6, 8), lambda i, j: p[i, j * 2] - p[i, 7 - j], name="Y")
    s = te.create_schedule(y.op)
    cache = s.cache_read(x, "shared", [p])
    i, j = s[y].op.axis
    s[y].bind(i, block())
    s[y].bind(j, thread())
    for t in (p, cache):
        s[t].compute_at(s[y], i)
        outer, _ = s[t].split(s[t].op.axis[1], nparts=8)
        s[t].bind(outer, thread())
    s[p].set_scope("shared")
    vp = VALUES + VALUES[:, ::-1]
    np.testing.assert_array_equal(run(s, [x, y], VALUES), vp[:, :16:2] - vp[:, 7::-1])


def test_sum_in_shared_memory(run):
    """The accumulator is in shared memory; one thread computes it, so steps need no barrier."""
    x = te.placeholder((6, 16), name="X")
    k = te.reduce_axis((0, 16), name="k")
    total = te.compute((6,), lambda i: te.sum(x[i, k], axis=k), name="total")
    y = te.compute((6, 4), lambda i, j: total[i] * j, name="Y")
    s = te.create_schedule(y.op)
    i, j = s[y].op.axis
    s[y].bind(i, block())
    s[y].bind(j, thread())
    s[total].compute_at(s[y], i)
    assert s[total].scope == "shared"
    assert tvm.build(s, [x, y]).get_source().count("barrier(") == 1
    expected = VALUES.sum(axis=1)[:, None] * np.arange(4)
    np.testing.assert_array_equal(run(s, [x, y], VALUES), expected)


def test_more_threads_than_the_output_has(run):
    """The shared stage has 16 threads, the output 5: the other 11 must not store."""
    x = te.placeholder((6, 16), name="X")
    y = te.compute((6, 5), lambda i, j: x[i, j * 3] + x[i, 15 - j], name="Y")
    s = te.create_schedule(y.op)
    cache = s.cache_read(x, "shared", [y])
    i, j = s[y].op.axis
    _, ji = s[y].split(j, factor=16)
    s[y].bind(i, block())
    s[y].bind(ji, thread())
    s[cache].compute_at(s[y], i)
    outer, _ = s[cache].split(s[cache].op.axis[1], nparts=16)
    s[cache].bind(outer, thread())
    assert tvm.build(s, [x, y]).kernels[0].block == (16, 1, 1)
    expected = VALUES[:, :15:3] + VALUES[:, :10:-1]
    np.testing.assert_array_equal(run(s, [x, y], VALUES), expected)


def test_threads_that_only_the_shared_stage_has(run):
    """Threads along y help to fill; the output has no y, so one thread in y stores."""
    x = te.placeholder((6, 16), name="X")
    y = te.compute((6, 16), lambda i, j: x[5 - i, 15 - j], name="Y")
    s = te.create_schedule(y.op)
    cache = s.cache_read(x, "shared", [y])
    i, j = s[y].op.axis
    s[y].bind(s[y].fuse(), block())
    s[y].bind(j, thread("x"))
    s[cache].compute_at(s[y], s[y].leaf_iter_vars[0])
    s[cache].bind(s[cache].op.axis[0], thread("y"))
    s[cache].bind(s[cache].op.axis[1], thread("x"))
    assert tvm.build(s, [x, y]).kernels[0].block == (16, 6, 1)
    np.testing.assert_array_equal(run(s, [x, y], VALUES), VALUES[::-1, ::-1])


def test_tiles_of_which_one_is_cut_off(run):
    """Loops beside a barrier are not specialized for full tiles: PoCL would make wrong code."""
    x = te.placeholder((64,), name="X")
    w = te.placeholder((3,), name="W")
    k = te.reduce_axis((0, 3), "k")
    y = te.compute((62,), lambda i: te.sum(x[i + k] * w[k], k), name="Y")
    s = te.create_schedule(y.op)
    sums = s.cache_write(y, "local")
    caches = [s.cache_read(each, "shared", [sums]) for each in (w, x)]
    i_block, i = s[y].split(s[y].op.axis[0], 16)
    i_thread, _ = s[y].split(i, 4)
    s[y].bind(i_block, block())
    s[y].bind(i_thread, thread())
    s[sums].compute_at(s[y], i_thread)
    s[sums].reorder(s[sums].op.reduce_axis[0], s[sums].op.axis[0])
    s[sums].unroll(s[sums].op.axis[0])
    for cache in caches:
        s[cache].compute_at(s[y], i_block)
        _, j = s[cache].split(s[cache].op.axis[0], 4)
        s[cache].bind(j, thread())
    values, weights = VALUES.ravel()[:64], VALUES.ravel()[64:67]
    expected = np.convolve(values, weights[::-1], "valid")
    np.testing.assert_array_equal(run(s, [x, w, y], values, weights), expected)


def test_threads_meet_in_a_loop_that_each_counts_for_itself(run):
    """All threads run the same number of iterations, so barriers inside are allowed."""

    def rotate(ins, outs):
        ib = tvm.tir.ir_builder.create()
        x, y = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        ib.scope_attr(i := block(), "thread_extent", 6)
        ib.scope_attr(j := thread(), "thread_extent", 16)
        row = ib.allocate("float32", (16,), name="row", scope="shared")
        n = ib.allocate("int32", (1,), name="n", scope="local")
        n[0] = i
        y[i, j] = x[i, j]
        with ib.while_loop(n[0] > 0):
            row[j] = y[i, j]
            y[i, j] = row[(j + 1) % 16]
            n[0] = n[0] - 1
        return ib.get()

    x = te.placeholder((6, 16), name="X")
    y = te.extern((6, 16), [x], rotate, name="Y", dtype="float32")
    expected = [np.roll(row, -i) for i, row in enumerate(VALUES)]
    np.testing.assert_array_equal(run(te.create_schedule(y.op), [x, y], VALUES), expected)
