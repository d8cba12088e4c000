"""Schedules of convolutions and products: number and size of kernels, and right results."""

from __future__ import annotations

import numpy as np
import pytest
from node_peers import model_of, named, onnxruntimes, random

import texloom as tvm
from texloom import te
from texloom.examples.rounding import FLOAT32_ROUNDOFF, gamma
from texloom.onnx.model import Model
from texloom.ops.convolution import convolution, transposed_convolution
from texloom.ops.elementwise import add
from texloom.ops.products import matmul
from texloom.ops.schedules import schedule_default
from texloom.target import TargetValue

PROCESSOR, OTHER = TargetValue("opencl"), TargetValue("opencl -device_class=gpu")


def built(compute, *shapes, target=PROCESSOR):
    inputs = [te.placeholder(shape, name=f"x{i}") for i, shape in enumerate(shapes)]
    output = compute(*inputs)
    scopes = ["global"] * (len(inputs) + 1)
    return tvm.build(schedule_default([output], inputs, scopes, target), [*inputs, output], target)


@pytest.mark.parametrize("target", [PROCESSOR, OTHER])
@pytest.mark.parametrize(
    ("shape", "window", "pads"),
    [
        ((1, 96, 80, 80), 1, 0),  # all 6,400 pixels are columns: tiles cross rows
        ((1, 64, 56, 56), 3, 1),
        ((1, 64, 23, 37), 3, 1),
        ((1, 64, 7, 7), 5, 2),
        ((1, 64, 1, 1), 1, 0),
    ],
)
def test_kernels_are_few_and_small(shape, window, pads, target):
    """The kernel that computes the sums adds the bias; only a border needs its own kernel.

    A kernel has a few hundred statements: a tile has up to 8 rows of 16 columns.
    """
    weight = (64, shape[1], window, window)
    function = built(
        lambda x, w, b: convolution(x, w, b, pads=[pads] * 4), shape, weight, (64,), target=target
    )
    assert len(function.kernels) == 1 + (pads > 0)
    assert function.get_source().count(";") < 800


def test_columns_are_vectors():
    """A row of 40 columns is computed as vectors of 8, whatever the number of rows."""
    function = built(lambda x, w: convolution(x, w, pads=[1] * 4), (1, 5, 9, 40), (7, 5, 3, 3))
    assert "vload8" in function.get_source()


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_code_of_open_columns_is_short(dtype):
    """The rows of a tile that may end at any column are a loop: each statement has bounds tests."""
    rows, shared, columns = te.var("rows"), te.var("shared"), te.var("columns")
    x, w = te.placeholder((rows, shared), dtype), te.placeholder((shared, columns), dtype)
    output = matmul(x, w)
    s = schedule_default([output], [x, w], ["global"] * 3, PROCESSOR)
    function = tvm.build(s, [x, w, output], PROCESSOR)
    assert len(function.get_source()) < 8192
    a, b = random(1, 19, 6).astype(dtype), random(2, 6, 37).astype(dtype)
    exact, magnitudes = (
        f(a).astype("float64") @ f(b).astype("float64") for f in (np.positive, abs)
    )
    rounding = np.spacing(np.abs(exact).astype(dtype)).astype("float64") / 2
    bound = gamma(6, FLOAT32_ROUNDOFF) * magnitudes + rounding
    assert (np.abs(function(a, b).astype("float64") - exact) <= bound).all()


def test_taps_of_a_transposed_convolution():
    """If the stride is the window's size, each output has one tap, so no loop over taps."""
    function = built(
        lambda x, w: transposed_convolution(x, w, extents=[32, 32], strides=[2, 2]),
        (1, 6, 16, 16),
        (6, 4, 2, 2),
    )
    source = function.get_source()
    assert source.count("for (") == 1 and "for (int c = 0; c < 6" in source


def test_products_are_one_kernel():
    function = built(matmul, (3, 40, 50), (50, 64))
    assert len(function.kernels) == 1


MODELS = {
    "dense": ("Conv", [(2, 5, 9, 12), (19, 5, 3, 3), (19,)], {"pads": [1, 1, 1, 1]}, 45),
    "odd": ("Conv", [(1, 5, 7, 11), (6, 5, 3, 3), (6,)], {"pads": [1, 1, 1, 1]}, 45),
    "depthwise": ("Conv", [(1, 6, 9, 16), (6, 1, 5, 5)], {"group": 6, "strides": [2, 2]}, 25),
    "pointwise": ("Conv", [(1, 33, 6, 6), (20, 33, 1, 1), (20,)], {}, 33),
    "product": ("MatMul", [(3, 21, 30), (30, 44)], {}, 30),
    "row": ("MatMul", [(30,), (30, 44)], {}, 30),
}


@pytest.mark.parametrize("name", MODELS)
def test_blocks_of_many_threads(name):
    """Devices other than processors have blocks of up to 128 threads, and smaller tiles."""
    op, shapes, attributes, terms = MODELS[name]
    inputs = [random(i, *shape) for i, shape in enumerate(shapes)]
    model = model_of(op, inputs, **attributes)
    (got,) = Model(model, OTHER).run(named(inputs)).values()
    (expected,) = onnxruntimes(model, inputs)
    (magnitudes,) = onnxruntimes(model, [np.abs(each) for each in inputs])
    bound = 2 * gamma(terms + 2, FLOAT32_ROUNDOFF) * magnitudes
    assert (np.abs(got - expected) <= bound).all()


@pytest.mark.parametrize("shape", [(1, 3, 1 << 20), (1 << 19, 3, 8)])
def test_grids_of_many_blocks(shape):
    """OpenCL on NVIDIA's devices has at most 65,535 blocks along y."""
    function = built(lambda x, w: convolution(x, w), shape, (5, 3, 1), target=OTHER)
    assert all(kernel.grid[1] <= 65535 for kernel in function.kernels)


def test_sum_of_two_convolutions():
    """The second convolution's kernel adds the first's result; each has a border kernel."""
    weight = (5, 3, 3, 3)
    function = built(
        lambda x, w, b, v, c: add(
            convolution(x, w, b, pads=[1] * 4), convolution(x, v, c, pads=[1] * 4)
        ),
        *((1, 3, 7, 7), weight, (5,), weight, (5,)),
    )
    assert len(function.kernels) == 4
