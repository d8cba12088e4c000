"""Graphs with custom operators between kernels."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import texloom
from texloom import te
from texloom.custom import host_operator
from texloom.examples.texel_schedules import spread
from texloom.graph import Graph

TEXTURES = {"texture": ("texture",) * 2}
BUFFERS = {"global": ("global",) * 2}


def doubled(x):
    return te.compute(x.shape, lambda *i: x[i] * 2.0, name="doubled")


def plus_one(x):
    return te.compute(x.shape, lambda *i: x[i] + 1.0, name="plus_one")


def elementwise(outputs, _inputs, _scopes, _target):
    s = te.create_schedule(outputs[0].op)
    spread(s, outputs[0])
    return s


def counted(shape):
    return np.arange(np.prod(shape), dtype="float32").reshape(shape)


@host_operator(
    "mine::softshrink", {"x": "read", "y": "write"}, attributes={"edge": "float"}, version=3
)
def softshrink(x, y, edge):
    y[...] = np.where(x > edge, x - edge, np.where(x < -edge, x + edge, 0))


@pytest.mark.parametrize("scope", ["global", "texture"])
def test_custom_operator_between_kernels(dev, scope):
    g = Graph()
    x = g.input("x", (6, 5, 4))
    a = g.node("a", doubled, [x], elementwise, TEXTURES)
    given = {"only": (scope, scope)}
    b = g.custom("b", softshrink, [a], given, attributes={"edge": 3.0}, cost=10.0)
    g.output(g.node("y", plus_one, [b], elementwise, TEXTURES))
    assert 'operator "mine::softshrink" version=3 (read, write)' in g.text()
    values = counted((6, 5, 4)) - 20
    graph = g.compile()
    for _ in range(2):
        got = graph.run({"x": values}, dev)["y"]
        shrunk = np.where(abs(values) > 1.5, 2 * values - 3 * np.sign(values), 0)
        np.testing.assert_array_equal(got, shrunk + 1)
    assert len(graph.summary["conversions"]) == (2 if scope == "global" else 0)


def test_scopes_of_an_operator_are_those_that_it_declares(dev):
    """The declaration replaces scopes=; an argument without a declared storage is a buffer."""

    @host_operator("test::plus", {"x": "read texture", "w": "read", "y": "write buffer"})
    def plus(x, w, y):
        y[...] = x + w

    g = Graph("any text is a name")
    x, w = g.input("x", (6, 5, 4)), g.input("w", (6, 5, 4))
    g.output(g.custom("y", plus, [x, w]))
    graph = g.compile()
    assert graph.summary["nodes"] == {"y": "texture"}
    scopes = {name: scope for name, (_, scope, _) in graph.summary["stores"].items()}
    assert scopes == {"x": "texture", "w": "global", "y": "global"}
    values = counted((6, 5, 4))
    np.testing.assert_array_equal(graph.run({"x": values, "w": values}, dev)["y"], 2 * values)


def test_an_exception_of_an_operator_has_a_way_out():
    @host_operator("test::raises", {"x": "read", "y": "write"})
    def raises(x, y):
        raise ValueError("no")

    g = Graph()
    g.output(g.custom("y", raises, [g.input("x", (4,))]))
    with pytest.raises(texloom.TVMError, match="test::raises.*raised ValueError: no") as error:
        g.compile().run({"x": counted((4,))}, "host")
    assert "correct the function" in error.value.diagnostics[0].help


@pytest.mark.parametrize("number", [np.float32, np.float64, np.int64, bool])
def test_attributes_of_a_call_are_numbers_of_any_type(number):
    g = Graph()
    x = g.input("x", (4, 4))
    g.output(g.custom("y", softshrink, [x], attributes={"edge": number(1)}))
    [given] = (line for line in g.text().splitlines() if "given edge" in line)
    assert given.strip() in ("given edge = 1.0", "given edge = 1")
    got = g.compile().run({"x": np.full((4, 4), 3, "float32")}, texloom.device("host"))["y"]
    np.testing.assert_array_equal(got, np.full((4, 4), 2))


def test_threads_share_a_graph_with_a_python_operator(dev):
    """The operator and the end of each run need the GIL, so no waiting thread may hold it."""
    g = Graph()
    x = g.input("x", (6, 5, 4))
    a = g.custom("a", softshrink, [x], attributes={"edge": 0.0})
    g.output(g.node("y", plus_one, [a], elementwise, BUFFERS))
    graph = g.compile()
    inputs = [counted((6, 5, 4)) + i for i in range(4)]
    with ThreadPoolExecutor(4) as pool:
        runs = [pool.submit(graph.run, {"x": each}, dev) for each in inputs * 5]
        for each, run in zip(inputs * 5, runs, strict=True):
            np.testing.assert_array_equal(run.result(60)["y"], each + 1)


def test_operator_that_runs_its_own_graph(dev):
    """The operator would wait for its own run to end, so the inner run is refused."""
    graphs = []

    @host_operator("test::again", {"x": "read", "y": "write"})
    def again(x, y):
        y[...] = graphs[0].run({"x": x}, dev)["y"]

    g = Graph()
    x = g.input("x", (4, 4))
    g.output(g.custom("y", again, [x]))
    graphs.append(g.compile())
    with pytest.raises(texloom.TVMError, match="wait"):
        graphs[0].run({"x": counted((4, 4))}, dev)
