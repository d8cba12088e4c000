"""Products and convolutions by matrix fragments. On PoCL, threads make the steps in loops."""

import numpy as np
import pytest

import texloom
from texloom import te, tir
from texloom.ops.contraction import Contraction
from texloom.ops.convolution import convolution
from texloom.ops.products import matmul
from texloom.ops.schedules import Choice, schedule_default
from texloom.ops.schedules.channels_last.layouts import activation_layout, weight_layout
from texloom.ops.schedules.gpu.fragment_family import CONVOLUTIONS, PRODUCTS, FragmentProduct
from texloom.ops.schedules.gpu.fragments import FragmentTile
from texloom.profiles import stated
from texloom.target import Target

TARGET = "opencl -device=nvidia -conditional_barriers=0 -matrix_unit=loops"
FEW = FragmentTile((1, 1), (1, 1), 32)
TILES = {
    "one": FEW,
    "parts": FragmentTile((2, 2), (1, 1), 32),
    "groups": FragmentTile((1, 2), (2, 1), 32),
    "slices": FragmentTile((1, 1), (2, 2), 32, 2),
    "pieces": FragmentTile((1, 2), (1, 1), 32, 1, 3),
}


def halves(*shape, seed=0):
    """Small integers, whose products have exact sums."""
    return np.random.default_rng((seed, *shape)).integers(-3, 4, shape).astype("float16")


def given(family, tile):
    return lambda other, task: tile if other is family else other.default(task)


def product_of(shape, right, tile, target=TARGET, transposed=False):
    """Return the function of ``relu(a @ b + c)``; without a tile, with its default."""
    a = te.placeholder(shape, "float16", name="A")
    b = te.placeholder((*right[:-2], *right[:-3:-1]) if transposed else right, "float16", name="B")
    c = te.placeholder(right[-1:], "float16", name="C")
    if transposed:
        k = te.reduce_axis((0, shape[-1]), name="k")
        sums = te.compute(
            (shape[0], right[1]),
            lambda i, j: te.sum(a[i, k].astype("float32") * b[j, k].astype("float32"), axis=k),
            name="sums",
            **Contraction(0).marks(),
        )
        product = te.compute(sums.shape, lambda i, j: sums[i, j].astype("float16"), name="output")
    else:
        product = matmul(a, b)
    zero = te.const(0, "float16")
    y = te.compute(product.shape, lambda *i: te.max(product(*i) + c(i[-1]), zero), name="Y")
    choose = Choice() if tile is None else given(PRODUCTS, tile)
    s = schedule_default([y], [a, b, c], ["global"] * 4, Target(target).value, choose)
    return texloom.build(s, [a, b, c, y], target)


@pytest.mark.parametrize("tile", TILES.values(), ids=TILES)
@pytest.mark.parametrize("extents", [(32, 96, 64), (45, 96, 24), (17, 100, 40), (9, 64, 16)])
def test_products(extents, tile):
    """Rows, columns and steps end inside of tiles."""
    m, k, n = extents
    f = product_of((m, k), (k, n), tile)
    a, b, c = halves(m, k), halves(k, n, seed=1), halves(n, seed=2)
    want = np.maximum(a.astype("float32") @ b.astype("float32") + c, 0)
    np.testing.assert_array_equal(f(a, b, c), want.astype("float16"))


def test_batches():
    f = product_of((3, 20, 48), (3, 48, 32), TILES["slices"])
    a, b, c = halves(3, 20, 48), halves(3, 48, 32, seed=1), halves(32, seed=2)
    want = np.maximum(a.astype("float32") @ b.astype("float32") + c, 0)
    np.testing.assert_array_equal(f(a, b, c), want.astype("float16"))


@pytest.mark.parametrize("tile", [TILES["groups"], TILES["pieces"]])
def test_a_factor_may_be_transposed(tile):
    f = product_of((24, 96), (96, 40), tile, transposed=True)
    a, b, c = halves(24, 96), halves(40, 96, seed=1), halves(40, seed=2)
    want = np.maximum(a.astype("float32") @ b.astype("float32").T + c, 0)
    np.testing.assert_array_equal(f(a, b, c), want.astype("float16"))


def convolved(x, w, stride, pad):
    """Return the convolution in float32."""
    kernel = w.shape[-1]
    padded = np.pad(x.astype("float32"), ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    size = (padded.shape[-1] - kernel) // stride + 1
    reach = stride * (size - 1) + 1
    return sum(
        np.einsum(
            "nchw,oc->nohw",
            padded[:, :, i : i + reach : stride, j : j + reach : stride],
            w[:, :, i, j].astype("float32"),
        )
        for i in range(kernel)
        for j in range(kernel)
    )


@pytest.mark.parametrize("tile", [TILES["parts"], TILES["slices"], TILES["pieces"]])
@pytest.mark.parametrize(
    ("size", "kernel", "stride", "pad"), [(12, 1, 1, 0), (7, 3, 1, 1), (14, 3, 2, 1), (9, 1, 2, 0)]
)
def test_convolutions(size, kernel, stride, pad, tile):
    x = te.placeholder((1, 32, size, size), "float16", name="X")
    w = te.placeholder((48, 32, kernel, kernel), "float16", name="W")
    y = convolution(x, w, strides=[stride] * 2, pads=[pad] * 4)
    last, weights = activation_layout(4), weight_layout(4)
    scopes = [last, weights, last]
    s = schedule_default([y], [x, w], scopes, Target(TARGET).value, given(CONVOLUTIONS, tile))
    binds = {
        each: tir.decl_buffer(each.shape, each.dtype, each.op.name, layout=layout)
        for each, layout in zip((x, w, y), scopes, strict=True)
    }
    f = texloom.build(s, [x, w, y], TARGET, binds=binds)
    device = texloom.opencl(0)
    images, factors = halves(1, 32, size, size), halves(48, 32, kernel, kernel, seed=1)
    want = convolved(images, factors, stride, pad)
    arrays = (images, factors, np.zeros(want.shape, "float16"))
    given_arrays = [
        texloom.nd.array(each, device, layout=layout)
        for each, layout in zip(arrays, scopes, strict=True)
    ]
    f(*given_arrays)
    np.testing.assert_array_equal(given_arrays[2].numpy(), want.astype("float16"))


def test_nvidia_has_instructions_for_steps():
    f = product_of((64, 64), (64, 64), None, "opencl -device=nvidia")
    source = f.get_source()
    assert "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32" in source
    assert "ldmatrix.sync.aligned.m8n8.x4.shared.b16" in source
    assert "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16" in source
    assert "vload_half" not in source.partition("__kernel")[2]  # copies move bits


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


def test_targets_without_a_unit_have_other_kernels():
    source = product_of((64, 64), (64, 64), None, "opencl -device=nvidia -matrix_unit=none")
    assert "mma" not in source.get_source()


def test_the_estimate_prefers_large_tiles_of_large_products():
    large = FragmentProduct(1, 4096, 4096, 4096, 1024, 48 << 10)
    small = FragmentProduct(1, 16, 256, 256, 1024, 48 << 10)
    tiles = [PRODUCTS.best(each, stated("nvidia-h200")) for each in (large, small)]
    assert min(tiles[0].block) >= 64 and tiles[1].block[0] == 16
