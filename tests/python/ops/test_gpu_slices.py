"""Sums with few results, of integers, which are exact: products of few rows, means of pixels."""

import numpy as np
import pytest

import texloom
from texloom import nd, te
from texloom.ops.products import matmul
from texloom.ops.schedules.channels_last.layouts import activation_layout
from texloom.ops.schedules.default import schedule_default
from texloom.ops.schedules.family import KernelTask
from texloom.ops.schedules.gpu.slices import PIXELS, PRODUCTS_OF_FEW_ROWS, Slices
from texloom.target import Target
from texloom.tir import decl_buffer

TARGET = "opencl -device=nvidia -conditional_barriers=0"  # PoCL has no such barriers


def integers(shape, seed, dtype="float32"):
    return np.random.default_rng((seed, *shape)).integers(-4, 5, shape).astype(dtype)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((1, 768), (768, 1000)),  # the last block has fewer columns
        ((3, 40), (40, 52)),
        ((2, 1, 97), (2, 97, 7)),  # a batch; no vectors; a prime number of steps
        ((8, 13), (13, 5)),
        ((1, 1), (1, 3)),
        ((1, 300), (300, 1)),
        ((64,), (64, 10)),  # a vector
        ((2, 3, 64), (64, 64)),  # a batch that shares the matrix
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", ["float32", "float16", "float64", "int32"])
def test_products(left, right, dtype):
    """The epilogue is computed by the threads that write the result."""
    a, b = (te.placeholder(shape, dtype, name=n) for n, shape in (("A", left), ("B", right)))
    c = te.placeholder(right[-1:], dtype, name="C")
    sums = matmul(a, b)
    y = te.compute(sums.shape, lambda *i: te.max(sums(*i) + c(i[-1]), te.const(0, dtype)))
    value = Target(TARGET).value
    s = schedule_default([y], [a, b, c], ["global"] * 4, value)
    f = texloom.build(s, [a, b, c, y], TARGET)
    arrays = [integers(left, 0, dtype), integers(right, 1, dtype), integers(right[-1:], 2, dtype)]
    x, w, bias = (each.astype("float64") for each in arrays)
    np.testing.assert_array_equal(f(*arrays), np.maximum(x @ w + bias, 0).astype(dtype))


def test_a_product_without_epilogue():
    a, b = te.placeholder((2, 24), name="A"), te.placeholder((24, 12), name="B")
    y = matmul(a, b)
    s = schedule_default([y], [a, b], ["global"] * 3, Target(TARGET).value)
    f = texloom.build(s, [a, b, y], TARGET)
    x, w = integers((2, 24), 0), integers((24, 12), 1)
    np.testing.assert_array_equal(f(x, w), x @ w)


def knobs_of(sums, root, target):
    return PRODUCTS_OF_FEW_ROWS.default(KernelTask.of_sums(sums, root, target))


def test_knobs():
    """A block has whole lines of columns, and threads that share all steps evenly if possible."""
    assert Slices.of(1000, 768, 256, 128) == Slices(8, 4, 32)
    assert Slices.of(10, 64, 256, 128) == Slices(5, 2, 32)
    assert Slices.of(7, 97, 256, 128) == Slices(7, 1, 36)
    assert Slices.of(8, 4, 256, 128) == Slices(2, 4, 4)
    assert Slices.of(4096, 4096, 32, 128) == Slices(8, 4, 4)


def test_slices_fit_the_shared_memory():
    """Eight rows of float64 have few threads; a device without room has none."""
    a, b = te.placeholder((8, 64), "float64"), te.placeholder((64, 64), "float64")
    sums = matmul(a, b)
    knobs = knobs_of(sums, sums, Target(TARGET).value)
    assert 8 * 8 * knobs.columns * knobs.lanes * knobs.slices <= 32 << 10
    few = Target(TARGET + " -max_local_memory=4096").value
    assert knobs_of(sums, sums, few) is None
    assert knobs_of(sums, sums, Target("opencl -device=mali").value) is None


def test_the_estimate_uses_all_processors():
    """A row of a few hundred columns has as many blocks; a large matrix is read in wide parts."""
    target = Target(TARGET).value
    knobs = []
    for steps, columns in ((2048, 1000), (4096, 16384)):
        sums = matmul(te.placeholder((1, steps)), te.placeholder((steps, columns)))
        knobs.append(knobs_of(sums, sums, target))
    assert 1000 / (knobs[0].columns * knobs[0].lanes) >= 100
    assert knobs[1].columns * knobs[1].lanes >= 8


def test_other_products_have_other_schedules():
    """More rows have tiles; processors have none of this."""
    a, b = te.placeholder((9, 64)), te.placeholder((64, 64))
    sums = matmul(a, b)
    assert knobs_of(sums, sums, Target(TARGET).value) is None
    row = matmul(te.placeholder((1, 64)), b)
    assert knobs_of(row, row, Target(TARGET).value) is not None
    assert knobs_of(row, row, Target("opencl").value) is None


@pytest.mark.parametrize("shape", [(1, 32, 40, 30), (2, 7, 5, 3), (1, 144, 9, 9), (1, 40, 1200)])
@pytest.mark.parametrize("keeps_axes", [True, False])
def test_means_of_pixels(shape, keeps_axes):
    """Channels are last: many pixels have narrow blocks."""
    x = te.placeholder(shape, name="X")
    axes = [te.reduce_axis((0, extent)) for extent in shape[2:]]
    sums = te.compute(
        (*shape[:2], *[1] * (len(axes) * keeps_axes)),
        lambda n, c, *_: te.sum(x(n, c, *axes), axis=axes),
        name="sums",
    )
    y = te.compute(sums.shape, lambda *i: sums(*i) * 0.5, name="Y")
    value = Target(TARGET).value
    layout = activation_layout(len(shape))
    task = KernelTask([sums, y], [y], y, value, sums, {x.op: layout})
    assert PIXELS.default(task) is not None
    s = schedule_default([y], [x], [layout, "global"], value)
    f = texloom.build(s, [x, y], TARGET, binds={x: decl_buffer(shape, "float32", layout=layout)})
    given, device = integers(shape, 0), texloom.device("opencl", 0)
    result = nd.empty(tuple(map(int, sums.shape)), "float32", device)
    f(nd.array(given, device, layout=layout), result)
    expected = given.reshape(*shape[:2], -1).sum(-1).reshape(result.shape) * 0.5
    np.testing.assert_array_equal(result.numpy(), expected)
