"""Convolutions as products with tiles in shared memory, of integers, whose sums are exact."""

import numpy as np
import pytest
from fragment_kernels import convolved

import texloom
from texloom import te, tir
from texloom.ops.convolution import convolution
from texloom.ops.schedules import Choice, families, schedule_default
from texloom.ops.schedules.channels_last.layouts import activation_layout, weight_layout
from texloom.ops.schedules.gpu.channels_last import CONVOLUTIONS as IN_REGISTERS
from texloom.ops.schedules.gpu.product_family import CONVOLUTIONS
from texloom.ops.schedules.gpu.product_tiles import ProductTile
from texloom.target import resolve

TARGET = "opencl -device=nvidia -conditional_barriers=0"  # PoCL has no such barriers
LAST = activation_layout(4)

TILES = {
    "one slice": ProductTile(4, (2, 1), 16),
    "slices": ProductTile(7, (1, 1), 32, slices=4),
    "two kernels": ProductTile(8, (1, 2), 8, pieces=2),
    "last block": ProductTile(7, (2, 1), 16, pieces=3, slices=2, has_one_kernel=True),
}
SIZES = {
    # Images, inputs, outputs, side, window, stride, padding. Pixels, channels and steps end inside
    # of tiles.
    "3x3": (1, 16, 36, 12, 3, 1, 1),
    "1x1": (1, 40, 24, 9, 1, 1, 0),
    "stride and images": (2, 8, 20, 13, 3, 2, 1),
    "whole blocks of images": (2, 8, 36, 56, 1, 1, 0),
    "blocks of an image": (2, 8, 36, 27, 3, 2, 1),
    "no padding": (1, 12, 64, 9, 5, 1, 0),
}


def integers(*shape, seed=0):
    return np.random.default_rng((seed, *shape)).integers(-3, 4, shape).astype("float32")


def parts(size):
    """Return the inputs and the result of a convolution with bias, residual and ReLU."""
    images, inputs, outputs, side, window, stride, pad = size
    x = te.placeholder((images, inputs, side, side), name="x")
    w = te.placeholder((outputs, inputs, window, window), name="w")
    b = te.placeholder((outputs,), name="b")
    sums = convolution(x, w, strides=[stride] * 2, pads=[pad] * 4)
    r = te.placeholder(tuple(sums.shape), name="r")
    y = te.compute(sums.shape, lambda *i: te.max(sums(*i) + b(i[1]) + r(*i), 0.0), name="y")
    return [x, w, b, r], y


def family_of(size, target=TARGET, first=LAST):
    """Return the family that schedules a convolution."""
    arguments, y = parts(size)
    seen = Choice()
    schedule_default([y], arguments, [first, *scopes()[1:]], resolve(target), seen)
    ((family, _),) = seen.kernels
    return family


def facts_of(size):
    arguments, y = parts(size)
    seen = Choice()
    schedule_default([y], arguments, scopes(), resolve(TARGET), seen)
    ((_, task),) = seen.kernels.items()
    return CONVOLUTIONS.facts_of(task)


def test_facts_tell_convolutions_of_equal_products_apart():
    """Knobs that were measured for one are not those of another."""
    found = [
        facts_of(size)
        for size in (
            (1, 64, 32, 14, 3, 1, 1),
            (1, 576, 32, 14, 1, 1, 0),
            (1, 64, 32, 27, 3, 2, 1),
            (1, 64, 32, 16, 3, 1, 0),
        )
    ]
    products = {(each.rows, each.columns, each.steps) for each in found}
    assert products == {(196, 32, 576)} and len(set(found)) == 3  # the padding is no difference
    assert found[0] == found[3]


def scopes():
    return [LAST, weight_layout(4), "global", LAST, LAST]


@pytest.mark.parametrize("tile", TILES.values(), ids=TILES)
@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_tiles(size, tile, monkeypatch):
    monkeypatch.setattr(families, "_RIVALS", {CONVOLUTIONS: 1.0})
    arguments, y = parts(size)
    s = schedule_default([y], arguments, scopes(), resolve(TARGET), lambda *_: tile)
    binds = {
        each: tir.decl_buffer(each.shape, each.dtype, each.op.name, layout=layout)
        for each, layout in zip((*arguments, y), scopes(), strict=True)
        if layout != "global"
    }
    f = texloom.build(s, [*arguments, y], TARGET, binds=binds)
    assert len(f.kernels) == (2 if tile.pieces > 1 and not tile.has_one_kernel else 1)
    values = [integers(*map(int, each.shape), seed=i) for i, each in enumerate(arguments)]
    want = convolved(values[0], values[1], size[-2], size[-1])
    want = np.maximum(want + values[2].reshape(1, -1, 1, 1) + values[3], 0)
    given, device = [*values, np.full(want.shape, np.nan, "float32")], texloom.opencl(0)
    arrays = [
        texloom.nd.array(value, device, **({} if layout == "global" else {"layout": layout}))
        for value, layout in zip(given, scopes(), strict=True)
    ]
    f(*arrays)
    np.testing.assert_array_equal(arrays[-1].numpy(), want)


def test_convolutions_of_many_channels_are_products():
    large = (1, 960, 160, 7, 1, 1, 0)
    assert family_of(large) is CONVOLUTIONS
    assert family_of((1, 16, 8, 8, 1, 1, 0)) is IN_REGISTERS  # fewer channels than a tile has
    assert family_of((1, 962, 160, 7, 1, 1, 0)) is IN_REGISTERS  # no vectors
    assert family_of(large, first="global") is IN_REGISTERS  # neighbors are far apart
    for target in ("opencl -device=adreno", "opencl -device=mali"):
        assert family_of(large, target) is IN_REGISTERS  # slow shared memory
