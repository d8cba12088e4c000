"""Depthwise convolutions and the products of their channels as one kernel."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from texloom.graph import Graph
from texloom.ops.convolution import convolution
from texloom.ops.elementwise import add, multiply, relu

# Barriers under conditions would be wrong on a processor, where these tests run.
TARGET = "opencl -device_class=gpu -conditional_barriers=0"


def integers(*shape, seed=0):
    """Return small integers, whose sums of products are exact."""
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(np.float32)


def depthwise(data, weight, bias=None, stride=1):
    """Convolve each channel by itself, and keep the size."""
    kernel, channels = int(weight.shape[2]), int(weight.shape[0])
    pads = [kernel // 2] * 4
    return convolution(data, weight, bias, strides=[stride] * 2, pads=pads, groups=channels)


def separable(size, channels, outputs, stride=1, kernel=3, readers=1, is_output=False, factor=1):
    """Return a graph: a convolution, a depthwise convolution, and readers of its pixels."""
    g = Graph("separable")
    x = g.input("x", (1, 3, *size))
    shapes = ((channels, 3, 1, 1), (channels, 1, kernel, kernel), (outputs, channels, 1, 1))
    w = [
        g.constant(f"w{i}", integers(*shape, seed=i) * (factor if i == 1 else 1))
        for i, shape in enumerate(shapes)
    ]
    bias = g.constant("bias", integers(channels, seed=5))
    (a,) = g.op("a", "Conv", convolution, [x, w[0]])
    (b,) = g.op("b", "Conv", partial(depthwise, stride=stride), [a, w[1], bias])
    (r,) = g.op("r", "Relu", relu, [b])
    (y,) = g.op("y", "Conv", convolution, [r, w[2]])
    if readers == 2:
        (z,) = g.op("z", "Add", add, [r, a])
        g.output(z)
    if is_output:
        g.output(r)
    g.output(y)
    return g


def results(g, target, **options):
    """Return the compiled graph, and its outputs for a picture."""
    compiled = g.compile(target, **options)
    picture = integers(*g.inputs[0].shape, seed=9)
    return compiled, compiled.run({"x": picture})


SHAPES = [
    ((12, 12), 32, 16, 1, 3),
    ((13, 11), 24, 40, 2, 3),
    ((7, 7), 48, 24, 1, 5),
    ((9, 5), 6, 10, 1, 3),  # channel counts that four does not divide
    ((4, 4), 64, 4, 2, 3),
    ((1, 1), 16, 16, 1, 3),
]


@pytest.mark.nightly
@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: "x".join(map(str, s[0])) + f"-{s[1]}")
def test_one_kernel_computes_both(shape):
    """The values are those of two kernels, whether or not tiles divide the extents."""
    g = separable(*shape)
    joined, values = results(g, TARGET)
    apart, expected = results(g, "opencl")
    assert list(joined.summary["nodes"]) == ["a", "y"]
    assert list(apart.summary["nodes"]) == ["a", "r", "y"]
    np.testing.assert_array_equal(values["y"], expected["y"])


def test_half_precision_rounds_less():
    """Shared memory between the two convolutions holds float32, and sums are float32."""
    factor = 229  # odd, so that float16 cannot represent its products' sums, which exceed 2048
    g = separable((12, 12), 32, 16, factor=factor)
    joined, values = results(g, TARGET, precision="fp16")
    _, expected = results(g, "opencl")
    assert list(joined.summary["nodes"]) == ["a", "y"]
    apart, rounded = results(g, TARGET, precision="fp16", passes=("store_halves",))
    assert "b" in apart.summary["nodes"]
    np.testing.assert_array_equal(values["y"], expected["y"])
    assert np.any(rounded["y"] != expected["y"])


def test_branches_are_joined_each_with_its_own():
    """Convolutions of one branch are joined, although operators of two branches are interleaved."""
    g = Graph("branches")
    x = g.input("x", (1, 16, 8, 8))
    ends = []
    for i in range(2):
        w = g.constant(f"w{i}", integers(16, 1, 3, 3, seed=i))
        ends.append(g.op(f"d{i}", "Conv", depthwise, [x, w])[0])
    for i in (1, 0):
        w = g.constant(f"p{i}", integers(16, 16, 1, 1, seed=5 + i))
        ends[i] = g.op(f"y{i}", "Conv", convolution, [ends[i], w])[0]
    (y,) = g.op("y", "Add", add, ends)
    g.output(y)
    joined, values = results(g, TARGET)
    _, expected = results(g, "opencl")
    assert list(joined.summary["nodes"]) == ["y1", "y"]
    np.testing.assert_array_equal(values["y"], expected["y"])


def test_what_reads_a_sum_twice_stays_apart():
    """x * relu(x) of a depthwise convolution is not a chain, so it is not joined."""
    g = Graph("swish")
    x = g.input("x", (1, 16, 8, 8))
    w = [g.constant("w0", integers(16, 1, 3, 3)), g.constant("w1", integers(16, 16, 1, 1))]
    (d,) = g.op("d", "Conv", depthwise, [x, w[0]])
    (r,) = g.op("r", "Relu", relu, [d])
    (m,) = g.op("m", "Mul", multiply, [d, r])
    (y,) = g.op("y", "Conv", convolution, [m, w[1]])
    g.output(y)
    apart, values = results(g, TARGET)
    _, expected = results(g, "opencl")
    assert list(apart.summary["nodes"]) == ["m", "y"]
    assert set(apart.summary["nodes"].values()) == {"channels last"}
    np.testing.assert_array_equal(values["y"], expected["y"])


@pytest.mark.parametrize("target", ["opencl -device=mali", "opencl -device=adreno"])
def test_blocks_fit_the_target(target):
    """Tiles are within the threads and the shared memory that a target has."""
    separable((56, 56), 512, 128).compile(target)


@pytest.mark.parametrize("how", [{"readers": 2}, {"is_output": True}])
def test_what_others_read_is_computed_once(how):
    """A depthwise convolution has its own kernel if it is an output or has a second reader."""
    g = separable((12, 12), 32, 16, **how)
    apart, values = results(g, TARGET)
    _, expected = results(g, "opencl")
    assert "r" in apart.summary["nodes"]
    for name, each in expected.items():
        np.testing.assert_array_equal(values[name], each)


def test_more_pixels_than_shared_memory_holds_stay_apart():
    """All channels of a pixel have to fit into a block's memory."""
    g = separable((4, 4), 16384, 4)
    apart, values = results(g, TARGET)
    _, expected = results(g, "opencl")
    assert "r" in apart.summary["nodes"]
    np.testing.assert_array_equal(values["y"], expected["y"])
