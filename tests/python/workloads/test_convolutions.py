"""Convolutions of the layouts and shapes of neural networks, through textures."""

import numpy as np
import pytest
from workloads import accuracy
from workloads.convolution import reference

import texloom as tvm
from texloom import te
from texloom.examples.blocked_conv2d import Convolution, Tiling, schedule

WIDE = Tiling(pixels=4, columns=14, channels=4)
SHARED = Tiling(pixels=4, columns=14, channels=4, shared=True)


def check(run, conv, data, weight, tiling, dtype="float32", accumulate=None, **options):
    rng = np.random.default_rng(2)
    x = rng.standard_normal(data).astype(dtype)
    w = rng.standard_normal(weight).astype(dtype)
    t = [te.placeholder(v.shape, dtype, name) for v, name in ((x, "data"), (w, "weight"))]
    output = conv.compute(*t, accumulate)
    s = schedule(conv, *t, output, tiling, **options)
    got = run(s, [*t, output], x, w)
    accuracy.assert_sums(got, reference(conv, x, w), accumulate or dtype)


# -- 1x1.


@pytest.mark.parametrize("copy", [False, True], ids=["direct", "local"])
def test_1x1_of_nchwc_and_rsckk(run, copy):
    """Each row of the weights' texture is an input channel."""
    tiling = Tiling(pixels=4, columns=14, channels=4, copy=copy)
    conv = Convolution(weight="RSCKk")
    check(run, conv, (1, 32, 56, 56, 4), (1, 1, 128, 32, 4), tiling, weight_scope="global.texture")


@pytest.mark.parametrize("virtual", [1, 2])
def test_1x1_of_wchnc_and_crskk(run, virtual):
    """Convolve in the layouts WCHNc and CRSKk, also with pixels divided among virtual threads."""
    tiling = Tiling(pixels=2, columns=7, channels=4, virtual=virtual)
    conv = Convolution("WCHNc", "CRSKk")
    check(run, conv, (56, 32, 56, 1, 4), (128, 1, 1, 32, 4), tiling)


ACCUMULATE = [("float32", "float32"), ("float16", "float16"), ("float16", "float32")]


@pytest.mark.parametrize("tiling", [WIDE, SHARED], ids=["local", "shared-local"])
@pytest.mark.parametrize(("dtype", "accumulate"), ACCUMULATE)
def test_1x1_of_nchwc_and_kcrsk(run, dtype, accumulate, tiling):
    data, weight = (1, 32, 56, 56, 4), (32, 128, 1, 1, 4)
    check(run, Convolution(), data, weight, tiling, dtype, accumulate)


# -- Windows.


@pytest.mark.parametrize(("dtype", "accumulate"), [("float32", "float32"), ("float16", "float32")])
def test_3x3_of_nchwc_and_kcrsk(run, dtype, accumulate):
    """Data goes through texture, shared memory and registers: 1.8 billion products."""
    data, weight = (1, 32, 112, 112, 4), (32, 128, 3, 3, 4)
    tiling = Tiling(pixels=5, columns=11, channels=4, shared=True)
    check(run, Convolution(), data, weight, tiling, dtype, accumulate)


@pytest.mark.parametrize(("dtype", "accumulate"), [("float32", "float32"), ("float16", "float32")])
def test_depthwise(run, dtype, accumulate):
    data, weight = (1, 24, 257, 257, 4), (24, 1, 3, 3, 4)
    tiling = Tiling(pixels=5, columns=17, channels=2)
    check(run, Convolution(groups=96), data, weight, tiling, dtype, accumulate)


SMALL = Tiling(pixels=2, columns=4, channels=2)
# Convolution, shape of the data, shape of the weights.
KINDS = {
    "padded": (Convolution(padding=1), (1, 2, 9, 11, 4), (3, 8, 3, 3, 4)),
    "strided": (Convolution(stride=2), (1, 2, 13, 15, 4), (3, 8, 3, 3, 4)),
    "strided and padded": (Convolution(stride=3, padding=2), (1, 2, 10, 9, 4), (3, 8, 5, 5, 4)),
    "dilated": (Convolution(dilation=2, padding=2), (1, 2, 11, 9, 4), (3, 8, 3, 3, 4)),
    "grouped": (Convolution(groups=2, padding=1), (1, 4, 7, 8, 4), (4, 8, 3, 3, 4)),
    "groups of a texel": (Convolution(groups=4), (1, 4, 7, 8, 4), (4, 4, 3, 3, 4)),
    "batch of 2": (Convolution(padding=1), (2, 2, 7, 8, 4), (3, 8, 3, 3, 4)),
    "columns alone": (Convolution(padding=0), (2, 1, 3, 12, 4), (1, 4, 1, 5, 4)),
}


@pytest.mark.nightly
@pytest.mark.parametrize("shared", [False, True], ids=["local", "shared-local"])
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_kinds_of_convolution(run, kind, shared):
    """Sums of small integers are exact: a missing or extra product shows."""
    conv, data, weight = kind
    rng = np.random.default_rng(3)
    x, w = (accuracy.small_integers(rng, shape, "float32") for shape in (data, weight))
    t = [te.placeholder(v.shape, "float32", name) for v, name in ((x, "data"), (w, "weight"))]
    output = conv.compute(*t)
    tiling = Tiling(pixels=2, columns=4, channels=2, shared=shared)
    s = schedule(conv, *t, output, tiling)
    np.testing.assert_array_equal(run(s, [*t, output], x, w), reference(conv, x, w).exact)


def test_arguments_that_are_textures_already(run):
    """Caches of texture arguments add no copy: one kernel, and the same sums."""
    conv, data, weight = KINDS["padded"]
    rng = np.random.default_rng(3)
    x, w = (rng.standard_normal(shape).astype("float32") for shape in (data, weight))
    t = [te.placeholder(v.shape, "float32", name) for v, name in ((x, "data"), (w, "weight"))]
    output = conv.compute(*t)
    s = schedule(conv, *t, output, SMALL)
    scopes = {t[0]: "global.texture", t[1]: "global.texture:weight", output: "global.texture"}
    binds = {v: tvm.decl_buffer(v.shape, v.dtype, scope=scope) for v, scope in scopes.items()}
    assert len(tvm.build(s, [*t, output], binds=binds).kernels) == 1
    got = run(s, [*t, output], x, w, scopes=scopes)
    np.testing.assert_array_equal(got, run(s, [*t, output], x, w))
    accuracy.assert_sums(got, reference(conv, x, w))


def transposed(data, weight, stride):
    """Return a transposed convolution: a convolution over the dilated and zero-padded input."""
    n, groups, h, w, lanes = (int(v) for v in data.shape)
    window = int(weight.shape[2])
    frame = window - 1
    shape = (n, groups, (h - 1) * stride + 1 + 2 * frame, (w - 1) * stride + 1 + 2 * frame, lanes)

    def spread(n, c, y, x, lane):
        y, x = y - frame, x - frame
        inside = te.all(y >= 0, y < h * stride, x >= 0, x < w * stride)
        on_pixel = te.all(te.indexmod(y, stride) == 0, te.indexmod(x, stride) == 0)
        value = data[n, c, te.indexdiv(y, stride), te.indexdiv(x, stride), lane]
        return te.if_then_else(te.all(inside, on_pixel), value, 0.0)

    return te.compute(shape, spread, name="spread", tag="pad")


def test_transposed_convolution(run):
    """With stride 2, the result is, by definition, the sum of one window per input pixel."""
    rng = np.random.default_rng(4)
    x = accuracy.small_integers(rng, (1, 2, 5, 6, 4), "float32")
    w = accuracy.small_integers(rng, (3, 8, 3, 3, 4), "float32")
    t = [te.placeholder(v.shape, "float32", name) for v, name in ((x, "data"), (w, "weight"))]
    output = Convolution().compute(transposed(t[0], t[1], 2), t[1])
    s = schedule(Convolution(), *t, output, SMALL)
    expected = np.zeros((1, 3, 11, 13, 4))
    for y, column in np.ndindex(5, 6):
        pixel = x[0, :, y, column].reshape(-1)
        window = np.einsum("c,kcrsv->krsv", pixel, w[:, :, ::-1, ::-1])
        expected[0, :, 2 * y : 2 * y + 3, 2 * column : 2 * column + 3] += window
    np.testing.assert_array_equal(run(s, [*t, output], x, w), expected)


def test_texels_are_read_once_for_all_pixels():
    """The direct 1x1 convolution with registers reads once per pixel and channel."""
    t = te.placeholder((1, 2, 4, 8, 4), name="data"), te.placeholder((2, 8, 1, 1, 4), name="weight")
    conv = Convolution()
    output = conv.compute(*t)
    s = schedule(conv, *t, output, Tiling(pixels=4, columns=2, channels=2))
    source = tvm.build(s, [*t, output]).kernels[-1].source
    assert source.count("read_imagef(") == 4 + 4
