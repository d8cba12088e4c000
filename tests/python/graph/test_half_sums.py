"""Which terms of sums, and which sums, stay float32 when tensors are stored as float16."""

import pytest

from texloom import te, tir
from texloom.graph import Graph
from texloom.ops import movement


def unary(function):
    return lambda x: te.compute(x.shape, lambda i, j: function(x[i, j]), name="unary")


def binary(function):
    return lambda a, b: te.compute(a.shape, lambda i, j: function(a[i, j], b[i, j]), name="binary")


def row_sums(x):
    j = te.reduce_axis((0, x.shape[1]), name="j")
    return te.compute((x.shape[0], 1), lambda i, k: te.sum(x[i, j], axis=j), name="sums")


def added(a, b):
    return te.compute(a.shape, lambda i, j: a[i, j] + b[i, 0], name="added")


def divided(a, b):
    return te.compute(a.shape, lambda i, j: a[i, j] / b[i, 0], name="divided")


def stored_types(graph):
    """Return the dtype in which each edge of a graph is stored."""
    lines = graph.text("opencl", passes=("store_halves",)).splitlines()
    edges = dict(line.split(maxsplit=2)[1:] for line in lines if line.startswith("  edge "))
    return {name.removesuffix(":"): dtype.split("[")[0] for name, dtype in edges.items()}


def dtypes(operators, output):
    """Return the dtype in which each result is stored; the output is one result, plus 1.

    `operators` are (name, function, names of inputs); "x" is the input of the graph.
    """
    g = Graph("sums")
    values = {"x": g.input("x", (6, 8))}
    for name, function, inputs in operators:
        (values[name],) = g.op(name, "op", function, [values[each] for each in inputs])
    g.output(*g.op("y", "op", unary(lambda e: e + 1.0), [values[output]]))
    types = stored_types(g)
    return [types[name] for name, *_ in operators]


def native(name, *arguments):
    return tir.call_pure_extern("float32", name, *arguments)


def sigmoid(e):
    return 1.0 / (1.0 + te.exp(-e))


LARGE = {
    "square": lambda e: e * e,
    "power": lambda e: te.power(e, te.const(2.5, "float32")),
    "exponential": te.exp,
    "product of a product": lambda e: 0.5 * (e + 1.0) * (e - 1.0),
    "quotient by a square": lambda e: 1.0 / (e * e),
    "quotient by an exponential": lambda e: e / te.exp(e),
    "reciprocal of a square": lambda e: native("native_recip", e * e),
    "negative power": lambda e: te.power(e, te.const(-2.0, "float32")),
    "square of a reciprocal root": lambda e: te.rsqrt(e) * te.rsqrt(e),
    "quotient by a sum that may be 0": lambda e: 1.0 / (te.exp(e) - 1.0),
}
NOT_LARGE = {
    "scaled": lambda e: e * 3.0,
    "gated": lambda e: e * sigmoid(e),
    "hard gate": lambda e: e * te.max(te.min(e / 6.0 + 0.5, 1.0), 0.0),
    "limited": lambda e: te.tanh(e) * te.tanh(e),
    "root": lambda e: te.sqrt(e * e),
    "root by power": lambda e: te.power(e, te.const(0.5, "float32")),
    "reciprocal root": lambda e: te.rsqrt(e * e),
    "reciprocal root by power": lambda e: te.power(e * e, te.const(-0.5, "float32")),
    "gated by a reciprocal": lambda e: e * native("native_recip", 1.0 + te.exp(-e)),
    "gated by a quotient of two": lambda e: e * native("native_divide", 1.0, te.exp(-e) + 1.0),
    "gated by a fraction": lambda e: e * (1.0 / (1.0 + te.abs(e))),
    "gated by a peak": lambda e: e * (1.0 / (1.0 + e * e)),
    "quotient by a root": lambda e: e / te.sqrt(e * e + 1.0),
    "quotient by a maximum": lambda e: e / te.max(te.exp(e), 1.0),
}


@pytest.mark.parametrize("name", LARGE)
def test_large_terms_stay(name):
    """Terms that may be infinite in float16, though the input is not, stay float32."""
    chain = [("term", unary(LARGE[name]), ["x"]), ("sum", row_sums, ["term"])]
    spread = [*chain, ("a", added, ["x", "sum"])]
    assert dtypes(spread, "a") == ["float32", "float32", "float16"]


@pytest.mark.parametrize("name", NOT_LARGE)
def test_other_terms_are_rounded(name):
    """Terms that are about as large as the input become float16: activations are large tensors."""
    chain = [("term", unary(NOT_LARGE[name]), ["x"]), ("sum", row_sums, ["term"])]
    assert dtypes([*chain, ("a", added, ["x", "sum"])], "a") == ["float16", "float32", "float16"]


def test_large_values_that_are_not_added_up_are_rounded():
    square = ("square", unary(lambda e: e * e), ["x"])
    assert dtypes([square], "square") == ["float16"]


def test_terms_of_large_values_stay():
    """A term that is computed from a large value by a move and a sum is as large."""
    chain = [
        ("square", unary(lambda e: e * e), ["x"]),
        ("more", binary(lambda a, b: a + b), ["square", "x"]),
        ("sum", row_sums, ["more"]),
        ("a", added, ["x", "sum"]),
    ]
    assert dtypes(chain, "a") == ["float32", "float32", "float32", "float16"]


def test_values_that_are_computed_from_sums_alone_stay():
    """The root of a sum has as few elements as the sum; the quotient by it is rounded."""
    chain = [
        ("sum", row_sums, ["x"]),
        ("root", unary(te.sqrt), ["sum"]),
        ("n", divided, ["x", "root"]),
        ("again", row_sums, ["n"]),
        ("a", added, ["n", "again"]),
    ]
    assert dtypes(chain, "a") == ["float32", "float32", "float16", "float32", "float16"]


def test_gates_of_single_nodes_are_rounded():
    """An exporter may write x * sigmoid(x) as nodes: each knows what the node before it limits."""
    chain = [
        ("e", unary(lambda e: te.exp(-e)), ["x"]),
        ("more", unary(lambda e: e + 1.0), ["e"]),
        ("gate", unary(lambda e: 1.0 / e), ["more"]),
        ("gated", binary(lambda a, b: a * b), ["x", "gate"]),
        ("sum", row_sums, ["gated"]),
        ("a", added, ["gated", "sum"]),
    ]
    assert dtypes(chain, "a")[2:] == ["float16", "float16", "float32", "float16"]


@pytest.mark.parametrize(("name", "kept"), [("square", True), ("scaled", False)])
def test_parts_of_terms(name, kept):
    """Each part of a tensor is as large as the tensor, and what is added up is found through it."""
    function = {**LARGE, **NOT_LARGE}[name]
    g = Graph("parts")
    (term,) = g.op("term", "op", unary(function), [g.input("x", (6, 8))])

    def split(x):
        return [movement.part(x, 0, begin, size) for begin, size in ((0, 2), (2, 4))]

    parts = g.op("parts", "split", split, [term])
    for number, part in enumerate(parts):
        (total,) = g.op(f"sum{number}", "op", row_sums, [part])
        g.output(total)
    types = stored_types(g)
    dtype = "float32" if kept else "float16"
    assert [types[each] for each in ("term", "parts.0", "parts.1")] == [dtype] * 3
