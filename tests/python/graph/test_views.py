"""Views give a tensor another shape, without a kernel where both can share memory."""

from functools import partial

import numpy as np
import pytest

from texloom import te
from texloom.examples.texel_schedules import spread
from texloom.graph import Graph, load
from texloom.ops.movement import reshape


def scaled(x, by=2.0):
    return te.compute(x.shape, lambda *i: x(*i) * by, name="scaled")


def row_sum(x):
    """Sum the last axis; this operator is fused with no other one."""
    k = te.reduce_axis((0, x.shape[-1]), name="k")
    return te.compute(x.shape[:-1], lambda *i: te.sum(x(*i, k), axis=k), name="row_sum")


def counted(*shape):
    return np.arange(np.prod(shape), dtype="float32").reshape(shape)


class Chain:
    """A graph that is built one operator after another, and the values of its inputs."""

    def __init__(self):
        self.graph = Graph("chain")
        self.inputs = {}

    def input(self, name, *shape):
        self.inputs[name] = counted(*shape)
        return self.graph.input(name, shape)

    def add(self, name, function, *inputs, **settings):
        (made,) = self.graph.op(name, name, partial(function, **settings), inputs)
        return made

    def view(self, name, x, *shape):
        return self.add(name, reshape, x, shape=shape)


def test_view_between_kernels_takes_none(dev, tmp_path):
    """Views of views take no kernel either. Memory stays in use while any view of it is read."""
    c = Chain()
    sums = c.add("sums", row_sum, c.input("x", 4, 6, 5))
    flat = c.view("flat", sums, 24)
    wide = c.view("wide", flat, 3, 8)
    other = c.add("other", row_sum, wide)
    for i in range(3):  # temporaries that may reuse memory that is no longer read
        other = c.add(f"other{i}", row_sum, c.view(f"column{i}", other, 3, 1))
    total = c.add("total", row_sum, flat)
    c.graph.output(other)
    c.graph.output(total)
    compiled = c.graph.compile()
    nodes = compiled.summary["nodes"]
    assert {n for n, how in nodes.items() if how == "in place"} >= {"flat", "wide", "column2"}
    assert compiled.summary["call_sites"] == 6
    x = c.inputs["x"].sum(axis=2)
    compiled.save(tmp_path / "views.tlp")
    for graph in (compiled, load(tmp_path / "views.tlp")):
        got = graph.run(c.inputs, dev)
        assert (got["other2"] == x.reshape(3, 8).sum(axis=1)).all()
        assert got["total"] == x.sum()


def test_two_views_of_one_tensor(dev):
    c = Chain()
    sums = c.add("sums", row_sum, c.input("x", 4, 6, 5))
    for name, shape in (("a", (6, 4)), ("b", (2, 12))):
        c.graph.output(c.add(name, row_sum, c.view(f"view_{name}", sums, *shape)))
    compiled = c.graph.compile()
    assert compiled.summary["call_sites"] == 3
    x = c.inputs["x"].sum(axis=2)
    got = compiled.run(c.inputs, dev)
    assert (got["a"] == x.reshape(6, 4).sum(axis=1)).all()
    assert (got["b"] == x.reshape(2, 12).sum(axis=1)).all()


@pytest.mark.parametrize("passes", [None, ()])
def test_views_of_callers_memory_are_kernels(dev, passes):
    """An input, an output and a constant each have their own memory."""
    c = Chain()
    x = c.input("x", 4, 6)
    three = c.graph.constant("three", counted(2, 12))
    c.graph.output(c.add("a", row_sum, c.view("of_input", x, 8, 3)))
    c.graph.output(c.view("b", c.add("sums", row_sum, x), 2, 2))
    c.graph.output(c.add("c", scaled, c.view("of_constant", three, 24)))
    compiled = c.graph.compile(passes=passes)
    assert "in place" not in compiled.summary["nodes"].values()
    got = compiled.run(c.inputs, dev)
    assert (got["a"] == c.inputs["x"].reshape(8, 3).sum(axis=1)).all()
    assert (got["b"] == c.inputs["x"].sum(axis=1).reshape(2, 2)).all()
    assert (got["c"] == counted(24) * 2).all()


def test_view_of_a_part_of_a_concatenation(dev):
    c = Chain()
    x = c.input("x", 4, 6, 5)
    a, b = c.add("a", row_sum, x), c.add("b", row_sum, c.add("twice", scaled, x))
    joined = c.graph.concat("joined", [a, b], 0)
    c.graph.output(c.add("sums", row_sum, c.view("of_whole", joined, 6, 8)))
    c.graph.output(c.add("flat", row_sum, c.view("of_part", a, 24)))
    got = c.graph.compile().run(c.inputs, dev)
    sums = c.inputs["x"].sum(axis=2)
    assert (got["sums"] == np.concatenate([sums, 2 * sums]).reshape(6, 8).sum(axis=1)).all()
    assert got["flat"] == sums.sum()


def test_texture_is_converted_to_be_viewed(dev):
    """The memory that a view shares is a buffer."""

    def elementwise(outputs, _inputs, _scopes, _target):
        s = te.create_schedule(outputs[0].op)
        spread(s, outputs[0])
        return s

    g = Graph("texture")
    x = g.input("x", (4, 6, 4))
    both = {"texture": ("texture",) * 2}
    a = g.node("a", scaled, [x], elementwise, both)
    (flat,) = g.op("flat", "Reshape", partial(reshape, shape=(12, 2, 4)), [a])
    g.output(g.node("y", scaled, [flat], elementwise, both))
    compiled = g.compile()
    assert compiled.summary["nodes"]["flat"] == "in place"
    conversions = [(name, to) for name, _, to in compiled.summary["conversions"]]
    assert ("a", "global") in conversions
    values = counted(4, 6, 4)
    assert (compiled.run({"x": values}, dev)["y"] == values.reshape(12, 2, 4) * 4).all()


def test_no_tag_makes_a_view(dev):
    """An operator that moves elements is not a view, whatever its name and tag."""

    def turned(x):
        return te.compute(x.shape[::-1], lambda i, j: x[j, i], name="reshaped", tag="view")

    def doubled(x):
        return te.compute(x.shape, lambda *i: x(*i) * 2.0, name="reshaped", tag="view")

    for function, expected in (turned, lambda x: x.T), (doubled, lambda x: 2 * x):
        c = Chain()
        sums = c.add("sums", row_sum, c.input("x", 4, 6, 5))
        c.graph.output(c.add("y", row_sum, c.add("tagged", function, sums)))
        compiled = c.graph.compile(passes=())
        assert compiled.summary["nodes"]["tagged"] != "in place"
        got = compiled.run(c.inputs, dev)["y"]
        assert (got == expected(c.inputs["x"].sum(axis=2)).sum(axis=1)).all()
