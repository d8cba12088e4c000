"""Operators that join tensors, whose parts are written in the memory of the whole."""

import numpy as np
import pytest
from conftest import plain_target

from texloom import te
from texloom.graph import Graph, graph_passes
from texloom.ops.movement import concatenate


def tripled(x):
    return te.compute(x.shape, lambda *i: x(*i) * 3.0, name="tripled")


def shifted(x):
    return te.compute(x.shape, lambda *i: x(*i) + 1.0, name="shifted")


def joined(*parts, axis=1):
    return concatenate(*parts, axis=axis)


def swapped(a, b):
    return concatenate(b, a, axis=1)


def network(join, channels=4):
    g = Graph("joins")
    x = g.input("x", (1, channels, 8, 16))
    (a,) = g.op("a", "tripled", tripled, [x])
    (b,) = g.op("b", "shifted", shifted, [x])
    (whole,) = g.op("whole", "concat", join, [a, b])
    (y,) = g.op("y", "shifted", shifted, [whole])
    g.output(y)
    return g


def values(channels=4):
    shape = (1, channels, 8, 16)
    return np.random.default_rng(1).uniform(-1, 1, shape).astype("float32")


@pytest.mark.parametrize("scopes", ["global", "texture"])
def test_parts_are_written_in_place(dev, scopes):
    x = values()
    compiled = network(joined).compile(plain_target(dev), scopes=scopes)
    assert compiled.summary["nodes"]["whole"] == "in place"
    assert compiled.summary["launches"] == 3
    expected = np.concatenate([x * np.float32(3), x + np.float32(1)], 1) + np.float32(1)
    assert (compiled.run({"x": x}, dev)["y"] == expected).all()


@pytest.mark.parametrize("scopes", ["global", "texture"])
def test_parts_of_some_lanes_of_a_texel(dev, scopes):
    x = values(3)
    compiled = network(joined, 3).compile(plain_target(dev), scopes=scopes)
    expected = np.concatenate([x * np.float32(3), x + np.float32(1)], 1) + np.float32(1)
    assert (compiled.run({"x": x}, dev)["y"] == expected).all()


def test_another_order_is_no_concatenation(dev):
    x = values()
    compiled = network(swapped).compile(plain_target(dev))
    assert "in place" not in compiled.summary["nodes"].values()
    expected = np.concatenate([x + np.float32(1), x * np.float32(3)], 1) + np.float32(1)
    assert (compiled.run({"x": x}, dev)["y"] == expected).all()


def test_without_the_pass_parts_are_copied(dev):
    x = values()
    passes = [each for each in graph_passes() if each != "join_in_place"]
    compiled = network(joined).compile(plain_target(dev), passes=passes)
    assert "in place" not in compiled.summary["nodes"].values()
    expected = np.concatenate([x * np.float32(3), x + np.float32(1)], 1) + np.float32(1)
    assert (compiled.run({"x": x}, dev)["y"] == expected).all()


def test_no_attribute_makes_a_concatenation(dev):
    """An operator that only claims to join in an attribute is not treated as a concatenation."""
    g = Graph("words")
    x = g.input("x", (128,))
    (a,) = g.op("a", "tripled", tripled, [x])
    (b,) = g.op("b", "shifted", shifted, [a], {"joins_along": 0})
    (y,) = g.op("y", "tripled", tripled, [b])
    g.output(y)
    values = np.arange(128, dtype="float32")
    compiled = g.compile(plain_target(dev), passes=("join_in_place",))
    assert (compiled.run({"x": values}, dev)["y"] == (values * 3 + 1) * 3).all()


@pytest.mark.parametrize(
    ("shape", "indices"),
    [((8, 8), lambda i, j: (j % 4, i % 8)), ((4, 16), lambda i, j: (i, j % 8)), ((4, 8, 2), None)],
)
def test_no_tag_makes_a_concatenation(dev, shape, indices):
    def tagged(a, b):
        def element(*i):
            return a(*(i[:2] if indices is None else indices(*i))) + b(0, 0)

        return te.compute(shape, element, tag="joined")

    g = Graph("tags")
    x = g.input("x", (4, 8))
    (a,) = g.op("a", "tripled", tripled, [x])
    (b,) = g.op("b", "shifted", shifted, [x])
    (whole,) = g.op("whole", "tagged", tagged, [a, b])
    (y,) = g.op("y", "tripled", tripled, [whole])
    g.output(y)
    values = np.arange(32, dtype="float32").reshape(4, 8)
    at = np.indices(shape)
    read = (at[0], at[1]) if indices is None else indices(at[0], at[1])
    read = tuple(np.broadcast_to(each, shape) for each in read)
    expected = (values[read] * 3 + 1) * 3
    assert (g.compile(plain_target(dev)).run({"x": values}, dev)["y"] == expected).all()
