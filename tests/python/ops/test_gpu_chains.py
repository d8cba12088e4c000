"""A product of few rows and the product that reads it, as one kernel, with integers: exact."""

import re
from functools import partial

import numpy as np
import pytest

import texloom
from texloom import te
from texloom.graph import Graph
from texloom.ops.contraction import Contraction
from texloom.ops.elementwise import add, relu
from texloom.ops.movement import reshape
from texloom.ops.products import matmul
from texloom.ops.schedules.default import schedule_default
from texloom.ops.schedules.family import KernelTask
from texloom.ops.schedules.gpu.chains import CHAINS, ChainBlock
from texloom.ops.schedules.places import Places
from texloom.ops.stages import stages_of
from texloom.target import Target

TARGET = "opencl -device=nvidia -conditional_barriers=0"  # PoCL has no such barriers


def integers(shape, seed, dtype="float32"):
    return np.random.default_rng((seed, *shape)).integers(-2, 3, shape).astype(dtype)


def chain_of(rows, terms, hidden, columns, dtype="float32", has_epilogues=True):
    """Return the output and the inputs of two products: x @ a, then @ b."""
    shapes = ((rows, terms), (terms, hidden), (hidden,), (hidden, columns), (columns,))
    x, a, c, b, d = (te.placeholder(s, dtype, name=n) for n, s in zip("XACBD", shapes, strict=True))
    zero = te.const(0, dtype)
    first = matmul(x, a)
    if has_epilogues:  # which reads the sums twice, as SiLU
        sums = first
        first = te.compute(sums.shape, lambda i, j: te.max(sums(i, j) + c(j), zero) * sums(i, j))
    second = matmul(first, b)
    if has_epilogues:
        own = second
        second = te.compute(own.shape, lambda i, j: own(i, j) + d(j))
    return second, [x, a, c, b, d]


SHAPES = [
    (1, 1152, 48, 1152),
    (1, 144, 6, 144),
    (3, 40, 10, 52),
    (8, 64, 30, 200),
    (1, 97, 7, 13),  # no vectors; a prime number of steps
    (2, 8, 16, 3),
    (1, 2, 2, 3),
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "float16"])
@pytest.mark.parametrize("has_epilogues", [True, False])
def test_one_kernel(shape, dtype, has_epilogues):
    y, inputs = chain_of(*shape, dtype, has_epilogues)
    s = schedule_default([y], inputs, ["global"] * 6, Target(TARGET).value)
    f = texloom.build(s, [*inputs, y], TARGET)
    assert f.imported_modules[0].get_source().count("__kernel") == 1
    arrays = [integers(tuple(map(int, each.shape)), i, dtype) for i, each in enumerate(inputs)]
    if dtype == "float16":  # few terms, since it has integers up to 2048
        arrays[1][4:], arrays[3][2:] = 0, 0
    x, a, c, b, d = (each.astype("float64") for each in arrays)
    hidden = x @ a
    if has_epilogues:
        hidden = np.maximum(hidden + c, 0) * hidden
    expected = hidden @ b + (d if has_epilogues else 0)
    np.testing.assert_array_equal(f(*arrays), expected.astype(dtype))


def chain_for(shape, target=TARGET, dtype="float32"):
    return made_of(chain_of(*shape, dtype)[0], target)


def made_of(output, target=TARGET):
    stages = stages_of([output])
    places = Places(stages, [output]).place
    task = KernelTask(stages, [output], output, Target(target).value, places=places)
    return CHAINS.facts(task)


def test_which_products_are_one_kernel():
    """The first matrix is read by each block: it must take less time than a launch."""
    assert chain_for((1, 1152, 48, 1152)) is not None
    assert chain_for((1, 4096, 1024, 4096)) is None
    assert chain_for((9, 64, 16, 64)) is None  # more rows have tiles
    assert chain_for((1, 64, 4096, 64)) is None  # more columns than threads
    assert chain_for((1, 64, 16, 64), "opencl") is None
    assert chain_for((1, 64, 16, 64), "opencl -device=mali") is None
    small = TARGET + " -max_local_memory=1024"
    assert chain_for((1, 64, 16, 64), small) is None
    assert chain_for((8, 64, 512, 64), dtype="float64") is None  # more than the shared memory


def test_blocks_share_the_first_matrix():
    """A block has many columns of the second product, so that few blocks read the first matrix."""
    made = chain_for((1, 1152, 48, 1152))
    assert made.block == ChainBlock(columns=32, slices=16, first_slices=36, rows=16)
    assert made.first.lanes == made.second.lanes == 4
    # The sums of the slices, and the result of the first product.
    assert made.shared_bytes(made.block) == 4 * (36 * 48 + 16 * 128 + 48)


LOCAL = re.compile(r"__local float(\d?) \w+\[(\d+)\]")


@pytest.mark.parametrize(
    "shape", [(1, 240, 10, 240), (1, 96, 4, 96), (8, 64, 30, 200), (2, 8, 16, 3)]
)
def test_the_shared_memory_is_what_is_expected(shape):
    """Blocks share no more than their own columns, also if the last block has fewer."""
    y, inputs = chain_of(*shape)
    s = schedule_default([y], inputs, ["global"] * 6, Target(TARGET).value)
    source = texloom.build(s, [*inputs, y], TARGET).imported_modules[0].get_source()
    floats = sum(int(lanes or 1) * int(count) for lanes, count in LOCAL.findall(source))
    made = made_of(y)
    assert made.shared_bytes(made.block) == 4 * floats


def test_other_stages_are_no_chain():
    """The second product may read the first one only as its rows."""
    x, a = te.placeholder((4, 4)), te.placeholder((4, 4))
    first = matmul(x, a)
    y = matmul(x, first)
    sums = [each for each in stages_of([y]) if Contraction.of(each) is not None]
    assert len(sums) == 2
    assert made_of(y) is None


def test_what_else_reads_the_first_product():
    """Its result may be read again, as by a residual connection, but not the sums before it."""
    x, a = te.placeholder((1, 8)), te.placeholder((8, 8))
    sums = matmul(x, a)
    hidden = te.compute((1, 8), lambda i, j: te.max(sums(i, j), te.const(0, "float32")))
    second = matmul(hidden, a)
    y = te.compute((1, 8), lambda i, j: second(i, j) + hidden(i, j))
    assert made_of(y) is not None
    f = texloom.build(
        schedule_default([y], [x, a], ["global"] * 3, Target(TARGET).value), [x, a, y], TARGET
    )
    rows, matrix = integers((1, 8), 0), integers((8, 8), 1)
    positive = np.maximum(rows @ matrix, 0)
    np.testing.assert_array_equal(f(rows, matrix), positive @ matrix + positive)
    z = te.compute((1, 8), lambda i, j: second(i, j) + sums(i, j))
    assert made_of(z) is None


def squeeze_and_excitation(reads_twice=False, has_views=False):
    g = Graph("excitation")
    x = g.input("x", (1, 64))
    a, b = g.constant("a", integers((64, 8), 1)), g.constant("b", integers((8, 64), 2))
    (h,) = g.op("h", "MatMul", matmul, [x, a])
    (r,) = g.op("r", "Relu", relu, [h])
    if has_views:
        (v,) = g.op("v", "Reshape", partial(reshape, shape=(1, 8, 1, 1)), [r])
        (r,) = g.op("w", "Reshape", partial(reshape, shape=(1, 8)), [v])
    (y,) = g.op("y", "MatMul", matmul, [r, b])
    if reads_twice:
        (z,) = g.op("z", "Add", add, [r, r])
        g.output(z)
    g.output(y)
    return g


@pytest.mark.parametrize(
    ("how", "launches"),
    [({}, 1), ({"has_views": True}, 1), ({"reads_twice": True}, 3)],
    ids=["chain", "views", "read twice"],
)
def test_graphs(how, launches):
    """Views between the products need no kernel; what others read is computed once."""
    g = squeeze_and_excitation(**how)
    compiled = g.compile(TARGET)
    assert compiled.summary["launches"] == launches
    x = integers((1, 64), 3)
    hidden = np.maximum(x @ integers((64, 8), 1), 0)
    np.testing.assert_array_equal(compiled.run({"x": x})["y"], hidden @ integers((8, 64), 2))
