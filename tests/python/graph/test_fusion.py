"""Operators of graphs: their patterns, the passes over them, and the kernels of fused ones."""

from functools import partial

import numpy as np
import pytest
from conftest import plain_target
from texloom._core import _Computation

import texloom
from texloom import te, tir
from texloom.graph import Graph, graph_passes, load
from texloom.ops.convolution import convolution
from texloom.ops.schedules import schedule_default


def relu(x):
    return te.compute(x.shape, lambda *i: tir.Max(x(*i), te.const(0, x.dtype)), name="relu")


def sigmoid(x):
    return te.compute(x.shape, lambda *i: te.sigmoid(x(*i)), name="sigmoid")


def add(a, b):
    return te.compute(a.shape, lambda *i: a(*i) + b(*i), name="add")


def product(a, b):
    return te.compute(a.shape, lambda *i: a(*i) * b(*i), name="product")


def times(a, b):
    """Multiply with broadcasting along axes of extent 1."""
    return te.compute(
        a.shape,
        lambda *i: a(*i) * b(*(0 if n == 1 else j for n, j in zip(b.shape, i, strict=True))),
        name="times",
    )


def bias(x, b):
    return te.compute(x.shape, lambda n, c, y, z: x[n, c, y, z] + b[c], name="bias")


def transposed(x):
    return te.compute(x.shape[::-1], lambda i, j: x[j, i], name="transposed")


def conv2d(x, w, pad=1):
    """Convolve, with a stage for the padding."""
    n, channels, height, width = x.shape
    filters, _, rows, cols = w.shape
    c = te.reduce_axis((0, channels), name="c")
    r, q = te.reduce_axis((0, rows), name="r"), te.reduce_axis((0, cols), name="q")

    def padded(b, i, y, z):
        inside = te.all(y >= pad, y < height + pad, z >= pad, z < width + pad)
        return te.if_then_else(inside, x[b, i, y - pad, z - pad], 0.0)

    wide = te.compute((n, channels, height + 2 * pad, width + 2 * pad), padded, name="wide")
    return te.compute(
        (n, filters, height + 2 * pad - rows + 1, width + 2 * pad - cols + 1),
        lambda b, f, y, z: te.sum(wide[b, c, y + r, z + q] * w[f, c, r, q], axis=[c, r, q]),
        name="conv2d",
    )


def pooled(x):
    """Sum each channel."""
    n, channels, height, width = x.shape
    y, z = te.reduce_axis((0, height), name="y"), te.reduce_axis((0, width), name="z")
    return te.compute(
        (n, channels, 1, 1), lambda b, c, _, __: te.sum(x[b, c, y, z], axis=[y, z]), name="pooled"
    )


def row_maximum(x):
    j = te.reduce_axis((0, x.shape[1]), name="j")
    return te.compute((x.shape[0], 1), lambda i, _: te.max(x[i, j], axis=j), name="row_maximum")


def row_sum(x):
    j = te.reduce_axis((0, x.shape[1]), name="j")
    return te.compute((x.shape[0], 1), lambda i, _: te.sum(x[i, j], axis=j), name="row_sum")


def minus(a, b):
    return te.compute(a.shape, lambda i, j: a[i, j] - b[i, 0], name="minus")


def divided(a, b):
    return te.compute(a.shape, lambda i, j: a[i, j] / b[i, 0], name="divided")


def exponential(x):
    return te.compute(x.shape, lambda *i: te.exp(x(*i)), name="exponential")


def softmax(x):
    """Compute a softmax in one operator, with the results of the four operators."""
    e = exponential(minus(x, row_maximum(x)))
    return divided(e, row_sum(e))


def pattern_of(outputs):
    return _Computation([], outputs).pattern


class Network:
    """A graph with values for its inputs; tensors are drawn as small integers."""

    def __init__(self):
        self.graph = Graph("net")
        self.values, self.weights = {}, {}
        self._random = np.random.default_rng(3)

    def draw(self, shape):
        return self._random.integers(-2, 3, shape).astype("float32")

    def input(self, name, shape):
        self.values[name] = self.draw(shape)
        return self.graph.input(name, shape)

    def constant(self, name, shape):
        self.weights[name] = self.draw(shape)
        return self.graph.constant(name, self.weights[name])

    def add(self, name, function, *inputs):
        (made,) = self.graph.op(name, function.__name__, function, inputs)
        return made

    def compiled(self, dev):
        """Return the graph with all passes, and with none."""
        target = plain_target(dev)
        return self.graph.compile(target), self.graph.compile(target, passes=())

    def outputs(self, dev):
        """Run the graphs of `compiled`; return them and their outputs."""
        both = self.compiled(dev)
        return both, [each.run(self.values, dev) for each in both]


def kernels(compiled):
    return compiled.summary["launches"]


PATTERNS = {
    "elementwise": lambda x: sigmoid(relu(x)),
    "broadcast": lambda x: times(x, te.placeholder((4, 1), name="b")),
    "injective": transposed,
    "reduction": row_sum,
    "contraction": lambda x: conv2d(
        te.placeholder((1, 2, 4, 4), name="x"), te.placeholder((2, 2, 3, 3), name="w")
    ),
}


@pytest.mark.parametrize("pattern", PATTERNS)
def test_pattern(pattern):
    assert pattern_of([PATTERNS[pattern](te.placeholder((4, 4), name="x"))]) == pattern


def test_patterns_at_their_limits():
    """Patterns are right for reads of two elements, of a transpose, of fixed elements, of none."""
    x = te.placeholder((4, 4), name="x")
    neighbors = te.compute((4, 4), lambda i, j: x[i, j] + x[i, (j + 1) % 4])
    symmetric = te.compute((4, 4), lambda i, j: x[i, j] + x[j, i])
    sliced = te.compute((2, 4), lambda i, j: te.if_then_else(i > 0, x[i + 1, j], 7.0))
    row = te.placeholder((1, 4), name="row")
    own = te.compute((1, 4), lambda i, j: row[0, j] * 2.0)
    expanded = te.compute((4, 4), lambda i, j: row[0, j])
    first = te.compute((4, 4), lambda i, j: x[0, j])
    both = te.compute((4, 4), lambda i, j: (x[i, j], x[i, j] + 1.0))
    ones = te.compute((4, 4), lambda i, j: 1.0)
    assert [pattern_of([t]) for t in (neighbors, symmetric)] == ["reduction"] * 2
    assert [pattern_of([t]) for t in (sliced, first)] == ["injective"] * 2
    assert [pattern_of([t]) for t in (own, ones)] == ["elementwise"] * 2
    assert pattern_of([expanded]) == "broadcast"
    assert pattern_of(both) == "opaque"


def test_computations_are_equal_by_structure():
    def made(function, dtype="float32"):
        x = te.placeholder((4, 4), dtype, name="in0")
        return _Computation([x], [function(x)])

    assert made(relu) == made(relu)
    assert len({made(relu), made(sigmoid), made(relu, "float16"), made(transposed)}) == 4


def test_compute_functions_are_called_once():
    """Fusion, storing as float16, scheduling and compiling again do not call the functions."""
    calls = []

    def counted(x):
        calls.append(x)
        return relu(x)

    graph = Graph("once")
    tensor = graph.input("x", (4, 4))
    for name in ("a", "b", "c"):
        (tensor,) = graph.op(name, "Relu", counted, [tensor])
    graph.output(tensor)
    for precision in ("fp32", "fp16"):
        graph.compile("opencl", precision=precision, scopes="texture")
    assert len(calls) == 3


def test_equal_operators_are_scheduled_once(monkeypatch):
    """Of four equal operators in a chain, the inner two share one schedule."""
    made = []

    def counted(*arguments, **options):
        made.append(arguments)
        return schedule_default(*arguments, **options)

    monkeypatch.setattr("texloom.graph.scheduler.schedule_default", counted)
    graph = Graph("chain")
    tensor = graph.input("x", (4, 4))
    for name in ("a", "b", "c", "d"):
        (tensor,) = graph.op(name, "Relu", relu, [tensor])
    graph.output(tensor)
    graph.compile("opencl", passes=())
    assert len(made) == 3  # for the first operator, for both inner ones, for the last


def test_convolution_with_bias_and_activation(dev):
    """The nodes are one kernel; its sums are integers, so the results are equal bit by bit.

    The bias is an input: a constant one would become a part of the convolution.
    """
    net = Network()
    x, w, b = net.input("x", (1, 3, 9, 7)), net.constant("w", (5, 3, 3, 3)), net.input("b", (5,))
    net.graph.output(net.add("y", relu, net.add("d", bias, net.add("c", conv2d, x, w), b)))
    (fused, plain), (got, expected) = net.outputs(dev)
    assert (kernels(fused), kernels(plain)) == (1, 3)
    assert fused.summary["members"] == {"y": ("c", "d", "y")}
    assert ("fuse", 3, 1) in fused.summary["passes"]
    assert fused.summary["temporary_bytes"] == 0
    assert (got["y"] == expected["y"]).all()
    assert got["y"].any()


@pytest.mark.parametrize(("rows", "pads", "launches"), [(1, (), 1), (3, (1, 1, 1, 1), 2)])
def test_tiles_of_a_convolution_with_a_value_that_is_read_twice(dev, rows, pads, launches):
    """The sums stay in registers although x * sigmoid(x) + z reads them twice; padding is stored.

    A convolution alone has channels last, and only processors store its padding. The sums are
    integers; only the addition can be contracted to an fma.
    """
    net = Network()
    x, w = net.input("x", (1, 6, 8, 10)), net.constant("w", (12, 6, rows, rows))
    tiled = partial(convolution, pads=pads)
    tiled.__name__ = "tiled"
    sums = net.add("c", tiled, x, w)
    swish = net.add("m", product, sums, net.add("s", sigmoid, sums))
    net.graph.output(net.add("y", add, swish, net.input("z", (1, 12, 8, 10))))
    (fused, plain), (got, expected) = net.outputs(dev)
    assert kernels(fused) == launches and kernels(plain) - 3 in (1, launches)
    # An fma rounds once, a product and a sum twice, relative to their magnitudes.
    bound = 2.0**-23 * (np.abs(expected["y"]) + np.abs(net.values["z"])) * 2
    assert (np.abs(got["y"] - expected["y"]) <= bound).all()


def test_residual_block(dev, tmp_path):
    """Each convolution has one kernel, also in a loaded package."""
    net = Network()
    x = net.input("x", (2, 4, 6, 6))
    w1, w2 = net.constant("w1", (4, 4, 3, 3)), net.constant("w2", (4, 4, 3, 3))
    b1, b2 = net.constant("b1", (4,)), net.constant("b2", (4,))
    first = net.add("r1", relu, net.add("d1", bias, net.add("c1", conv2d, x, w1), b1))
    second = net.add("d2", bias, net.add("c2", conv2d, first, w2), b2)
    net.graph.output(net.add("y", relu, net.add("sum", add, first, second)))
    (fused, plain), (got, expected) = net.outputs(dev)
    assert (kernels(fused), kernels(plain)) == (2, 7)
    assert (got["y"] == expected["y"]).all()
    fused.save(tmp_path / "block.tlp")
    stored = load(tmp_path / "block.tlp").run(net.values, dev)
    assert (stored["y"] == expected["y"]).all()


def test_squeeze_and_excitation(dev):
    """The gates are computed once for each channel: they are not part of the last kernel."""
    net = Network()
    x = net.input("x", (1, 8, 5, 5))
    w1, w2 = net.constant("w1", (2, 8, 1, 1)), net.constant("w2", (8, 2, 1, 1))
    point = partial(conv2d, pad=0)
    point.__name__ = "point"
    hidden = net.add("r", relu, net.add("c1", point, net.add("p", pooled, x), w1))
    gate = net.add("s", sigmoid, net.add("c2", point, hidden, w2))
    net.graph.output(net.add("y", relu, net.add("m", times, x, gate)))
    (fused, plain), (got, expected) = net.outputs(dev)
    assert (kernels(fused), kernels(plain)) == (4, 7)
    assert (got["y"] == expected["y"]).all()


def test_softmax(dev):
    """A softmax in one operator has one kernel, and so has a softmax in five operators."""
    net = Network()
    x = net.input("x", (6, 70))
    peak = net.add("peak", row_maximum, x)
    powers = net.add("powers", exponential, net.add("less", minus, x, peak))
    net.graph.output(net.add("y", divided, powers, net.add("sum", row_sum, powers)))
    net.graph.output(net.add("z", softmax, x))
    (fused, plain), (got, expected) = net.outputs(dev)
    assert (kernels(fused), kernels(plain)) == (2, 6)
    assert fused.summary["members"] == {"y": ("peak", "less", "powers", "sum", "y")}
    for name in ("y", "z"):
        # exp is correct within 3 units of 2**-24 in OpenCL, on both sides of a sum of 70 terms.
        np.testing.assert_allclose(got[name], expected[name], rtol=2 * (70 + 8) * 2.0**-24)
        np.testing.assert_allclose(got[name].sum(axis=1), 1, rtol=(70 + 8) * 2.0**-23)


def test_kernel_of_a_reduction_that_only_the_same_thread_reads(dev):
    """A sum with an epilogue of rank 0 is one kernel."""
    net = Network()
    x, s = net.input("x", (33,)), net.input("s", ())

    def total(x):
        k = te.reduce_axis((0, 33), name="k")
        return te.compute((), lambda: te.sum(x[k], axis=k), name="total")

    net.graph.output(net.add("y", add, net.add("t", total, x), s))
    (fused, _), (got, expected) = net.outputs(dev)
    assert kernels(fused) == 1
    assert got["y"] == expected["y"] == net.values["x"].sum() + net.values["s"]


@pytest.mark.parametrize("elements", [1, 31, 67, 64, 96, 2 * 67])
def test_numbers_of_elements(dev, elements):
    """Results are right whether one block fits all elements, a block size divides them, or none."""
    net = Network()
    x, w = net.input("x", (1, 2, 1, elements)), net.constant("w", (1, 2, 1, 1))
    point = partial(conv2d, pad=0)
    point.__name__ = "point"
    net.graph.output(net.add("y", relu, net.add("c", point, x, w)))
    _, (got, expected) = net.outputs(dev)
    sums = np.einsum("ncyx,fc->nfyx", net.values["x"], net.weights["w"][:, :, 0, 0])
    assert (got["y"] == np.maximum(sums, 0)).all()
    assert (expected["y"] == got["y"]).all()


def test_long_chain_of_values_that_are_read_twice(dev):
    """Inlining would give 2**30 terms, so fusion gives large values the scope local instead."""
    net = Network()
    value = net.input("x", (40,))

    def step(x):
        return te.compute(x.shape, lambda i: x[i] * 0.5 + te.abs(x[i]) * 0.25, name="step")

    for i in range(30):
        value = net.add(f"v{i}", step, value)
    net.graph.output(value)
    (fused, plain), (got, expected) = net.outputs(dev)
    assert (kernels(fused), kernels(plain)) == (1, 30)
    # Scaling by a power of two is exact, so that each step rounds once, as an fma does.
    assert (got["v29"] == expected["v29"]).all()


def test_half_precision_rounds_as_between_nodes(dev):
    """A value that fusion keeps in registers is still rounded to its element type."""
    target = plain_target(dev)
    g = Graph("half")
    x = g.input("x", (64,), "float16")

    def third(x):
        return te.compute(x.shape, lambda i: x[i] / te.const(3, "float16"), name="third")

    def tripled(x):
        return te.compute(x.shape, lambda i: x[i] * te.const(3, "float16"), name="tripled")

    (a,) = g.op("a", "third", third, [x])
    (b,) = g.op("b", "tripled", tripled, [a])
    g.output(b)
    values = np.linspace(-4, 4, 64).astype("float16")
    expected = values / np.float16(3) * np.float16(3)
    assert (expected != values).any()
    fused, plain = g.compile(target), g.compile(target, passes=())
    assert kernels(fused) == 1
    for each in (fused, plain):
        assert (each.run({"x": values}, dev)["b"] == expected).all()


def test_output_inside_a_chain_is_written(dev):
    net = Network()
    a = net.add("a", relu, net.input("x", (4, 4)))
    net.graph.output(a)
    net.graph.output(net.add("y", sigmoid, a))
    (fused, _), (got, expected) = net.outputs(dev)
    assert kernels(fused) == 2
    assert (got["a"] == expected["a"]).all()


def test_equal_operators_are_computed_once(dev):
    net = Network()
    x = net.input("x", (4, 4))
    net.graph.output(net.add("y", add, net.add("a", row_sum, x), net.add("b", row_sum, x)))
    (fused, plain), (got, expected) = net.outputs(dev)
    assert ("merge_equal_nodes", 3, 2) in fused.summary["passes"]
    assert (kernels(fused), kernels(plain)) == (1, 3)
    assert (got["y"] == expected["y"]).all()


def test_dead_operators_need_no_kernel():
    net = Network()
    x = net.input("x", (4, 4))
    net.add("unused", sigmoid, net.add("also", transposed, x))
    net.graph.output(net.add("y", relu, x))
    assert list(net.graph.compile().summary["nodes"]) == ["y"]
    assert list(net.graph.compile(passes=()).summary["nodes"]) == ["also", "unused", "y"]


def test_text_after_passes():
    net = Network()
    net.graph.output(net.add("y", relu, net.add("t", transposed, net.input("x", (4, 6)))))
    assert "members {" not in net.graph.text()
    assert 'operator y op="transposed+relu" pattern=injective (x) -> (y)' in net.graph.text(
        passes=graph_passes()
    )


@pytest.mark.parametrize(
    ("passes", "code", "message"),
    [
        (("fuze",), "TL5016", "there is no pass 'fuze'"),
        ("fuse", "TL2040", "not a list of passes"),
        ((1,), "TL2040", "not a list of passes"),
    ],
)
def test_wrong_passes(passes, code, message):
    net = Network()
    net.graph.output(net.add("y", relu, net.input("x", (4,))))
    with pytest.raises(texloom.TVMError, match=message) as caught:
        net.graph.compile(passes=passes)
    assert caught.value.code == code
