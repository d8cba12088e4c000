"""Products and convolutions by matrix fragments. On PoCL, threads make the steps in loops."""

import re

import numpy as np
import pytest
from fragment_kernels import (
    FEW,
    TILES,
    check_convolution,
    convolved,
    product_of,
    small_integers,
)

import texloom
from texloom import te, tir
from texloom.ops.convolution import convolution
from texloom.ops.schedules import schedule_default
from texloom.ops.schedules.gpu.fragment_family import PRODUCTS, FragmentProduct
from texloom.ops.schedules.gpu.fragments import FragmentTile
from texloom.profiles import stated
from texloom.target import Target

TARGET = "opencl -device=nvidia -conditional_barriers=0 -matrix_unit=loops"


@pytest.mark.parametrize("tile", TILES.values(), ids=TILES)
@pytest.mark.parametrize("extents", [(32, 96, 64), (45, 96, 24), (17, 100, 40), (9, 64, 16)])
def test_products(extents, tile):
    """Rows, columns and steps end inside of tiles."""
    m, k, n = extents
    f = product_of((m, k), (k, n), tile, TARGET)
    a, b, c = small_integers(m, k), small_integers(k, n, seed=1), small_integers(n, seed=2)
    want = np.maximum(a.astype("float32") @ b.astype("float32") + c, 0)
    np.testing.assert_array_equal(f(a, b, c), want.astype("float16"))


def test_batches():
    f = product_of((3, 20, 48), (3, 48, 32), TILES["slices"], TARGET)
    a, b, c = (
        small_integers(3, 20, 48),
        small_integers(3, 48, 32, seed=1),
        small_integers(32, seed=2),
    )
    want = np.maximum(a.astype("float32") @ b.astype("float32") + c, 0)
    np.testing.assert_array_equal(f(a, b, c), want.astype("float16"))


@pytest.mark.parametrize("tile", [TILES["groups"], TILES["pieces"]])
def test_a_factor_may_be_transposed(tile):
    f = product_of((24, 96), (96, 40), tile, TARGET, transposed=True)
    a, b, c = small_integers(24, 96), small_integers(40, 96, seed=1), small_integers(40, seed=2)
    want = np.maximum(a.astype("float32") @ b.astype("float32").T + c, 0)
    np.testing.assert_array_equal(f(a, b, c), want.astype("float16"))


@pytest.mark.parametrize("tile", [TILES[x] for x in ("parts", "slices", "pieces", "last block")])
@pytest.mark.parametrize(
    ("size", "kernel", "stride", "pad"), [(12, 1, 1, 0), (7, 3, 1, 1), (14, 3, 2, 1), (9, 1, 2, 0)]
)
def test_convolutions(size, kernel, stride, pad, tile):
    check_convolution(size, kernel, stride, pad, tile, TARGET, texloom.opencl(0))


@pytest.mark.parametrize("tile", [TILES[x] for x in ("parts", "slices", "last block")])
@pytest.mark.parametrize(("size", "kernel", "stride"), [(28, 3, 2), (56, 1, 1)])
def test_convolutions_of_several_images(size, kernel, stride, tile):
    """The pixels of a block are those of one image, whether blocks divide it or not."""
    device = texloom.opencl(0)
    check_convolution(size, kernel, stride, kernel // 2, tile, TARGET, device, count=2)


OPEN_PRODUCTS = {
    "rows": (("n", 64), (64, 48)),
    "columns": ((32, 64), (64, "n")),
    "steps": ((32, "n"), ("n", 48)),
    "batch": (("n", 20, 64), ("n", 64, 48)),
}


@pytest.mark.parametrize(("left", "right"), OPEN_PRODUCTS.values(), ids=OPEN_PRODUCTS)
def test_products_of_open_extents_have_other_kernels(left, right):
    """Tiles of fragments are whole, so extents that only a call knows are for other families."""
    n = te.var("n")
    shapes = [[n if extent == "n" else extent for extent in shape] for shape in (left, right)]
    f = product_of(*shapes, None, TARGET)
    assert "fragment" not in f.get_source()
    for count in (1, 16, 33):
        given = [
            [count if extent == "n" else extent for extent in shape]
            for shape in (left, right, right[-1:])
        ]
        a, b, c = (small_integers(*shape, seed=at) for at, shape in enumerate(given))
        want = np.maximum(a.astype("float32") @ b.astype("float32") + c, 0)
        np.testing.assert_array_equal(f(a, b, c), want.astype("float16"))


@pytest.mark.parametrize("axis", ["batch", "height"])
def test_convolutions_of_open_extents_have_other_kernels(axis):
    """Images of a number or a height that only a call knows, which have no layout."""
    n = te.var("n")
    open_shape = (n, 32, 9, 9) if axis == "batch" else (1, 32, n, 9)
    x = te.placeholder(open_shape, "float16", name="X")
    w = te.placeholder((48, 32, 3, 3), "float16", name="W")
    y = convolution(x, w, pads=[1] * 4)
    s = schedule_default([y], [x, w], ["global"] * 3, Target(TARGET).value)
    f = texloom.build(s, [x, w, y], TARGET)
    assert "fragment" not in f.get_source()
    for count in (1, 5):
        shape = [count if extent is n else extent for extent in open_shape]
        images, factors = small_integers(*shape), small_integers(48, 32, 3, 3, seed=1)
        want = convolved(images, factors, 1, 1).astype("float16")
        np.testing.assert_array_equal(f(images, factors), want)


def test_nvidia_has_instructions_for_steps():
    f = product_of((64, 64), (64, 64), None, "opencl -device=nvidia")
    source = f.get_source()
    assert "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32" in source
    assert "ldmatrix.sync.aligned.m8n8.x4.shared.b16" in source
    assert "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16" in source
    assert "vload_half" not in source.partition("__kernel")[2]  # copies move bits


def test_nvidia_copies_asynchronously():
    """Rows past the end of the product are zeros, which are not read."""
    tile = FragmentTile((1, 1), (1, 2), 32, 1, 1, 4)
    source = product_of((40, 256), (256, 64), tile, "opencl -device=nvidia").get_source()
    assert "cp.async.cg.shared.global" in source and " ? 16 : 0);" in source
    assert source.count("cp.async.commit_group") >= 4 and "cp.async.wait_group 2;" in source
    assert "cp.async" not in product_of((40, 256), (256, 64), tile, TARGET).get_source()
    tile = FragmentTile((1, 1), (1, 2), 32)
    source = product_of((40, 256), (256, 64), tile, "opencl -device=nvidia").get_source()
    assert "cp.async" not in source


def test_single_elements_are_not_copied_asynchronously():
    """Rows of an odd number of elements of float16 begin at odd multiples of two bytes."""
    source = product_of((64, 333), (333, 51), None, "opencl -device=nvidia").get_source()
    assert "mma.sync" in source and "cp.async" not in source


def test_conditions_of_copies_may_be_choices():
    """A condition that is itself a choice decides on all bytes of a copy, not on a part of them."""
    a = te.placeholder((24, 32), name="A")
    kept = te.compute(
        a.shape,
        lambda k, i: tir.Select(
            tir.Select(k % 3 == 1, i > 3, k % 5 == 2), a[k, i], te.const(0, "float32")
        ),
        name="kept",
    )
    k = te.reduce_axis((0, 24), name="k")
    y = te.compute((32,), lambda i: te.sum(kept[k, i], axis=k), name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], te.thread_axis("threadIdx.x"))
    tile, _ = s[y].split(s[y].op.reduce_axis[0], 4)
    s[kept].set_scope("shared")
    s[kept].compute_at(s[y], tile)
    s[kept].bind(s[kept].op.axis[1], te.thread_axis("threadIdx.x"))
    s[kept].pipeline(3, asynchronous=True)
    source = texloom.build(s, [a, y], "opencl -device=nvidia").get_source()
    assert re.search(r"\(.* \? threadIdx_x > 3 : .*\) \? 4 : 0\);", source)


def test_shared_memory_is_aligned_for_steps():
    """Rows of 45 elements are copied one by one, and yet loaded into fragments by matrices."""
    source = product_of((45, 45), (45, 45), FEW, "opencl -device=nvidia").get_source()
    body = source.partition("__kernel")[2]
    assert "ushort4*" not in body and "ushort8*" not in body
    assert "_left_local_aligned(" in body and "_right_local_aligned(" in body
    assert "tl_fragment_store_local_aligned(" in body


def test_metal_has_matrices_for_steps():
    f = product_of((64, 64), (64, 64), FEW, "metal -device=m1 -matrix_unit=simdgroup")
    source = f.get_source()
    assert "simdgroup_matrix<half, 8, 8>" in source and "simdgroup_multiply_accumulate" in source


@pytest.mark.parametrize("unit", ["mma_sync", "simdgroup"])
def test_metal_alone_multiplies_float32(unit):
    """NVIDIA's instructions would round float32 to TF32."""
    target = f"metal -device=m1 -matrix_unit={unit}"
    if unit == "mma_sync":
        target = "opencl -device=nvidia"
    source = product_of((64, 64), (64, 64), None, target, "float32").get_source()
    assert ("simdgroup_matrix<float, 8, 8>" in source) == (unit == "simdgroup")
    assert "mma.sync" not in source


def test_targets_without_a_unit_have_other_kernels():
    source = product_of((64, 64), (64, 64), None, "opencl -device=nvidia -matrix_unit=none")
    assert "mma" not in source.get_source()


def test_the_estimate_prefers_large_tiles_of_large_products():
    large = FragmentProduct(1, 4096, 4096, 4096, 1024, 48 << 10, 2, True, True)
    small = FragmentProduct(1, 16, 256, 256, 1024, 48 << 10, 2, True, True)
    tiles = [PRODUCTS.best(each, stated("nvidia-h200")) for each in (large, small)]
    assert min(tiles[0].block) >= 64 and tiles[1].block[0] == 16


def test_a_target_without_a_fence_or_asynchronous_copies_needs_neither():
    few = FragmentProduct(1, 49, 512, 4608, 1024, 48 << 10)
    tiles = PRODUCTS.points(few)
    assert not any(tile.has_one_kernel or tile.stages > 2 for tile, _ in tiles)
