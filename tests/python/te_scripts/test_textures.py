"""Scripts in the style of TVM's tests and schedules for textures on Adreno."""

import numpy as np
import pytest

import texloom as tvm
from texloom import te, tir


def get_texture_storage(shape):
    limit = tvm.target.Target.current().attrs["texture_spatial_limit"]
    if shape[0] * shape[1] * shape[2] < limit and shape[3] < limit:
        return "global.texture"
    if shape[0] * shape[1] < limit and shape[2] * shape[3] < limit:
        return "global.texture-nhwc"
    return "global.texture-weight"


def bind_copy(s, stage, factor=32):
    """Bind all axes but the last to threads; the last one is a texel."""
    *outer, last = s[stage].op.axis
    block, thread = s[stage].split(s[stage].fuse(*outer), factor=factor)
    s[stage].vectorize(last)
    s[stage].bind(block, te.thread_axis("blockIdx.x"))
    s[stage].bind(thread, te.thread_axis("threadIdx.x"))


def values(*shapes):
    rng = np.random.default_rng(0)
    return [rng.standard_normal(shape).astype("float32") for shape in shapes]


@pytest.mark.parametrize("shape", [(16, 16, 4), (8, 2, 4, 4, 4)])
@pytest.mark.parametrize("scope", ["texture", "global.texture", "global.texture-nhwc"])
def test_one_more(run, shape, scope):
    X = te.placeholder(shape, name="X")
    Y = te.compute(shape, lambda *i: X(*i) + 1, name="Y")
    s = te.create_schedule(Y.op)
    Xt = s.cache_read(X, scope, [Y])
    bind_copy(s, Xt)
    bind_copy(s, Y)
    (x,) = values(shape)
    np.testing.assert_array_equal(run(s, [X, Y], x), x + 1)


@pytest.mark.parametrize("local", [False, True])
def test_product_of_outer_lanes(run, local):
    A, B = te.placeholder((32, 16, 4), name="A"), te.placeholder((32, 16, 4), name="B")
    k = te.reduce_axis((0, 32), name="k")
    C = te.compute(
        (64, 64),
        lambda i, j: te.sum(A[k, i // 4, i % 4] * B[k, j // 4, j % 4], axis=[k]),
        name="C",
    )
    s = te.create_schedule(C.op)
    textures = [s.cache_read(t, "texture", [C]) for t in (A, B)]
    locals_ = [s.cache_read(t, "local", [C]) for t in textures] if local else []
    Cl = s.cache_write(C, "local")
    for t in textures:
        bind_copy(s, t)
    xo, yo, xi, yi = s[C].tile(*s[C].op.axis, 4, 4)
    s[C].unroll(xi)
    s[C].vectorize(yi)
    s[C].bind(xo, te.thread_axis("blockIdx.x"))
    s[C].bind(yo, te.thread_axis("threadIdx.x"))
    s[Cl].compute_at(s[C], yo)
    (kl,) = Cl.op.reduce_axis
    s[Cl].reorder(kl, *Cl.op.axis)
    s[Cl].unroll(Cl.op.axis[0])
    s[Cl].vectorize(Cl.op.axis[1])
    for t in locals_:
        s[t].compute_at(s[Cl], kl)
        s[t].vectorize(s[t].op.axis[-1])
    a, b = values((32, 16, 4), (32, 16, 4))
    expected = a.reshape(32, 64).T @ b.reshape(32, 64)
    np.testing.assert_allclose(run(s, [A, B, C], a, b), expected, rtol=1e-4, atol=1e-4)


def test_arguments_in_textures(run):
    shape = (16, 16, 4)
    X = te.placeholder(shape, name="X")
    Y = te.compute(shape, lambda i, j, k: X[i, j, k] * 2, name="Y")
    s = te.create_schedule(Y.op)
    bind_copy(s, Y)
    (x,) = values(shape)
    scopes = {X: "global.texture", Y: "global.texture"}
    np.testing.assert_array_equal(run(s, [X, Y], x, scopes=scopes), 2 * x)


def test_padding_and_weights_in_textures_under_the_limits_of_a_target(run):
    """conv2d in NCHW4c: a stage stored in a texture, a cache, and an inlined epilogue."""
    ic, oc, h, w = 8, 16, 6, 6
    data = te.placeholder((1, ic // 4, h, w, 4), name="data")
    kernel = te.placeholder((oc // 4, ic, 3, 3, 4), name="kernel")

    def padded(n, c, y, x, lane):
        inside = tir.all(y >= 1, y < h + 1, x >= 1, x < w + 1)
        return tir.if_then_else(inside, data[n, c, y - 1, x - 1, lane], tir.const(0, data.dtype))

    pad = te.compute((1, ic // 4, h + 2, w + 2, 4), padded, name="pad_temp")
    c, lane = te.reduce_axis((0, ic // 4), "c"), te.reduce_axis((0, 4), "lane")
    ry, rx = te.reduce_axis((0, 3), "ry"), te.reduce_axis((0, 3), "rx")
    conv = te.compute(
        (1, oc // 4, h, w, 4),
        lambda n, f, y, x, fl: te.sum(
            pad[n, c, y + ry, x + rx, lane] * kernel[f, c * 4 + lane, ry, rx, fl],
            axis=[c, lane, ry, rx],
        ),
        name="conv2d_nchwc",
    )
    cast = te.compute(conv.shape, lambda *i: conv(*i).astype("float32"), name="cast")
    relu = te.compute(conv.shape, lambda *i: te.max(cast(*i), 0.0), name="relu", tag="elemwise")
    d, k = values((1, ic // 4, h, w, 4), (oc // 4, ic, 3, 3, 4))
    with tvm.target.Target("opencl -device=adreno"):
        s = te.create_schedule([relu.op])
        s[cast].compute_inline()
        s[pad].set_scope(get_texture_storage((ic // 4, h + 2, w + 2, 4)))
        bind_copy(s, pad)
        bind_copy(s, s.cache_read(kernel, get_texture_storage((oc // 4, ic, 9, 4)), [conv]))
        n, f, y, x, fl = s[relu].op.axis
        scope, n = s[relu].split(n, nparts=1)
        by, ty = s[relu].split(y, 3)
        vy, ty = s[relu].split(ty, nparts=1)
        bf = s[relu].fuse(n, f)
        s[relu].reorder(bf, by, vy, ty, x, fl)
        tags = ("blockIdx.z", "blockIdx.y", "vthread", "threadIdx.y", "threadIdx.x")
        for axis, tag in zip((bf, by, vy, ty, x), tags, strict=True):
            s[relu].bind(axis, te.thread_axis(tag))
        s[relu].vectorize(fl)
        s[conv].set_scope("local")
        s[conv].compute_at(s[relu], x)
        *outer, last = s[conv].op.axis
        s[conv].reorder(*s[conv].op.reduce_axis, *outer, last)
        s[conv].vectorize(last)
        s[conv].unroll(s[conv].op.reduce_axis[1])
        s[relu].pragma(scope, "auto_unroll_max_step", 16)
        got = run(s, [data, kernel, relu], d, k)
    image = np.pad(
        d.transpose(0, 1, 4, 2, 3).reshape(1, ic, h, w), ((0, 0), (0, 0), (1, 1), (1, 1))
    )
    weights = k.transpose(0, 4, 1, 2, 3).reshape(oc, ic, 3, 3)
    expected = sum(
        np.einsum("nchw,oc->nohw", image[:, :, i : i + h, j : j + w], weights[:, :, i, j])
        for i in range(3)
        for j in range(3)
    )
    expected = np.maximum(expected.reshape(1, oc // 4, 4, h, w).transpose(0, 1, 3, 4, 2), 0)
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-4)
