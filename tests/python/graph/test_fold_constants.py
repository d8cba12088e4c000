"""Operators of constants, which are computed when a graph is compiled."""

from __future__ import annotations

import re

import numpy as np

from texloom import te
from texloom.graph import Graph
from texloom.ops.elementwise import add, multiply
from texloom.ops.normalization import softmax

PASSES = ("fold_constants",)


def operators(g):
    """Return the names of the operators that are left."""
    return re.findall(r"operator (\S+)", g.text(passes=PASSES))


def test_a_chain_of_constants_is_one():
    """A chain of operators of constants, here a product and a sum, becomes one constant."""
    g = Graph()
    x = g.input("x", (2, 3))
    a = g.constant("a", np.float32([[0.1, 0.2, 0.3]]))
    b = g.constant("b", np.float32([[1], [7]]))
    (p,) = g.op("p", "mul", multiply, [a, b])
    (s,) = g.op("s", "add", add, [p, a])
    (y,) = g.op("y", "mul", multiply, [x, s])
    g.output(y)
    assert operators(g) == ["y"]
    given = np.float32([[1, 2, 3], [4, 5, 6]])
    expected = given * (np.float32([[0.1, 0.2, 0.3]]) * np.float32([[1], [7]]) + [0.1, 0.2, 0.3])
    compiled = g.compile()
    assert list(compiled.summary["nodes"]) == ["y"]
    np.testing.assert_allclose(compiled.run({"x": given})["y"], expected, rtol=1e-6)


def test_reductions_are_folded():
    g = Graph()
    x = g.input("x", (4,))
    c = g.constant("c", np.float32([0, 1, 2, 3]))
    (w,) = g.op("w", "softmax", softmax, [c])
    (y,) = g.op("y", "mul", multiply, [x, w])
    g.output(y)
    assert operators(g) == ["y"]
    weights = np.exp([0.0, 1, 2, 3])
    made = g.compile().run({"x": np.ones(4, "float32")})["y"]
    np.testing.assert_allclose(made, weights / weights.sum(), rtol=1e-6)


def test_what_stays():
    """Operators of outputs stay, and operators without inputs, which are faster than constants."""
    g = Graph()
    x = g.input("x", (8,))
    c = g.constant("c", np.ones(8, "float32"))
    (z,) = g.op("z", "ones", lambda: te.compute((8,), lambda i: te.const(1.0)), [])
    (d,) = g.op("d", "add", add, [c, c])
    (y,) = g.op("y", "add", add, [x, z])
    g.output(y)
    g.output(d)
    assert operators(g) == ["z", "d", "y"]


def test_undefined_elements_stay():
    """An integer division by zero has no value that could be stored."""
    g = Graph()
    x = g.input("x", (2,), "int32")
    a, b = (g.constant(n, np.int32(v)) for n, v in (("a", [4, 5]), ("b", [2, 0])))

    def divided(p, q):
        return te.compute((2,), lambda i: te.indexdiv(p[i], q[i]))

    (q,) = g.op("q", "div", divided, [a, b])
    (y,) = g.op("y", "add", add, [x, q])
    g.output(y)
    assert operators(g) == ["q", "y"]


def test_equal_constants_are_one():
    """Operators that were made of the same constants one by one read one; others keep theirs."""
    g = Graph()
    x = g.input("x", (2, 3))
    values = np.float32([[1, 2, 3], [4, 5, 6]])
    own = [values, values.copy(), values.reshape(3, 2).T.copy(), -values]
    for i, each in enumerate(own):
        (y,) = g.op(f"y{i}", "mul", multiply, [x, g.constant(f"c{i}", each)])
        g.output(y)
    assert re.findall(r"constant (\w+)", g.text(passes=("merge_equal_nodes",))) == [
        "c0",
        "c2",
        "c3",
    ]
    made = g.compile().run({"x": values})
    for i, each in enumerate(own):
        np.testing.assert_array_equal(made[f"y{i}"], values * each)


def test_equal_elements_of_other_types_and_shapes_are_not_equal():
    g = Graph()
    zeros = [np.zeros((2, 3), "float32"), np.zeros((3, 2), "float32"), np.zeros((2, 3), "int32")]
    for i, each in enumerate(zeros):
        x = g.input(f"x{i}", each.shape, str(each.dtype))
        (y,) = g.op(f"y{i}", "add", add, [x, g.constant(f"c{i}", each)])
        g.output(y)
    text = g.text(passes=("merge_equal_nodes",))
    assert re.findall(r"constant (\w+)", text) == ["c0", "c1", "c2"]
