"""Scripts in the style of TVM's te tutorials and of courses based on them."""

import numpy as np
import pytest

import texloom as tvm
from texloom import te, tir


def test_vector_add_with_a_size_of_the_call(dev):
    n = te.var("n")
    A, B = te.placeholder((n,), name="A"), te.placeholder((n,), name="B")
    C = te.compute(A.shape, lambda i: A[i] + B[i], name="C")
    assert type(C) is te.Tensor
    s = te.create_schedule(C.op)
    bx, tx = s[C].split(C.op.axis[0], factor=64)
    target = tvm.target.Target(target="opencl", host="llvm")
    s[C].bind(bx, te.thread_axis("blockIdx.x"))
    s[C].bind(tx, te.thread_axis("threadIdx.x"))
    fadd = tvm.build(s, [A, B, C], target, name="myadd")
    assert "__kernel" in fadd.imported_modules[0].get_source()
    a = tvm.nd.array(np.random.uniform(size=100).astype(A.dtype), dev)
    b = tvm.nd.array(np.random.uniform(size=100).astype(B.dtype), dev)
    c = tvm.nd.array(np.zeros(100, dtype=C.dtype), dev)
    fadd(a, b, c)
    tvm.testing.assert_allclose(c.numpy(), a.numpy() + b.numpy())
    assert fadd.time_evaluator(fadd.entry_name, dev, number=2)(a, b, c).mean > 0


def test_schedules_are_printed_before_anything_is_bound():
    """Schedules without threads can be printed; only build rejects them."""
    m, n = te.var("m"), te.var("n")
    A = te.placeholder((m, n), name="A")
    B = te.compute((m, n), lambda i, j: A[i, j] * 2, name="B")
    C = te.compute((m, n), lambda i, j: B[i, j] + 1, name="C")
    s = te.create_schedule(C.op)
    lowered = tvm.lower(s, [A, B, C], simple_mode=True)
    assert lowered.stage == "flattened" and "B[i * n + j] = A[i * n + j] * 2.0" in str(lowered)
    xo, yo, xi, yi = s[C].tile(C.op.axis[0], C.op.axis[1], x_factor=10, y_factor=5)
    s[C].reorder(xi, yo, xo, yi)
    assert "for i.inner < 10 {\n      for j.outer" in str(tvm.lower(s, [A, B, C]))
    s[B].compute_at(s[C], xo)
    assert "buffer.alloca B: global float32[1, 5]" in str(tvm.lower(s, [A, C]))
    with pytest.raises(tvm.TVMError, match="TL3003(.|\n)*did you forget to bind"):
        tvm.build(s, [A, C], "opencl")
    with pytest.raises(tvm.TVMError, match="TL3003"):
        tvm.build(tvm.lower(s, [A, C]), target="opencl")


def test_loops_for_a_processor_can_be_looked_at():
    """Each step of the tutorial's CPU product can be lowered; the last one uses every directive."""
    M = K = N = 64
    bn = 32
    A, B = te.placeholder((M, K), name="A"), te.placeholder((K, N), name="B")
    k = te.reduce_axis((0, K), "k")
    packed = te.compute((N / bn, K, bn), lambda x, y, z: B[y, x * bn + z], name="packedB")
    C = te.compute(
        (M, N),
        lambda m, n: te.sum(A[m, k] * packed[n // bn, k, tir.indexmod(n, bn)], axis=k),
        name="C",
    )
    s = te.create_schedule(C.op)
    CC = s.cache_write(C, "global")
    mo, no, mi, ni = s[C].tile(C.op.axis[0], C.op.axis[1], bn, bn)
    s[CC].compute_at(s[C], no)
    mc, nc = s[CC].op.axis
    ko, ki = s[CC].split(s[CC].op.reduce_axis[0], factor=4)
    s[CC].reorder(ko, mc, ki, nc)
    s[CC].vectorize(nc)
    s[CC].unroll(ki)
    s[packed].vectorize(packed.op.axis[2])
    text = str(tvm.lower(s, [A, B, C], simple_mode=True))
    assert "buffer.alloca C.global: global float32[32, 32]" in text and "packedB[ramp(" in text


def test_reduction_by_parts_and_threads(dev):
    n, m = te.var("n"), te.var("m")
    A = te.placeholder((n, m), name="A")
    k = te.reduce_axis((0, m), "k")
    B = te.compute((n,), lambda i: te.sum(A[i, k], axis=k), name="B")
    s = te.create_schedule(B.op)
    ko, ki = s[B].split(B.op.reduce_axis[0], factor=16)
    BF = s.rfactor(B, ki)
    assert "B.rf" in str(tvm.lower(s, [A, B], simple_mode=True))
    xo, xi = s[B].split(s[B].op.axis[0], factor=32)
    s[B].bind(xo, te.thread_axis("blockIdx.x"))
    s[B].bind(xi, te.thread_axis("threadIdx.y"))
    tx = te.thread_axis("threadIdx.x")
    s[B].bind(s[B].op.reduce_axis[0], tx)
    s[BF].compute_at(s[B], s[B].op.reduce_axis[0])
    s[B].set_store_predicate(tx.var.equal(0))
    f = tvm.build(s, [A, B], "opencl -max_num_threads=512")
    a = np.random.default_rng(0).random((50, 77), "float32")
    b = tvm.nd.array(np.zeros(50, B.dtype), dev)
    f(tvm.nd.array(a, dev), b)
    tvm.testing.assert_allclose(b.numpy(), a.sum(axis=1), rtol=1e-5)


def test_two_states_of_a_scan(run):
    m, n = 5, 12
    X = te.placeholder((m, n), name="X")
    state1, state2 = te.placeholder((m, n)), te.placeholder((m, n))
    init1 = te.compute((1, n), lambda _, i: X[0, i])
    init2 = te.compute((1, n), lambda _, i: 0.0)
    update1 = te.compute((m, n), lambda t, i: state1[t - 1, i] + X[t, i])
    update2 = te.compute((m, n), lambda t, i: state2[t - 1, i] + state1[t - 1, 0])
    one, two = te.scan([init1, init2], [update1, update2], [state1, state2], inputs=[X])
    s = te.create_schedule(one.op)
    tvm.lower(s, [X, one, two], simple_mode=True)
    tx = te.thread_axis("threadIdx.x")
    for t in (init1, init2, update1, update2):
        s[t].bind(t.op.axis[1], tx)
    x = np.random.default_rng(0).random((m, n), "float32")
    first, second = run(s, [X, one, two], x)
    np.testing.assert_allclose(first, np.cumsum(x, 0), rtol=1e-6)
    sums = np.r_[0, np.cumsum(first[:-1, 0])]
    np.testing.assert_allclose(second, np.repeat(sums[:, None], n, 1), rtol=1e-6)


def test_index_of_the_greatest_by_parts(run):
    """A tuple reducer over index and value is split by rfactor and shared by threads."""

    def combine(lhs, rhs):
        first = lhs[1] >= rhs[1]
        return tir.Select(first, lhs[0], rhs[0]), tir.Select(first, lhs[1], rhs[1])

    def identity(t0, t1):
        return tir.const(-1, t0), te.min_value(t1)

    argmax = te.comm_reducer(combine, identity, name="argmax")
    A = te.placeholder((10, 103), name="A")
    k = te.reduce_axis((0, 103), "k")
    index, value = te.compute((10,), lambda i: argmax((k.var, A[i, k]), axis=k), name="T")
    s = te.create_schedule(index.op)
    _, ki = s[index].split(k, factor=16)
    parts = s.rfactor(index, ki)
    bx, ty = s[index].split(s[index].op.axis[0], factor=4)
    s[index].bind(bx, te.thread_axis("blockIdx.x"))
    s[index].bind(ty, te.thread_axis("threadIdx.y"))
    s[index].bind(s[index].op.reduce_axis[0], te.thread_axis("threadIdx.x"))
    s[parts[0].op].compute_at(s[index], s[index].op.reduce_axis[0])
    a = np.random.default_rng(0).random((10, 103), "float32")
    found = run(s, [A, index, value], a)
    np.testing.assert_array_equal(found[0], a.argmax(1))
    np.testing.assert_array_equal(found[1], a.max(1))


def test_statement_with_shared_memory_and_a_barrier(run):
    """Threads reverse a row through shared memory; the script's own barrier is kept."""

    def generate(ins, outs):
        ib = tir.ir_builder.create()
        a, o = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        bx, tx = te.thread_axis("blockIdx.x"), te.thread_axis("threadIdx.x")
        ib.scope_attr(bx, "thread_extent", 4)
        ib.scope_attr(tx, "thread_extent", 8)
        row = ib.allocate("float32", (8,), name="row", scope="shared")
        row[tx] = a[bx * 8 + tx]
        ib.emit(tir.Call(None, "tir.tvm_storage_sync", tvm.runtime.convert(["shared"])))
        o[bx * 8 + tx] = row[7 - tx]
        return ib.get()

    A = te.placeholder((32,), name="A")
    C = te.extern((32,), [A], generate, dtype="float32", name="C")
    a = np.arange(32, dtype="float32")
    got = run(te.create_schedule(C.op), [A, C], a)
    np.testing.assert_array_equal(got, a.reshape(4, 8)[:, ::-1].reshape(-1))


def test_blur_at_each_place(run):
    """A blur gives the same values with its intermediate stage in any of four places."""
    H, W = 16, 24
    X = te.placeholder((H + 2, W + 2), name="I")
    along = te.compute((H + 2, W), lambda y, x: (X[y, x] + X[y, x + 1] + X[y, x + 2]) / 3.0)
    out = te.compute((H, W), lambda y, x: (along[y, x] + along[y + 1, x] + along[y + 2, x]) / 3.0)
    image = np.random.default_rng(0).random((H + 2, W + 2), "float32")
    rows = sum(image[:, d : d + W] for d in range(3)) / 3
    expected = sum(rows[d : d + H] for d in range(3)) / 3
    for place in ("root", "inline", "block", "thread"):
        s = te.create_schedule(out.op)
        yo, xo, yi, xi = s[out].tile(out.op.axis[0], out.op.axis[1], 8, 8)
        for axis, tag in ((yo, "blockIdx.y"), (xo, "blockIdx.x"), (yi, "threadIdx.y")):
            s[out].bind(axis, te.thread_axis(tag))
        s[out].bind(xi, te.thread_axis("threadIdx.x"))
        if place == "root":
            s[along].bind(s[along].fuse(*along.op.axis), te.thread_axis("blockIdx.x"))
        elif place == "inline":
            s[along].compute_inline()
        else:
            s[along].compute_at(s[out], xo if place == "block" else xi)
        np.testing.assert_allclose(run(s, [X, out], image), expected, rtol=1e-5)
