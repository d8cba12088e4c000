"""Products of matrices with tiles in shared memory, of integers, whose sums are exact."""

import numpy as np
import pytest

import texloom
from texloom import te
from texloom.ops.products import general_matmul, matmul
from texloom.ops.schedules.default import schedule_default
from texloom.ops.schedules.gpu.products import (
    Limits,
    ProductTile,
    microseconds,
    schedule_product,
    tile_for,
)
from texloom.target import Target

TARGET = "opencl -device=nvidia -conditional_barriers=0"  # PoCL has no such barriers
LIMITS = Limits(1024, 48 << 10, 16)


def integers(*shape, seed=0):
    return np.random.default_rng((seed, *shape)).integers(-4, 5, shape).astype("float32")


def computed(shape, right, has_epilogue, tile=None, target=TARGET):
    """Return the function of a product, with a bias and a ReLU if it has an epilogue."""
    a, b = te.placeholder(shape, name="A"), te.placeholder(right, name="B")
    c = te.placeholder(right[-1:], name="C")
    y = sums = matmul(a, b)
    arguments = [a, b]
    if has_epilogue:
        y = te.compute(sums.shape, lambda *i: te.max(sums(*i) + c(i[-1]), 0.0), name="Y")
        arguments.append(c)
    value = Target(target).value
    assert ProductTile.of(sums, y, value) is not None
    if tile is None:
        s = schedule_default([y], arguments, ["global"] * len(arguments) + ["global"], value)
    else:
        s = te.create_schedule(y.op)
        schedule_product(s, sums, y, tile)
    return texloom.build(s, [*arguments, y], target)


def check(left, right, has_epilogue, tile=None):
    a, b, c = integers(*left), integers(*right, seed=1), integers(right[-1], seed=2)
    expected = np.maximum(a @ b + c, 0) if has_epilogue else a @ b
    f = computed(left, right, has_epilogue, tile)
    np.testing.assert_array_equal(f(a, b, c) if has_epilogue else f(a, b), expected)
    return f


CASES = {
    # left, right: whole tiles; rows and columns that end inside of tiles; pieces of the steps
    "whole": ((64, 64), (64, 64)),
    "ends": ((33, 64), (64, 52)),
    "few steps": ((9, 8), (8, 40)),
    "steps of 16": ((40, 48), (48, 40)),
    "pieces": ((50, 768), (768, 100)),
    "batch": ((2, 3, 50, 64), (2, 3, 64, 48)),
    "a matrix for all": ((2, 50, 64), (64, 48)),
    "a batch of left sides": ((5, 30, 64), (1, 64, 32)),
}


@pytest.mark.parametrize("has_epilogue", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_default_schedules(name, has_epilogue):
    f = check(*CASES[name], has_epilogue)
    assert len(f.kernels) == (2 if name == "pieces" else 1)


@pytest.mark.parametrize("pieces", [1, 3])
@pytest.mark.parametrize("rows, warps", [(1, (1, 1)), (7, (1, 1)), (4, (2, 1)), (8, (1, 2))])
def test_tiles(rows, warps, pieces):
    check((45, 96), (96, 72), True, ProductTile(rows, warps, 16, pieces))


def test_small_blocks():
    """The kernel that adds up pieces has no more threads than the target allows, either."""
    f = computed((50, 768), (768, 100), True, target=f"{TARGET} -max_num_threads=64")
    assert len(f.kernels) == 2
    assert all(np.prod(kernel.block) <= 64 for kernel in f.kernels)


def test_many_matrices():
    """Only the first axis of a grid may have more than 65,535 blocks."""
    (kernel,) = computed((70000, 16, 64), (64, 48), False).kernels
    assert kernel.grid[0] >= 70000 and max(kernel.grid[1:]) < 65536


def test_open_rows():
    n = te.var("n")
    a, b = te.placeholder((n, 64), name="A"), te.placeholder((64, 48), name="B")
    y = matmul(a, b)
    target = Target(TARGET).value
    assert ProductTile.of(y, y, target) is not None
    f = texloom.build(schedule_default([y], [a, b], ["global"] * 3, target), [a, b, y], TARGET)
    for rows in (1, 28, 61):
        left, right = integers(rows, 64), integers(64, 48)
        np.testing.assert_array_equal(f(left, right), left @ right)


def test_halves_have_sums_of_float32():
    a, b = (te.placeholder(shape, "float16", name="A") for shape in ((40, 64), (64, 48)))
    y = matmul(a, b)
    (sums,) = y.op.input_tensors
    target = Target(TARGET).value
    assert ProductTile.of(sums, y, target) is not None
    f = texloom.build(schedule_default([y], [a, b], ["global"] * 3, target), [a, b, y], TARGET)
    left, right = integers(40, 64).astype("float16"), integers(64, 48).astype("float16")
    np.testing.assert_array_equal(f(left, right), left @ right)


def test_other_sums_have_no_tile():
    """A single row, transposed factors, one matrix twice, and steps that no tile divides."""
    target = Target(TARGET).value

    def has_tile(sums):
        return ProductTile.of(sums, sums, target) is not None

    x = te.placeholder((30, 64), name="x")
    w, t = te.placeholder((64, 48), name="w"), te.placeholder((48, 64), name="t")
    odd = te.placeholder((30, 63), name="odd"), te.placeholder((63, 48), name="v")
    square = te.placeholder((32, 32), name="square")
    assert has_tile(matmul(x, w))
    assert not has_tile(matmul(te.placeholder((1, 64), name="row"), w))
    assert not has_tile(general_matmul(x, t, transpose_b=True))
    assert not has_tile(matmul(square, square))
    assert not has_tile(matmul(*odd))
    assert not has_tile(matmul(x, te.placeholder((64, 49), name="u")))
    for other in ("opencl -device=mali", "opencl -device=adreno", "llvm"):
        assert ProductTile.of(matmul(x, w), matmul(x, w), Target(other).value) is None


def test_the_estimate_fills_the_processors():
    """Few tiles are divided into pieces; a block stays within the limits of a device."""
    assert tile_for(1, 197, 768, 3072, LIMITS).pieces > 1
    assert tile_for(1, 3136, 384, 96, LIMITS).pieces == 1
    assert tile_for(64, 1024, 1024, 1024, LIMITS).pieces == 1
    assert tile_for(1, 197, 768, 3072, Limits(1024, 48 << 10, 1)).pieces == 1
    small = tile_for(1, 1024, 1024, 1024, Limits(64, 16 << 10, 16))
    assert small.threads <= 64 and small.shared_bytes <= 16 << 10
    assert tile_for(1, 1024, 1024, 1024, Limits(16, 16 << 10, 16)) is None
    large = tile_for(1, 1024, 1024, 1024, LIMITS)
    # 2 * 10^9 operations at 6.7 * 10^13 a second.
    assert 32 < microseconds(large, 1, 1024, 1024, 1024) < 100
