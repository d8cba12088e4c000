"""Operators on infinities and NaN: as NumPy computes them."""

from dataclasses import replace

import numpy as np
import pytest

import texloom as tvm
from texloom import examples, ops, te
from texloom.examples.matmul import DIRECT, declarations, matmul, schedule_matmul
from texloom.tvm.testing import assert_allclose

ROWS, COLUMNS = 10, 12
INFINITE = (np.nan, np.inf, -np.inf)
NUMPY = {"maximum": np.maximum, "minimum": np.minimum}


def rows(dtype="float32"):
    """Return rows with one NaN or infinity, rows of NaN or infinity only, and rows of numbers."""
    values = np.random.default_rng(4).integers(-9, 10, (ROWS, COLUMNS)).astype(dtype)
    if values.dtype.kind != "f":
        return values
    for row, special in enumerate(INFINITE):
        values[row, row * 3] = special
        values[row + 3] = special
    values[6, [0, 5, 11]] = INFINITE
    values[7, [0, 5, 11]] = INFINITE[::-1]
    values[8, ::2] = -np.inf
    return values


def reduced(reducer, dtype):
    x, k = te.placeholder((ROWS, COLUMNS), dtype, name="X"), te.reduce_axis((0, COLUMNS), name="k")
    return x, te.compute((ROWS,), lambda i: reducer(x[i, k], axis=k), name="Y")


def bound_rows(s, stage):
    s[stage].bind(s[stage].op.axis[0], te.thread_axis("blockIdx.x"))


def by_threads(s, y):
    """Let four threads reduce a row together."""
    bound_rows(s, y)
    _, inner = s[y].split(y.op.reduce_axis[0], 4)
    s[y].bind(inner, te.thread_axis("threadIdx.x"))


def by_parts(s, y):
    """Reduce parts of a row in a separate stage."""
    _, inner = s[y].split(y.op.reduce_axis[0], 3)
    parts = s.rfactor(y, inner)
    bound_rows(s, parts)
    bound_rows(s, y)


def serial(s, y):
    bound_rows(s, y)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "uint8"])
@pytest.mark.parametrize("name", NUMPY)
@pytest.mark.parametrize("schedule", [serial, by_threads, by_parts], ids=lambda f: f.__name__)
def test_over_axes(run, schedule, name, dtype):
    x, y = reduced(getattr(ops, name), dtype)
    s = te.create_schedule(y.op)
    schedule(s, y)
    values = rows(dtype)
    np.testing.assert_array_equal(run(s, [x, y], values), NUMPY[name].reduce(values, axis=1))


@pytest.mark.parametrize("name", NUMPY)
def test_of_values(run, name):
    x = te.placeholder((ROWS, COLUMNS), name="X")
    y = te.compute(
        x.shape, lambda i, j: getattr(ops, name)(x[i, j], x[i, COLUMNS - 1 - j], 2.0), name="Y"
    )
    s = te.create_schedule(y.op)
    bound_rows(s, y)
    values = rows()
    function = NUMPY[name]
    expected = function(function(values, values[:, ::-1]), np.float32(2))
    np.testing.assert_array_equal(run(s, [x, y], values), expected)


def test_relu_and_clip(run):
    x = te.placeholder((ROWS, COLUMNS), name="X")
    relu = te.compute(x.shape, lambda *i: ops.maximum(x(*i), 0.0), name="relu")
    clip = te.compute(x.shape, lambda *i: ops.minimum(ops.maximum(x(*i), -3.0), 3.0), name="clip")
    s = te.create_schedule([relu.op, clip.op])
    bound_rows(s, relu)
    bound_rows(s, clip)
    values = rows()
    of_relu, of_clip = run(s, [x, relu, clip], values)
    np.testing.assert_array_equal(of_relu, np.maximum(values, 0))
    np.testing.assert_array_equal(of_clip, np.clip(values, -3, 3))


def test_max_pooling(run):
    """Windows read minus infinity outside the image, which never exceeds an element."""
    x = te.placeholder((ROWS, COLUMNS), name="X")
    ky, kx = (te.reduce_axis((0, 3), name=name) for name in ("ky", "kx"))

    def padded(i, j):
        inside = te.all(i >= 1, i <= ROWS, j >= 1, j <= COLUMNS)
        return te.if_then_else(inside, x[i - 1, j - 1], te.const(-np.inf, "float32"))

    p = te.compute((ROWS + 2, COLUMNS + 2), padded, name="P")
    y = te.compute(x.shape, lambda i, j: ops.maximum(p[i + ky, j + kx], axis=[ky, kx]), name="Y")
    s = te.create_schedule(y.op)
    s[p].compute_inline()
    bound_rows(s, y)
    values = rows()
    windows = np.lib.stride_tricks.sliding_window_view(
        np.pad(values, 1, constant_values=-np.inf), (3, 3)
    )
    np.testing.assert_array_equal(run(s, [x, y], values), windows.max(axis=(2, 3)))


def test_masked_softmax(run):
    """A row of minus infinities gives NaN, as exp(-inf - -inf) does; other rows get exact zeros."""
    x, peak = reduced(ops.maximum, "float32")
    k = te.reduce_axis((0, COLUMNS), name="l")
    e = te.compute(x.shape, lambda i, j: te.exp(x[i, j] - peak[i]), name="E")
    total = te.compute((ROWS,), lambda i: te.sum(e[i, k], axis=k), name="total")
    y = te.compute(x.shape, lambda i, j: e[i, j] / total[i], name="Y")
    s = te.create_schedule(y.op)
    for stage in (peak, e, total, y):
        bound_rows(s, stage)
    values = rows()
    with np.errstate(invalid="ignore"):
        exact = np.exp(values.astype("float64") - values.max(axis=1, keepdims=True))
        exact /= exact.sum(axis=1, keepdims=True)
    result = run(s, [x, y], values)
    # In OpenCL, exp is within 4 ulp and a quotient within 2.5; each of 12 sums rounds once.
    assert_allclose(result, exact, rtol=(4 * 2 + 12 + 3) * 2.0**-23)
    assert (result[8, ::2] == 0).all()
    assert np.isnan(result[5]).all()


@pytest.mark.parametrize("storage", ["texture", "buffer"])
def test_conv2d(storage, dev):
    """Zeros of padding and of unused lanes spread no infinity or NaN to other outputs."""
    rng = np.random.default_rng(5)
    data = rng.integers(1, 9, (1, 5, 9, 11)).astype("float32")
    data[0, (0, 2, 4), (0, 4, 8), (0, 6, 10)] = INFINITE
    weight = rng.integers(1, 9, (6, 5, 3, 3)).astype("float32")
    weight[3, 1, 1, 1], weight[5, 4, 0, 2] = np.inf, np.nan
    layer = examples.Conv2dLayer(data, weight, storage, dev)
    layer.run()
    with np.errstate(invalid="ignore"):
        # SciPy's convolution, the reference of other tests, drops weights that are NaN.
        padded = np.pad(data, ((0, 0), (0, 0), (1, 1), (1, 1)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
        exact = np.einsum("niyxkl,oikl->noyx", windows, weight)
    np.testing.assert_array_equal(layer.output(), exact)


@pytest.mark.parametrize("storage", ["texture", "buffer"])
def test_matmul(storage, dev):
    a, b, c = matmul(32, 64, 8)
    tiles = replace(DIRECT, block=(32, 32, 0), lanes=(4, 4))
    f = tvm.build(schedule_matmul(a, b, c, tiles), [a, b, c], binds=declarations((a, b), storage))
    rng = np.random.default_rng(6)
    x, y = (rng.integers(1, 9, (8, n)).astype("float32") for n in (32, 64))
    x[(0, 3, 7), (0, 9, 31)] = INFINITE
    y[2, 5] = -np.inf
    with np.errstate(invalid="ignore"):
        exact = np.einsum("km,kn->mn", x.astype("float64"), y.astype("float64"))
    on_device = [tvm.nd.array(v, dev, "texture" if storage == "texture" else None) for v in (x, y)]
    np.testing.assert_array_equal(f(*on_device).numpy(), exact)
