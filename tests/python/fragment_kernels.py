"""Products and convolutions that families of fragments schedule, with results to compare."""

import numpy as np

import texloom
from texloom import te, tir
from texloom.ops.contraction import Contraction
from texloom.ops.convolution import convolution
from texloom.ops.products import matmul
from texloom.ops.schedules import Choice, schedule_default
from texloom.ops.schedules.channels_last.layouts import activation_layout, weight_layout
from texloom.ops.schedules.gpu.fragment_family import CONVOLUTIONS, PRODUCTS
from texloom.ops.schedules.gpu.fragments import FragmentTile
from texloom.target import Target

FEW = FragmentTile((1, 1), (1, 1), 32)
TILES = {
    "one": FEW,
    "parts": FragmentTile((2, 2), (1, 1), 32),
    "groups": FragmentTile((1, 2), (2, 1), 32),
    "slices": FragmentTile((1, 1), (2, 2), 32, 2),
    "pieces": FragmentTile((1, 2), (1, 1), 32, 1, 3),
    "asynchronous": FragmentTile((1, 2), (1, 1), 16, 1, 1, 3),
    "last block": FragmentTile((1, 1), (1, 2), 16, 1, 2, 3, True),
}


def small_integers(*shape, seed=0, dtype="float16"):
    """Return small integers, whose products have exact sums."""
    return np.random.default_rng((seed, *shape)).integers(-3, 4, shape).astype(dtype)


def given(family, tile):
    """Return a choice of this tile for the family's kernels."""
    return lambda other, task: tile if other is family else other.default(task)


def product_of(shape, right, tile, target, dtype="float16", transposed=False):
    """Return the function of ``relu(a @ b + c)``; without a tile, with its default."""
    a = te.placeholder(shape, dtype, name="A")
    b = te.placeholder((*right[:-2], *right[:-3:-1]) if transposed else right, dtype, name="B")
    c = te.placeholder(right[-1:], dtype, name="C")
    if transposed:
        k = te.reduce_axis((0, shape[-1]), name="k")
        sums = te.compute(
            (shape[0], right[1]),
            lambda i, j: te.sum(a[i, k].astype("float32") * b[j, k].astype("float32"), axis=k),
            name="sums",
            **Contraction(0).marks(),
        )
        product = te.compute(sums.shape, lambda i, j: sums[i, j].astype(dtype), name="output")
    else:
        product = matmul(a, b)
    zero = te.const(0, dtype)
    y = te.compute(product.shape, lambda *i: te.max(product(*i) + c(i[-1]), zero), name="Y")
    choose = Choice() if tile is None else given(PRODUCTS, tile)
    s = schedule_default([y], [a, b, c], ["global"] * 4, Target(target).value, choose)
    return texloom.build(s, [a, b, c, y], target)


def convolved(x, w, stride, pad):
    """Return the convolution in float32."""
    kernel = w.shape[-1]
    padded = np.pad(x.astype("float32"), ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    down, across = (n - (n - kernel) % stride - kernel + 1 for n in padded.shape[2:])
    return sum(
        np.einsum(
            "nchw,oc->nohw",
            padded[:, :, i : i + down : stride, j : j + across : stride],
            w[:, :, i, j].astype("float32"),
        )
        for i in range(kernel)
        for j in range(kernel)
    )


def check_convolution(size, kernel, stride, pad, tile, target, device, dtype="float16", count=1):
    """Compare a convolution of images with channels last to NumPy's; return the function."""
    x = te.placeholder((count, 32, size, size), dtype, name="X")
    w = te.placeholder((48, 32, kernel, kernel), dtype, name="W")
    y = convolution(x, w, strides=[stride] * 2, pads=[pad] * 4)
    last, weights = activation_layout(4), weight_layout(4)
    scopes = [last, weights, last]
    s = schedule_default([y], [x, w], scopes, Target(target).value, given(CONVOLUTIONS, tile))
    binds = {
        each: tir.decl_buffer(each.shape, each.dtype, each.op.name, layout=layout)
        for each, layout in zip((x, w, y), scopes, strict=True)
    }
    f = texloom.build(s, [x, w, y], target, binds=binds)
    images = small_integers(count, 32, size, size, dtype=dtype)
    factors = small_integers(48, 32, kernel, kernel, seed=1, dtype=dtype)
    want = convolved(images, factors, stride, pad)
    arrays = [
        texloom.nd.array(each, device, layout=layout)
        for each, layout in zip((images, factors, np.zeros_like(want, dtype)), scopes, strict=True)
    ]
    f(*arrays)
    np.testing.assert_array_equal(arrays[2].numpy(), want.astype(dtype))
    return f
