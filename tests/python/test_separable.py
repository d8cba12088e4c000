"""Depthwise convolutions and the products of their channels as one kernel."""

from __future__ import annotations

import numpy as np
import pytest

from texloom.graph import Graph
from texloom.ops.convolution import convolution
from texloom.ops.elementwise import add, relu

# Barriers under conditions would be wrong on a processor, where these tests run.
TARGET = "opencl -block_stack=0 -conditional_barriers=0"


def integers(*shape, seed=0):
    """Return small integers, whose sums of products are exact."""
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(np.float32)


def separable(size, channels, outputs, stride=1, kernel=3, readers=1, is_output=False):
    """Return a graph of a convolution, a depthwise one, and one that reads its pixels."""
    g = Graph("separable")
    x = g.input("x", (1, 3, *size))
    shapes = ((channels, 3, 1, 1), (channels, 1, kernel, kernel), (outputs, channels, 1, 1))
    w = [g.constant(f"w{i}", integers(*shape, seed=i)) for i, shape in enumerate(shapes)]
    bias = g.constant("bias", integers(channels, seed=5))
    (a,) = g.op("a", "Conv", convolution, [x, w[0]])

    def windows(data, weight, bias):
        pads = [kernel // 2] * 4
        return convolution(data, weight, bias, strides=[stride] * 2, pads=pads, groups=channels)

    (b,) = g.op("b", "Conv", windows, [a, w[1], bias])
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
    ((9, 5), 6, 10, 1, 3),  # channels that make no vectors of four
    ((4, 4), 64, 4, 2, 3),
    ((1, 1), 16, 16, 1, 3),
]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: "x".join(map(str, s[0])) + f"-{s[1]}")
def test_one_kernel_computes_both(shape):
    """The values are those of two kernels, for extents that tiles divide and others."""
    g = separable(*shape)
    joined, values = results(g, TARGET)
    apart, expected = results(g, "opencl")
    assert list(joined.summary["nodes"]) == ["a", "y"]
    assert joined.summary["launches"] < apart.summary["launches"]
    np.testing.assert_array_equal(values["y"], expected["y"])


def test_half_precision_rounds_less():
    """What the kernel passes on in shared memory is float32, and so is what it adds up."""
    g = separable((12, 12), 32, 16)
    joined, values = results(g, TARGET, precision="fp16")
    _, expected = results(g, "opencl")
    assert list(joined.summary["nodes"]) == ["a", "y"]
    # The numbers are integers: those of the first convolution, up to 27, are exact in float16.
    np.testing.assert_array_equal(values["y"], expected["y"])


@pytest.mark.parametrize("how", [{"readers": 2}, {"is_output": True}])
def test_what_others_read_is_computed_once(how):
    """A depthwise convolution with other readers has a kernel of its own."""
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
