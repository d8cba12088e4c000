"""Graphs whose tensors are stored as float16."""

from functools import partial

import numpy as np
import pytest
from conftest import plain_target

import texloom
from texloom import te
from texloom.graph import Graph, graph_passes
from texloom.ops.convolution import convolution, deformable_convolution
from texloom.ops.movement import reshape
from texloom.ops.resize import affine_grid, grid_sample, max_roi_pool

THIRD = np.float32(1 / 3)


def third(x):
    """Multiply by a third, since divisions of OpenCL are not exactly rounded."""
    return te.compute(x.shape, lambda *i: x(*i) * te.const(float(THIRD), x.dtype), name="third")


def tripled(x):
    return te.compute(x.shape, lambda *i: x(*i) * te.const(3, x.dtype), name="tripled")


def transposed(x):
    return te.compute(x.shape[::-1], lambda i, j: x[j, i], name="transposed")


def flat(x):
    return reshape(x, (48,))


def sums(x):
    j = te.reduce_axis((0, x.shape[1]), name="j")
    return te.compute(x.shape[:1], lambda i: te.sum(x[i, j], axis=j), name="sums")


def positions(x):
    return te.compute(x.shape, lambda *i: te.floor(x(*i)).astype("int32"), name="positions")


def matrix(rows=6, columns=8, seed=3):
    return np.random.default_rng(seed).uniform(-4, 4, (rows, columns)).astype("float32")


def graph_of(*functions, shape=(6, 8)):
    """A chain of operators of one input x; the last one computes y."""
    g = Graph("chain")
    value = g.input("x", shape)
    for i, function in enumerate(functions):
        (value,) = g.op(f"v{i}", function.__name__, function, [value])
    g.output(value, "y")
    return g


def run(g, dev, x, **options):
    return g.compile(plain_target(dev), precision="fp16", **options).run({"x": x}, dev)["y"]


def half(x):
    return x.astype("float16").astype("float32")


@pytest.mark.parametrize("scopes", ["global", "texture"])
def test_tensors_in_memory_are_rounded(dev, scopes):
    """A tensor in memory is rounded to float16; the input and the output of the graph are not."""
    x = matrix()
    got = run(graph_of(third, transposed, sums, tripled), dev, x, scopes=scopes)
    assert got.dtype == "float32"
    # The chain before the sum is fused with the sum, or its result is written once.
    exact = (x.T * THIRD).sum(1) * 3
    terms = np.abs(x.T * THIRD).sum(1) * 3
    error = np.abs(got - exact)
    assert (error <= terms * (2.0**-11 + 16 * 2.0**-24)).all()


def test_fused_operators_do_not_round_between_each_other(dev):
    x = matrix()
    expected = (x * THIRD) * np.float32(3)
    assert (half(x * THIRD) * 3 != expected).any()
    assert (run(graph_of(third, tripled), dev, x) == expected).all()


def test_single_operators_round(dev):
    x = matrix()
    got = run(graph_of(third, tripled), dev, x, passes=("store_halves",))
    assert (got == half(x * THIRD) * np.float32(3)).all()


def test_moves_and_views_keep_every_bit(dev):
    """Moves keep every bit, even of infinities and of the smallest numbers of float16."""
    x = matrix()
    x[0, :6] = [65519, 1e6, -1e6, 2.0**-24, 2.0**-26, -0.0]
    g = graph_of(tripled, transposed, flat, third)
    got = run(g, dev, x, passes=("store_halves",))
    with np.errstate(over="ignore"):
        expected = half(x * 3).T.reshape(48) * THIRD
    assert np.array_equal(np.signbit(got), np.signbit(expected))
    assert (got == expected).all()


def test_positions_are_exact(dev):
    """Positions stay float32, since float16 cannot represent 2049."""
    x = np.arange(2040, 2088, dtype="float32").reshape(6, 8)
    got = run(graph_of(tripled, third, positions), dev, x, passes=("store_halves",))
    assert (got == np.floor(x * np.float32(3) * THIRD)).all()


def dtypes_of_inputs(function, *shapes, op="sampled"):
    """Return the dtypes in which an operator's inputs, computed by other operators, are stored."""
    g = Graph("inputs")
    read = []
    for i, shape in enumerate(shapes):
        (made,) = g.op(f"t{i}", "tripled", tripled, [g.input(f"x{i}", shape)])
        read.append(made)
    g.output(*g.op("y", op, function, read))
    lines = g.text("opencl", passes=("store_halves",)).splitlines()
    edges = dict(line.split(maxsplit=2)[1:] for line in lines if line.startswith("  edge t"))
    return [edges[f"t{i}:"].split("[")[0] for i in range(len(shapes))]


def sampled(x, rows):
    """Read rows at positions that another operator has computed, in a stage of its own."""
    place = te.compute(rows.shape, lambda i: rows[i] * 2.0, name="place")
    at = te.compute(rows.shape, lambda i: te.floor(place[i]).astype("int32"), name="at")
    return te.compute((*rows.shape, x.shape[1]), lambda i, j: x[te.max(te.min(at[i], 5), 0), j])


def weighted(x, factors):
    return te.compute(x.shape, lambda i, j: x[i, j] * factors[i])


def test_coordinates_are_known_by_what_is_computed():
    """Only the computation tells which inputs are coordinates, not the operator's name."""
    for op in ("sampled", "grid_sample"):
        assert dtypes_of_inputs(sampled, (6, 8), (6,), op=op) == ["float16", "float32"]
        assert dtypes_of_inputs(weighted, (6, 8), (6,), op=op) == ["float16", "float16"]
    image = (1, 3, 8, 8)
    assert dtypes_of_inputs(grid_sample, image, (1, 4, 4, 2)) == ["float16", "float32"]
    grid = partial(affine_grid, size=(4, 4))
    assert dtypes_of_inputs(grid, (1, 2, 3), (8,)) == ["float32", "float32"]
    convolved = dtypes_of_inputs(
        deformable_convolution, (1, 4, 6, 6), (4, 4, 3, 3), (1, 18, 4, 4), op="y"
    )
    assert convolved == ["float16", "float16", "float32"]
    pooled = partial(max_roi_pool, size=(2, 2))
    assert dtypes_of_inputs(pooled, image, (2, 5)) == ["float16", "float32"]


@pytest.mark.parametrize("scopes", ["global", "texture"])
def test_convolution_accumulates_in_float32(dev, scopes):
    """Products of halves are exact in float32; a float16 sum would lose every second product."""
    generator = np.random.default_rng(5)
    x = generator.integers(-16, 17, (1, 64, 6, 6)).astype("float32")
    w = generator.integers(-16, 17, (8, 64, 3, 3)).astype("float32")
    g = Graph("conv")
    data = g.input("x", x.shape)
    (y,) = g.op("y", "conv", convolution, [data, g.constant("w", w)])
    g.output(y)
    compiled = g.compile(plain_target(dev), precision="fp16", scopes=scopes)
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(2, 3))
    expected = np.einsum("nchwij,ocij->nohw", windows, w)
    assert np.abs(expected).max() > 2048  # where float16 has no odd numbers
    assert (compiled.run({"x": x}, dev)["y"] == expected).all()
    assert compiled.summary["constant_bytes"] < w.nbytes * 0.7


def test_concatenation_of_an_input_stays_float32(dev):
    x = matrix()
    g = Graph("concat")
    data = g.input("x", x.shape)
    (a,) = g.op("a", "third", third, [data])
    both = g.concat("both", [a, data], 0)
    (y,) = g.op("y", "tripled", tripled, [both])
    g.output(y)
    expected = np.concatenate([x * THIRD, x]) * np.float32(3)
    assert (run(g, dev, x) == expected).all()


def test_passes_with_and_without():
    own = ("store_halves", "multiply_halves")
    assert set(own) <= set(graph_passes("fp16"))
    assert [each for each in graph_passes("fp16") if each not in own] == list(graph_passes())


def test_unknown_precision():
    with pytest.raises(texloom.TVMError, match="precision='fp8' is not supported") as caught:
        graph_of(third).compile(precision="fp8")
    assert caught.value.code == "TL2044"
