"""Graphs whose sizes are known only at a run: one compilation serves all sizes."""

from functools import partial

import numpy as np
import pytest

import texloom
from texloom import te
from texloom.graph import Graph, load
from texloom.ops.broadcast import elementwise
from texloom.ops.convolution import convolution
from texloom.ops.elementwise import add, relu
from texloom.ops.movement import concatenate, reshape, transpose
from texloom.ops.pooling import average_pool
from texloom.ops.products import matmul
from texloom.ops.resize import repeat


def _random(*shape):
    return np.random.default_rng(sum(shape)).integers(-3, 4, shape).astype(np.float32)


def _windows(x, kernel, stride, pad):
    padded = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    view = np.lib.stride_tricks.sliding_window_view(padded, (kernel, kernel), (2, 3))
    return view[:, :, ::stride, ::stride]


def _convolved(x, w, stride=1, pad=0):
    return np.einsum("nchwij,ocij->nohw", _windows(x, w.shape[2], stride, pad), w)


def _network():
    """Return a graph with convolutions of each kind, and a NumPy function for its results."""
    w1, w2, w3 = _random(16, 8, 3, 3), _random(24, 16, 1, 1), _random(24, 24, 3, 3)
    g = Graph("net")
    x = g.input("x", ("n", 8, "h", "w"))
    (a,) = g.op("a", "Conv", partial(convolution, pads=[1] * 4), [x, g.constant("w1", w1)])
    (r,) = g.op("r", "Relu", relu, [a])
    (b,) = g.op("b", "Conv", convolution, [r, g.constant("w2", w2)])
    strided = partial(convolution, strides=[2, 2], pads=[1] * 4)
    (c,) = g.op("c", "Conv", strided, [b, g.constant("w3", w3)])
    (d,) = g.op("d", "Resize", partial(repeat, factors=(1, 1, 2, 2)), [c])
    (e,) = g.op("e", "Add", add, [d, b])
    g.output(e)

    def computed(x):
        b = _convolved(np.maximum(_convolved(x, w1, pad=1), 0), w2)
        c = _convolved(b, w3, 2, 1)
        return c.repeat(2, 2).repeat(2, 3) + b

    return g, computed


SIZES = [(1, 8, 4, 6), (2, 8, 10, 18), (1, 8, 30, 50), (1, 8, 2, 2), (1, 8, 4, 6)]


@pytest.mark.nightly
def test_a_network_runs_at_any_size(dev, tmp_path):
    graph, computed = _network()
    compiled = graph.compile()
    assert [str(extent) for extent in graph.inputs[0].shape] == ["n", "8", "h", "w"]
    compiled.save(tmp_path / "net.tlp")
    loaded = load(tmp_path / "net.tlp")
    assert loaded.inputs == compiled.inputs
    for shape in SIZES:
        x = _random(*shape)
        for made in (compiled, loaded):
            np.testing.assert_array_equal(made.run({"x": x}, dev)["e"], computed(x))


def test_what_a_size_must_have_is_checked(dev):
    compiled = _network()[0].compile()
    with pytest.raises(texloom.TVMError, match="the node 'e' needs .* h = 5") as error:
        compiled.run({"x": _random(1, 8, 5, 6)}, dev)
    assert "for n = 1, h = 5, w = 6" in str(error.value)
    with pytest.raises(texloom.TVMError, match=r"of the shape \(1, 8, 0, 6\) has no elements"):
        compiled.run({"x": _random(1, 8, 0, 6)}, dev)
    with pytest.raises(
        texloom.TVMError, match=r"has the shape \(n, 8, h, w\), but the array has \(1, 7"
    ):
        compiled.run({"x": _random(1, 7, 4, 6)}, dev)
    with pytest.raises(
        texloom.TVMError, match=r"has the shape \(n, 8, h, w\), but the array has \(8, 4"
    ):
        compiled.run({"x": _random(8, 4, 6)}, dev)


def test_a_window_must_fit(dev):
    g = Graph()
    x = g.input("x", (1, 2, "h", 8))
    (y,) = g.op("y", "AveragePool", partial(average_pool, kernel=[5, 3]), [x])
    g.output(y)
    compiled = g.compile()
    assert compiled.run({"x": _random(1, 2, 5, 8)}, dev)["y"].shape == (1, 2, 1, 6)
    with pytest.raises(texloom.TVMError, match="needs h - 4 to be at least 1, but it is 0"):
        compiled.run({"x": _random(1, 2, 4, 8)}, dev)


def test_extents_may_be_expressions(dev):
    g = Graph()
    x, y = g.input("x", ("2 * h", "w + 1")), g.input("y", ("w + 1", "h"))
    (z,) = g.op("z", "MatMul", matmul, [x, y])
    g.output(z)
    compiled = g.compile()
    a, b = _random(6, 5), _random(5, 3)
    np.testing.assert_array_equal(compiled.run({"x": a, "y": b}, dev)["z"], a @ b)
    with pytest.raises(texloom.TVMError, match=r"axis 1 of argument 1 \"y\" is 4, expected h = 3"):
        compiled.run({"x": a, "y": _random(5, 4)}, dev)
    with pytest.raises(texloom.TVMError, match=r"axis 0 of argument 0 \"x\" is 5, expected h \* 2"):
        compiled.run({"x": _random(5, 5), "y": b}, dev)


@pytest.mark.parametrize(
    "extent",
    ["", "h h", "_h", "h / 2", "h ** 2", 0, "0", -1, 1.5, None, "1 - 1", te.var("_s0") + 1],
)
def test_what_is_no_extent_is_refused(extent):
    with pytest.raises(texloom.TVMError, match="the tensor 'x' has the extent"):
        Graph().input("x", (extent, 3))


def test_variables_of_te_are_symbols_by_name(dev):
    g = Graph()
    x = g.input("x", (te.var("n"), 4))
    y = g.input("y", ("n", 4))
    (z,) = g.op("z", "Add", add, [x, y])
    g.output(z)
    assert z.shape == x.shape == y.shape
    a = _random(3, 4)
    np.testing.assert_array_equal(g.compile().run({"x": a, "y": a}, dev)["z"], a + a)


def test_kernels_are_given_other_sizes(dev):
    """Kernels are given extents that none of their inputs has."""
    g = Graph()
    x = g.input("x", ("n", "m"))
    (flat,) = g.op("flat", "Reshape", partial(reshape, shape=(x.shape[0] * x.shape[1],)), [x])
    (back,) = g.op("back", "Reshape", partial(reshape, shape=tuple(x.shape)), [flat])
    (y,) = g.op("y", "Transpose", partial(transpose, axes=(1, 0)), [back])

    def shifted(t, by):
        return te.compute(t.shape, lambda i, j: t(i, j) + by.astype("float32"), name="shifted")

    (z,) = g.op("z", "Shift", partial(shifted, by=x.shape[0] * 3), [y])
    g.output(z)
    compiled = g.compile()
    for shape in [(2, 3), (5, 4)]:
        a = _random(*shape)
        np.testing.assert_array_equal(compiled.run({"x": a}, dev)["z"], a.T + 3 * shape[0])


def test_equal_operators_of_several_sizes_share_kernels(dev):
    g = Graph()
    x = g.input("x", (1, 4, "h"))
    made = x
    for i in range(3):
        (made,) = g.op(
            f"p{i}", "AveragePool", partial(average_pool, kernel=[2], strides=[2]), [made]
        )
    g.output(made)
    compiled = g.compile()
    assert compiled.summary["signatures"] == 1
    a = _random(1, 4, 19)
    want = a[:, :, :16].reshape(1, 4, 2, 8).mean(3)
    np.testing.assert_array_equal(compiled.run({"x": a}, dev)["p2"], want)


def test_concatenations(dev):
    g = Graph()
    x, y = g.input("x", ("n", 2, "h")), g.input("y", ("n", 3, "k"))
    (a,) = g.op("a", "Join", partial(concatenate, axis=1), [x, x])
    joined = g.concat("joined", [a, y], 1)
    g.output(joined)
    assert str(joined.shape[1]) == "7"
    compiled = g.compile()
    p, q = _random(2, 2, 5), _random(2, 3, 5)
    want = np.concatenate([p, p, q], 1)
    np.testing.assert_array_equal(compiled.run({"x": p, "y": q}, dev)["joined"], want)
    with pytest.raises(texloom.TVMError, match="the node 'joined' needs k to be h = 5"):
        compiled.run({"x": p, "y": _random(2, 3, 6)}, dev)


def test_broadcasting_needs_equal_sizes(dev):
    g = Graph()
    x, y = g.input("x", ("n", "h")), g.input("y", ("k",))
    (z,) = g.op("z", "Add", partial(elementwise, lambda a, b: a + b), [x, y])
    g.output(z)
    compiled = g.compile()
    a, b = _random(3, 4), _random(4)
    np.testing.assert_array_equal(compiled.run({"x": a, "y": b}, dev)["z"], a + b)
    with pytest.raises(texloom.TVMError, match="the node 'z' needs"):
        compiled.run({"x": a, "y": _random(1)}, dev)


def test_a_refused_input_leaves_no_symbol():
    """Each input is refused where it is added, and the graph stays unchanged."""
    g = Graph()
    with pytest.raises(texloom.TVMError, match="flaot32"):
        g.input("x", ("m",), "flaot32")
    x = g.input("x", ("n",))
    g.output(g.op("y", "Relu", relu, [x])[0])
    assert "symbol n\n" in g.text()
    assert "symbol m\n" not in g.text()
