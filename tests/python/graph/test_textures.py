"""Operators of graphs in textures: which tensors they can store there, and equal values."""

import re

import numpy as np
import pytest
from conftest import plain_target

from texloom import extents, te
from texloom.building import program
from texloom.graph import Graph
from texloom.ops.convolution import convolution
from texloom.ops.schedules import schedule_default
from texloom.ops.schedules.texels import activation_storage, weight_storage
from texloom.target import TargetValue

RNG = np.random.default_rng(5)

OPENCL = TargetValue("opencl")


def integers(*shape):
    """Small integers, whose sums are exact in float32."""
    return RNG.integers(-4, 5, shape).astype("float32")


def network(channels, hidden, size):
    """Two convolutions with a rectified sum around the second one."""
    weights = integers(hidden, channels, 3, 3), integers(hidden, hidden, 1, 1)
    g = Graph("small")
    x = g.input("x", (1, channels, *size))
    first, second = (g.constant(f"w{i}", w) for i, w in enumerate(weights))

    def padded(data, weight):
        return convolution(data, weight, pads=[1, 1, 1, 1])

    def rectified(a, b):
        return te.compute(a.shape, lambda *i: te.max(a(*i) + b(*i), te.const(0, a.dtype)))

    (a,) = g.op("a", "Conv", padded, [x, first])
    (b,) = g.op("b", "Conv", convolution, [a, second])
    (y,) = g.op("y", "AddRelu", rectified, [a, b])
    g.output(y)
    return g


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("channels", "hidden", "size"),
    [(4, 8, (6, 8)), (3, 6, (5, 7)), (1, 1, (4, 1)), (5, 13, (1, 9))],
)
def test_values_are_those_of_buffers(dev, channels, hidden, size):
    g = network(channels, hidden, size)
    x = {"x": integers(1, channels, *size)}
    in_buffers, in_textures = (g.compile(scopes=each) for each in ("global", "texture"))
    assert set(in_textures.summary["nodes"].values()) == {"texture"}
    assert "texture" not in in_buffers.summary["nodes"].values()
    wanted = in_buffers.run(x, dev)["y"]
    assert wanted.any()
    np.testing.assert_array_equal(in_textures.run(x, dev)["y"], wanted)


def test_what_textures_cannot_hold_stays_in_buffers(dev):
    """Sums of integers are exact, so they must not be rounded to floats."""
    g = Graph("integers")
    x = g.input("x", (2, 8), "int64")
    (y,) = g.op("y", "Twice", lambda a: te.compute(a.shape, lambda *i: a(*i) * 2), [x])
    g.output(y)
    compiled = g.compile(scopes="texture")
    assert compiled.summary["nodes"] == {"y": "global"}
    values = np.arange(16, dtype="int64").reshape(2, 8) + 2**40
    np.testing.assert_array_equal(compiled.run({"x": values}, dev)["y"], values * 2)


@pytest.mark.parametrize(
    ("shape", "dtype", "is_texel"),
    [
        ((1, 3, 224, 224), "float32", True),
        ((1, 512, 7, 7), "float16", True),
        ((8, 100), "float32", True),
        ((1, 3, 8, 8), "int32", False),
        ((), "float32", False),
        ((1, 2, 3, 4, 5, 6, 7), "float32", False),
        ((1, 4, 20000, 8), "float32", True),
        ((1, 4, 70000, 8000), "float32", False),
    ],
)
def test_activations(shape, dtype, is_texel):
    assert (activation_storage(shape, dtype, OPENCL) != "global") == is_texel


def test_weights():
    assert "lanes=o%4" in weight_storage((32, 16, 3, 3), "float32", OPENCL)
    assert weight_storage((32, 16), "float32", OPENCL) == "global"
    # 36,864 texels in a row are folded, if there is room for so many rows.
    assert weight_storage((32, 4096, 3, 3), "float32", OPENCL) != "global"
    small = TargetValue("opencl -texture_spatial_limit=128")
    assert weight_storage((32, 4096, 3, 3), "float32", small) == "global"


def test_open_sizes_start_below_the_limit():
    """Tensors with open sizes are not folded, so even their known extents must fit an image."""
    shape = (9000, extents.symbol("n"), 4)
    assert activation_storage(shape, "float32", OPENCL) == "global"
    large = TargetValue("opencl -texture_spatial_limit=16384")
    assert activation_storage(shape, "float32", large) != "global"


@pytest.mark.parametrize("shape", [(1, 12, 20000, 2), (1, 4, 2, 40000), (70000, 4), (40000,)])
def test_what_exceeds_an_image_is_folded(dev, shape):
    g = Graph("large")
    x = g.input("x", shape)
    (a,) = g.op("a", "Twice", lambda a: te.compute(a.shape, lambda *i: a(*i) * 2.0), [x])
    g.output(*g.op("y", "Next", lambda a: te.compute(a.shape, lambda *i: a(*i) + 1.0), [a]))
    compiled = g.compile(plain_target(dev), scopes="texture", passes=())
    assert set(compiled.summary["nodes"].values()) == {"texture"}
    values = integers(*shape)
    np.testing.assert_array_equal(compiled.run({"x": values}, dev)["y"], values * 2 + 1)


@pytest.mark.parametrize("shape", [(2, 6, 8), (2, 8, 6, 5)])
def test_lanes_of_sums_are_those_of_the_output(shape):
    """The loop over the lanes of a texel is unrolled, whatever axis the lanes are along."""
    axis = 1 if len(shape) == 4 else 2
    x = te.placeholder((*shape, 16), name="x")
    k = te.reduce_axis((0, 16), name="k")
    y = te.compute(shape, lambda *i: te.sum(x(*i, k), axis=k), name="y")
    text = str(program(schedule_default([y], [x], ("global", "texture"), OPENCL), [x, y]))
    (unrolled,) = re.findall(r"unroll (\S+)\.c\n", text)
    assert unrolled == f"i{axis}"
