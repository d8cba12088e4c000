"""Operators and schedules as scripts copy them from TVM's operator library."""

import numpy as np
import pytest

import texloom as tvm
from texloom import te, tir


def get_const_tuple(shape):
    """Convert constant extents to numbers; symbolic extents stay."""
    unknown = (tir.Var, tir.Any)
    return tuple(n if isinstance(n, unknown) else int(n) for n in shape)


def pad(data, before, after, value, name):
    def padded(*i):
        inside = []
        for at, n, b, a in zip(i, data.shape, before, after, strict=True):
            if b or a:
                inside += [at >= b, at < n + b]
        place = [at - b for at, b in zip(i, before, strict=True)]
        return tir.if_then_else(tir.all(*inside), data(*place), tir.const(value, data.dtype))

    shape = [n + b + a for n, b, a in zip(data.shape, before, after, strict=True)]
    return te.compute(shape, padded, name=name, tag="injective,pad")


def bind(s, tensor, **axes):
    """``bind(s, T, blockIdx_x=axis)``"""
    for tag, axis in axes.items():
        s[tensor].bind(axis, te.thread_axis(tag.replace("_", ".")))


def schedule_injective(s, out):
    fused = s[out].fuse(*s[out].op.axis)
    threads = tvm.target.Target.current(allow_none=False).max_num_threads
    bx, tx = s[out].split(fused, factor=threads)
    bind(s, out, blockIdx_x=bx, threadIdx_x=tx)


def conv2d(data, kernel):
    """Convolve with NumPy: stride 1, NCHW and OIHW."""
    kh, kw = kernel.shape[2:]
    h, w = data.shape[2] - kh + 1, data.shape[3] - kw + 1
    return sum(
        np.einsum("nchw,oc->nohw", data[:, :, y : y + h, x : x + w], kernel[:, :, y, x])
        for y in range(kh)
        for x in range(kw)
    )


def values(*shapes):
    rng = np.random.default_rng(0)
    return [rng.standard_normal(shape).astype("float32") for shape in shapes]


@pytest.mark.parametrize("target", ["opencl", "opencl -device=adreno", "opencl -device=mali"])
def test_injective(run, target):
    with tvm.target.Target(target):
        A = te.placeholder((3, 10, 7), name="A")
        P = pad(A, [0, 1, 2], [0, 2, 0], 1.5, "P")
        assert get_const_tuple(P.shape) == (3, 13, 9)
        T = te.compute((9, 13, 3), lambda i, j, k: te.sigmoid(P[k, j, i]), tag="injective")
        s = te.create_schedule([T.op])
        te.schedule.AutoInlineInjective(s)
        schedule_injective(s, T)
        (a,) = values((3, 10, 7))
        got = run(s, [A, T], a)
    padded = np.pad(a, ((0, 0), (1, 2), (2, 0)), constant_values=1.5)
    np.testing.assert_allclose(got, 1 / (1 + np.exp(-padded.transpose(2, 1, 0))), rtol=1e-5)


def test_reduction_of_everything(run):
    A = te.placeholder((4, 20, 33), name="A")
    axes = [te.reduce_axis((0, n)) for n in (4, 20, 33)]
    B = te.compute((), lambda *_: te.max(A(*axes), axis=axes), tag="comm_reduce")
    s = te.create_schedule(B.op)
    fused = s[B].fuse(*s[B].op.reduce_axis)
    _, ki = s[B].split(fused, factor=32)
    BF = s.rfactor(B, ki)
    tx = te.thread_axis((0, 32), "threadIdx.x")
    s[B].bind(s[B].op.reduce_axis[0], tx)
    s[BF].compute_at(s[B], s[B].op.reduce_axis[0])
    s[B].set_store_predicate(tx.var.equal(0))
    (a,) = values((4, 20, 33))
    assert run(s, [A, B], a) == a.max()


def test_dense_with_an_epilogue(run):
    """Threads share the reduction attached to the epilogue; one thread stores the result."""
    A, W = te.placeholder((2, 130), name="A"), te.placeholder((20, 130), name="W")
    bias = te.placeholder((20,), name="bias")
    k = te.reduce_axis((0, 130), name="k")
    C = te.compute((2, 20), lambda i, j: te.sum(A[i, k] * W[j, k], axis=k), tag="dense")
    biased = te.compute((2, 20), lambda i, j: C[i, j] + bias[j], tag="broadcast")
    s = te.create_schedule(biased.op)
    _, kf = s[C].split(C.op.reduce_axis[0], factor=32)
    CF = s.rfactor(C, kf)
    assert C.op not in s.outputs
    out = s.outputs[0].output(0)
    s[C].compute_at(s[out], s[out].op.axis[1])
    bind(s, out, blockIdx_y=s[out].op.axis[0], blockIdx_x=s[out].op.axis[1])
    tx = te.thread_axis("threadIdx.x")
    s[C].bind(s[C].op.reduce_axis[0], tx)
    s[CF].compute_at(s[C], s[C].op.reduce_axis[0])
    s[C].set_store_predicate(tx.var.equal(0))
    s[out].set_store_predicate(tx.var.equal(0))
    a, w, b = values((2, 130), (20, 130), (20,))
    got = run(s, [A, W, bias, out], a, w, b)
    np.testing.assert_allclose(got, a @ w.T + b, rtol=1e-4, atol=1e-4)


def test_softmax_of_four_kernels(run):
    x = te.placeholder((6, 40), name="x")
    k1, k2 = te.reduce_axis((0, 40), "k"), te.reduce_axis((0, 40), "k")
    top = te.compute((6,), lambda i: te.max(x[i, k1], axis=k1), name="max")
    exp = te.compute((6, 40), lambda i, j: te.exp(x[i, j] - top[i]), name="exp")
    total = te.compute((6,), lambda i: te.sum(exp[i, k2], axis=k2), name="sum")
    out = te.compute((6, 40), lambda i, j: exp[i, j] / total[i], attrs={"axis": 1})
    s = te.create_schedule([out.op])
    assert s.outputs[0].attrs["axis"].value == 1
    block, thread = te.thread_axis("blockIdx.x"), te.thread_axis((0, 8), "threadIdx.x")
    for t in (exp, top):
        s[t].bind(t.op.axis[0], block)
    _, ki = s[total].split(total.op.reduce_axis[0], factor=8)
    parts = s.rfactor(total, ki)
    s[total].bind(s[total].op.axis[0], block)
    s[total].bind(s[total].op.reduce_axis[0], thread)
    s[parts].compute_at(s[total], s[total].op.reduce_axis[0])
    s[total].set_store_predicate(thread.var.equal(0))
    tx, _ = s[out].split(out.op.axis[1], nparts=8)
    s[out].bind(out.op.axis[0], block)
    s[out].bind(tx, thread)
    (a,) = values((6, 40))
    e = np.exp(a - a.max(1, keepdims=True))
    np.testing.assert_allclose(run(s, [x, out], a), e / e.sum(1, keepdims=True), rtol=1e-4)


def test_pooling(run):
    data = te.placeholder((1, 4, 9, 9), name="data")
    padded = pad(data, [0, 0, 1, 1], [0, 0, 1, 1], float(np.finfo("float32").min), "pad")
    rh, rw = te.reduce_axis((0, 3)), te.reduce_axis((0, 3))
    pool = te.compute(
        (1, 4, 5, 5),
        lambda n, c, h, w: te.max(padded[n, c, h * 2 + rh, w * 2 + rw], axis=[rh, rw]),
    )
    s = te.create_schedule(pool.op)
    assert isinstance(pool.op.input_tensors[0].op, te.tensor.ComputeOp)
    s[pool.op.input_tensors[0]].compute_inline()
    local = s.cache_write(pool, "local")
    bx, tx = s[pool].split(s[pool].fuse(*s[pool].op.axis), factor=64)
    bind(s, pool, blockIdx_x=bx, threadIdx_x=tx)
    s[local].compute_at(s[pool], tx)
    (a,) = values((1, 4, 9, 9))
    p = np.pad(a, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=-np.inf)
    windows = [p[:, :, y : y + 9 : 2, x : x + 9 : 2] for y in range(3) for x in range(3)]
    np.testing.assert_array_equal(run(s, [data, pool], a), np.max(windows, 0))


def test_direct_convolution_with_everything_in_it(run):
    """The schedule has shared caches, virtual threads, and a pragma on an outermost loop."""
    data, kernel = te.placeholder((1, 8, 8, 8), name="data"), te.placeholder((16, 8, 3, 3))
    padded = pad(data, [0, 0, 1, 1], [0, 0, 1, 1], 0.0, "padded")
    rc, ry, rx = (te.reduce_axis((0, n), name) for n, name in ((8, "rc"), (3, "ry"), (3, "rx")))
    conv = te.compute(
        (1, 16, 8, 8),
        lambda n, f, y, x: te.sum(
            padded[n, rc, y + ry, x + rx] * kernel[f, rc, ry, rx], axis=[rc, ry, rx]
        ),
        tag="conv2d_nchw",
    )
    s = te.create_schedule(conv.op)
    s[padded].compute_inline()
    OL = s.cache_write(conv, "local")
    loads = [s.cache_read(t, "shared", [OL]) for t in (padded, kernel)]
    n, f, y, x = s[conv].op.axis
    scope, n = s[conv].split(n, nparts=1)
    bf, fi = s[conv].split(f, 8)
    vf, fi = s[conv].split(fi, nparts=2)
    tf, fi = s[conv].split(fi, nparts=2)
    by, yi = s[conv].split(y, 2)
    vy, yi = s[conv].split(yi, nparts=1)
    bf = s[conv].fuse(n, bf)
    s[conv].reorder(bf, by, vf, vy, tf, x, fi, yi)
    bind(s, conv, blockIdx_z=bf, blockIdx_y=by, threadIdx_z=tf, threadIdx_x=x)
    for axis in (vf, vy):
        s[conv].bind(axis, te.thread_axis("vthread"))
    s[OL].compute_at(s[conv], x)
    rco, rci = s[OL].split(s[OL].op.reduce_axis[0], 4)
    s[OL].reorder(rco, rci, *s[OL].op.reduce_axis[1:], *s[OL].op.axis)
    for load in loads:
        s[load].compute_at(s[OL], rco)
        tz, fused = s[load].split(s[load].fuse(*s[load].op.axis), nparts=2)
        tx, _ = s[load].split(fused, nparts=8)
        bind(s, load, threadIdx_z=tz, threadIdx_x=tx)
    s[conv].pragma(scope, "auto_unroll_max_step", 512)
    s[conv].pragma(scope, "unroll_explicit", False)
    d, k = values((1, 8, 8, 8), (16, 8, 3, 3))
    expected = conv2d(np.pad(d, ((0, 0), (0, 0), (1, 1), (1, 1))), k)
    got = run(s, [data, kernel, conv], d, k)
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("n", "m", "p"), [(8, 20, 5), (37, 53, 37), (40, 50, 37)])
def test_tiles_of_a_product_that_do_not_divide_it(run, n, m, p):
    """Threads outside the product skip sum and store, but still help to fill the shared tile."""
    A, B = te.placeholder((n, m), name="A"), te.placeholder((m, p), name="B")
    k = te.reduce_axis((0, m), "k")
    C = te.compute((n, p), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    s = te.create_schedule(C.op)
    CL = s.cache_write(C, "local")
    AS = s.cache_read(A, "shared", [CL])
    by, bx, ty, tx = s[C].tile(C.op.axis[0], C.op.axis[1], 8, 8)
    bind(s, C, blockIdx_y=by, blockIdx_x=bx, threadIdx_y=ty, threadIdx_x=tx)
    s[CL].compute_at(s[C], tx)
    ko, _ = s[CL].split(s[CL].op.reduce_axis[0], 10)
    s[AS].compute_at(s[CL], ko)
    _, ax = s[AS].split(s[AS].op.axis[1], 8)
    bind(s, AS, threadIdx_y=s[AS].op.axis[0], threadIdx_x=ax)
    a, b = values((n, m), (m, p))
    np.testing.assert_allclose(run(s, [A, B, C], a, b), a @ b, rtol=1e-4, atol=1e-4)


def const_matrix(matrix, name):
    """Return a matrix of constants, to be inlined."""

    def element(i, j):
        now = tir.const(0.0, "float32")
        for row, col in np.ndindex(matrix.shape):
            here = tir.all(tir.indexmod(i, 4) == row, tir.indexmod(j, 4) == col)
            now = tir.Select(here, tir.const(float(matrix[row, col]), "float32"), now)
        return now

    return te.compute(matrix.shape, element, name=name, attrs={"const_matrix": True})


def winograd(data, kernel):
    """Return Winograd's F(2, 3) on an 8 x 8 image: the matrices, then all stages in order."""
    (_, CI, H, W), (CO, *_), m, alpha = data.shape, kernel.shape, 2, 4
    G = const_matrix(np.array([[1, 0, 0], [0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0, 0, 1]]), "G")
    BT = const_matrix(np.array([[1, 0, 0, 0], [0, 1, -1, 1], [-1, 1, 1, 0], [0, 0, 0, -1]]), "B")
    AT = const_matrix(np.array([[1, 0], [1, 1], [1, -1], [0, -1]]), "A")
    padded = pad(data, [0, 0, 1, 1], [0, 0, 1, 1], 0.0, "padded")
    nW, P = W // m, (H // m) * (W // m)
    idxdiv, idxmod = tir.indexdiv, tir.indexmod
    r1, r2 = te.reduce_axis((0, 3), "r1"), te.reduce_axis((0, 3), "r2")
    weights = te.compute(
        (alpha, alpha, CI, CO),
        lambda e, v, ci, co: te.sum(kernel[co][ci][r1][r2] * G[e][r1] * G[v][r2], axis=[r1, r2]),
    )
    tile = te.compute(
        (CI, P, alpha, alpha),
        lambda c, p, e, v: padded[0, c, idxdiv(p, nW) * m + e, idxmod(p, nW) * m + v],
    )
    a1, a2 = te.reduce_axis((0, alpha), "a1"), te.reduce_axis((0, alpha), "a2")
    pack = te.compute(
        (alpha, alpha, CI, P),
        lambda e, v, c, p: te.sum(tile[c][p][a1][a2] * BT[a1][e] * BT[a2][v], axis=[a1, a2]),
    )
    ci = te.reduce_axis((0, CI), "ci")
    products = te.compute(
        (alpha, alpha, CO, P),
        lambda e, v, co, p: te.sum(weights[e][v][ci][co] * pack[e][v][ci][p], axis=ci),
    )
    b1, b2 = te.reduce_axis((0, alpha), "b1"), te.reduce_axis((0, alpha), "b2")
    inverse = te.compute(
        (CO, P, m, m),
        lambda c, p, h, w: te.sum(products[b1][b2][c][p] * AT[b1][h] * AT[b2][w], axis=[b1, b2]),
    )
    out = te.compute(
        (1, CO, H, W),
        lambda n, c, h, w: inverse[c, idxdiv(h, m) * nW + idxdiv(w, m), idxmod(h, m), idxmod(w, m)],
    )
    return (G, BT, AT, padded), (weights, tile, pack, products, inverse, out)


def test_winograd(run):
    """Four root stages; their constant matrices are unrolled and inlined."""
    data, kernel = te.placeholder((1, 4, 8, 8), name="data"), te.placeholder((4, 4, 3, 3))
    inlined, (weights, tile, pack, products, inverse, out) = winograd(data, kernel)
    s = te.create_schedule(out.op)
    for t in inlined:
        s[t].compute_inline()
    for t in (pack, weights):
        e, v, c, p = s[t].op.axis
        reduced = s[t].op.reduce_axis
        s[t].reorder(c, p, e, v, *reduced)
        for axis in (e, v, *reduced):
            s[t].unroll(axis)
        bx, tx = s[t].split(s[t].fuse(c, p), 16)
        bind(s, t, blockIdx_x=bx, threadIdx_x=tx)
        if t is pack:
            s[tile].compute_at(s[pack], tx)
    e, v, y, x = s[products].op.axis
    bind(s, products, blockIdx_z=s[products].fuse(e, v), threadIdx_y=y, threadIdx_x=x)
    n, c, h, w = s[out].op.axis
    ho, wo, hi, wi = s[out].tile(h, w, 2, 2)
    bx, tx = s[out].split(s[out].fuse(n, c, ho, wo), 16)
    bind(s, out, blockIdx_x=bx, threadIdx_x=tx)
    s[inverse].compute_at(s[out], tx)
    d, k = values((1, 4, 8, 8), (4, 4, 3, 3))
    expected = conv2d(np.pad(d, ((0, 0), (0, 0), (1, 1), (1, 1))), k)
    np.testing.assert_allclose(run(s, [data, kernel, out], d, k), expected, rtol=1e-3, atol=1e-3)
