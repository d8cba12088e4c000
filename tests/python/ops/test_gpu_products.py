"""Products of matrices with tiles in shared memory, of integers, whose sums are exact."""

import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import texloom
from texloom import te
from texloom.ops.products import general_matmul, matmul
from texloom.ops.schedules.default import schedule_default
from texloom.ops.schedules.family import KernelTask, Space
from texloom.ops.schedules.gpu.product_family import PRODUCTS, Product
from texloom.ops.schedules.gpu.product_tiles import Limits, ProductTile, candidates, seconds
from texloom.ops.schedules.gpu.products import schedule_product
from texloom.profiles import stated
from texloom.target import Target

TARGET = "opencl -device=nvidia -conditional_barriers=0"  # PoCL has no such barriers
H200 = stated("nvidia-h200")
LIMITS = Limits(1024, 48 << 10, 16)


def tile_of(sums, root, target):
    return PRODUCTS.default(KernelTask.of_sums(sums, root, target))


def tile_for(*extents):
    """The tile for a batch, rows, columns and steps, within limits."""
    return PRODUCTS.best(Product(*extents), H200)


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
    assert tile_of(sums, y, value) is not None
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
    # Rows that no vectors of four divide, or none at all.
    "columns of twos": ((33, 64), (64, 70)),
    "odd columns": ((2, 45, 24), (2, 24, 197)),
    "odd columns, pieces": ((50, 3072), (3072, 101)),
    "steps of 16": ((40, 48), (48, 40)),
    "steps of 28": ((60, 196), (196, 64)),
    "odd steps": ((45, 197), (197, 104)),
    "three steps": ((30, 3), (3, 64)),
    "slices": ((50, 768), (768, 100)),
    "pieces": ((50, 3072), (3072, 100)),
    "batch": ((2, 3, 50, 64), (2, 3, 64, 48)),
    "a matrix for all": ((2, 50, 64), (64, 48)),
    "a batch of left sides": ((5, 30, 64), (1, 64, 32)),
}


@pytest.mark.parametrize("has_epilogue", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_default_schedules(name, has_epilogue):
    f = check(*CASES[name], has_epilogue)
    assert len(f.kernels) == 1
    assert ("tl_take_ticket" in f.kernels[0].source) == (
        name in ("slices", "pieces", "odd columns, pieces")
    )


def test_two_kernels_where_no_fence_is_known():
    f = computed((50, 3072), (3072, 100), True, target=f"{TARGET} -device_fence=0")
    assert len(f.kernels) == 2


@pytest.mark.parametrize("pieces", [1, 3])
@pytest.mark.parametrize("rows, warps", [(1, (1, 1)), (7, (1, 1)), (4, (2, 1)), (8, (1, 2))])
def test_tiles(rows, warps, pieces):
    check((45, 96), (96, 72), True, ProductTile(rows, warps, 16, pieces))


SLICED = {
    "vectors of four": ProductTile(4, (2, 1), 16, slices=4),
    "vectors of two": ProductTile(7, (2, 1), 16, slices=2),
    "single elements": ProductTile(7, (1, 1), 32, slices=4),
    "four steps each": ProductTile(4, (1, 1), 32, slices=8),
    "wide blocks": ProductTile(8, (1, 2), 16, slices=4),
    "pieces": ProductTile(7, (1, 1), 16, pieces=2, slices=2),
    "more pieces": ProductTile(8, (1, 1), 32, pieces=3, slices=4),
    "one kernel": ProductTile(4, (2, 1), 16, pieces=2, has_one_kernel=True),
    "one kernel of slices": ProductTile(7, (1, 1), 16, pieces=2, slices=2, has_one_kernel=True),
}


@pytest.mark.parametrize("has_epilogue", [False, True])
@pytest.mark.parametrize("name", SLICED)
def test_slices(name, has_epilogue):
    """The last rows and columns are inside of blocks."""
    tile = SLICED[name]
    f = check((45, 96), (96, 72), has_epilogue, tile)
    assert len(f.kernels) == (1 if tile.pieces == 1 or tile.has_one_kernel else 2)
    assert f.kernels[0].block == (tile.threads, 1, 1)


@pytest.mark.parametrize(
    "left, right",
    [
        ((2, 3, 50, 64), (2, 3, 64, 48)),
        ((2, 50, 64), (64, 48)),
        # Less than a block.
        ((5, 30, 64), (1, 64, 32)),
        ((9, 64), (64, 20)),
        # Vectors do not divide the columns.
        ((2, 70, 64), (64, 71)),
        ((64, 64), (64, 66)),
    ],
)
@pytest.mark.parametrize(
    "name", ["single elements", "wide blocks", "pieces", "one kernel", "one kernel of slices"]
)
def test_slices_of_batches_and_small_products(name, left, right):
    check(left, right, True, SLICED[name])


@pytest.mark.parametrize("rows", [112, 113])
@pytest.mark.parametrize("name", [name for name in SLICED if not name.startswith("one kernel")])
def test_kernels_of_slices(name, rows):
    """Factors are read by vectors of four; shared memory is as stated, and barriers are few."""
    tile = SLICED[name]
    kernel = computed((rows, 384), (384, 128), False, tile).kernels[0]
    declared = re.findall(r"__local float(\d?) \w+\[(\d+)\]", kernel.source)
    assert sum(int(n or 1) * int(count) * 4 for n, count in declared) == tile.shared_bytes
    assert not re.search(r"= [AB]\[", kernel.source)
    # One in a step, though not all threads copy as many vectors; one before slices are added up.
    assert kernel.source.count("barrier(") == 2


def test_slices_have_an_epilogue_of_several_tensors():
    left, right = integers(45, 96), integers(96, 72, seed=1)
    bias, residual = integers(72, seed=2), integers(45, 72, seed=3)
    a, b = te.placeholder(left.shape, name="A"), te.placeholder(right.shape, name="B")
    c, r = te.placeholder(bias.shape, name="C"), te.placeholder(residual.shape, name="R")
    sums = matmul(a, b)
    y = te.compute(sums.shape, lambda i, j: sums(i, j) + c(j) + r(i, j), name="Y")
    for tile in SLICED.values():
        s = te.create_schedule(y.op)
        schedule_product(s, sums, y, tile)
        f = texloom.build(s, [a, b, c, r, y], TARGET)
        expected = left @ right + bias + residual
        np.testing.assert_array_equal(f(left, right, bias, residual), expected)


def test_slices_are_added_in_order():
    """The sums of the slices are 2^24, 1, -2^24 and 1: in another order they would add up to 2."""
    left, right = np.ones((32, 16), "float32"), np.zeros((16, 32), "float32")
    right[::4] = np.array([[2**24], [1], [-(2**24)], [1]])
    f = computed(left.shape, right.shape, False, SLICED["vectors of four"])
    np.testing.assert_array_equal(f(left, right), np.ones((32, 32)))


@pytest.mark.parametrize(
    "name", ["single elements", "more pieces", "one kernel", "one kernel of slices"]
)
def test_equal_inputs_have_equal_bits(name):
    rng = np.random.default_rng(0)
    left, right = (rng.standard_normal(shape, "float32") for shape in ((45, 192), (192, 72)))
    f = computed(left.shape, right.shape, False, SLICED[name])
    np.testing.assert_array_equal(f(left, right), f(left, right))


def test_one_kernel_has_the_bits_of_two():
    """The last block adds up the pieces in the order of the second kernel, whichever it is."""
    rng = np.random.default_rng(1)
    left, right = (rng.standard_normal(shape, "float32") for shape in ((45, 192), (192, 72)))
    tiles = [ProductTile(4, (2, 1), 16, 3, has_one_kernel=one) for one in (False, True)]
    two, one = (computed(left.shape, right.shape, False, tile) for tile in tiles)
    assert len(two.kernels) == 2 and len(one.kernels) == 1
    for _ in range(5):
        np.testing.assert_array_equal(one(left, right), two(left, right))


def test_threads_run_one_kernel_at_once():
    """Runs on one device count their blocks apart, also in several threads."""
    f = computed((45, 96), (96, 72), False, SLICED["one kernel"])
    cases = [(integers(45, 96, seed=i), integers(96, 72, seed=i + 9)) for i in range(4)]
    with ThreadPoolExecutor(4) as threads:
        for _ in range(5):
            results = list(threads.map(lambda case: f(*case), cases))
            for (left, right), result in zip(cases, results, strict=True):
                np.testing.assert_array_equal(result, left @ right)


def test_small_blocks():
    """The kernel that adds up pieces has no more threads than the target allows, either."""
    target = f"{TARGET} -max_num_threads=64 -device_fence=0"
    f = computed((50, 768), (768, 100), True, target=target)
    assert len(f.kernels) == 2
    assert all(np.prod(kernel.block) <= 64 for kernel in f.kernels)


def test_many_matrices():
    """Only the first axis of a grid may have more than 65,535 blocks."""
    (kernel,) = computed((70000, 16, 64), (64, 48), False).kernels
    assert kernel.grid[0] >= 70000 and max(kernel.grid[1:]) < 65536


@pytest.mark.parametrize("tile", [None, *SLICED.values()])
def test_open_rows(tile):
    n = te.var("n")
    a, b = te.placeholder((n, 192), name="A"), te.placeholder((192, 48), name="B")
    y = matmul(a, b)
    target = Target(TARGET).value
    assert tile_of(y, y, target) is not None
    if tile is None:
        s = schedule_default([y], [a, b], ["global"] * 3, target)
    else:
        s = te.create_schedule(y.op)
        schedule_product(s, y, y, tile)
    f = texloom.build(s, [a, b, y], TARGET)
    for rows in (1, 28, 61):
        left, right = integers(rows, 192), integers(192, 48)
        np.testing.assert_array_equal(f(left, right), left @ right)


@pytest.mark.parametrize("tile", [None, SLICED["single elements"], SLICED["pieces"]])
def test_halves_have_sums_of_float32(tile):
    a, b = (te.placeholder(shape, "float16", name="A") for shape in ((40, 64), (64, 48)))
    y = matmul(a, b)
    (sums,) = y.op.input_tensors
    target = Target(f"{TARGET} -matrix_unit=none").value
    assert tile_of(sums, y, target) is not None
    if tile is None:
        s = schedule_default([y], [a, b], ["global"] * 3, target)
    else:
        s = te.create_schedule(y.op)
        schedule_product(s, sums, y, tile)
    f = texloom.build(s, [a, b, y], target)
    left, right = integers(40, 64).astype("float16"), integers(64, 48).astype("float16")
    np.testing.assert_array_equal(f(left, right), left @ right)


def test_other_sums_have_no_tile():
    """A single row, transposed factors, one matrix twice, and steps that no tile divides."""
    target = Target(TARGET).value

    def has_tile(sums):
        return tile_of(sums, sums, target) is not None

    x = te.placeholder((30, 64), name="x")
    w, t = te.placeholder((64, 48), name="w"), te.placeholder((48, 64), name="t")
    square = te.placeholder((32, 32), name="square")
    assert has_tile(matmul(x, w))
    assert not has_tile(matmul(te.placeholder((1, 64), name="row"), w))
    assert not has_tile(general_matmul(x, t, transpose_b=True))
    assert not has_tile(matmul(square, square))
    assert has_tile(matmul(x, te.placeholder((64, 49), name="u")))
    assert not has_tile(matmul(x, te.placeholder((64, 29), name="u")))
    odd = te.placeholder((30, 29), name="odd")
    assert not has_tile(matmul(odd, te.placeholder((29, 65), name="u")))
    for other in ("opencl -device=mali", "opencl -device=adreno", "llvm"):
        assert tile_of(matmul(x, w), matmul(x, w), Target(other).value) is None


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
    assert 32e-6 < seconds(large, 1, 1024, 1024, 1024, H200) < 100e-6


def test_tiles_of_slices_fit_a_block():
    """Each slice has whole vectors of steps; limits of threads and of shared memory hold."""

    def of(threads=1024, shared_bytes=48 << 10, slices=8, steps=768):
        tiles = Space.of(candidates(steps, Limits(threads, shared_bytes, 16, slices)))
        return [tile for tile in tiles if tile.slices > 1]

    assert {tile.slices for tile in of()} == {2, 4, 8}
    for tile in of():
        assert tile.steps % (4 * tile.slices) == 0 and 4 * tile.rows % tile.slices == 0
        assert tile.threads == 32 * tile.slices * tile.warps[0] * tile.warps[1]
    wide = {tile.steps for tile in of() if (tile.rows, tile.slices) == (8, 4)}
    assert wide == {16, 32}  # the sums of the wider block leave less memory
    assert {tile.slices for tile in of(steps=8 * 3)} == {2}
    assert {tile.slices for tile in of(slices=4)} == {2, 4} and not of(slices=1)
    assert 0 < len(of(threads=128)) < len(of()) and not of(threads=32)
    assert all(tile.threads <= 128 for tile in of(threads=128))
    assert 0 < len(of(shared_bytes=20 << 10)) < len(of()) and not of(shared_bytes=4 << 10)
    assert all(tile.shared_bytes <= 20 << 10 for tile in of(shared_bytes=20 << 10))


@pytest.mark.parametrize("columns", [8, 18])
def test_blocks_of_few_threads(columns):
    """Products outside of tiles in shared memory have blocks that the target allows, too."""
    a, b = te.placeholder((33, 8), name="a"), te.placeholder((8, columns), name="b")
    y = matmul(a, b)
    target = Target("opencl -device=mali -max_num_threads=16")
    s = schedule_default([y], [a, b], ["global"] * 3, target.value)
    (kernel,) = texloom.build(s, [a, b, y], target).kernels
    assert 1 < np.prod(kernel.block) <= 16


def test_slices_have_warps_of_their_own():
    """A processor computes two blocks of eight warps side by side, and a third one afterwards."""
    tile = ProductTile(4, (1, 1), 32, slices=8)
    down, across = tile.block
    one, two, three = (seconds(tile, 1, n * 132 * down, across, 1024, H200) for n in (1, 2, 3))
    assert one == two and three > 1.5 * two
