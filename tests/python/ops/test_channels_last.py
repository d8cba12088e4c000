"""Convolutions with channels last in memory, on CPU and GPU targets."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import texloom
from texloom import nd, te
from texloom.graph import Graph
from texloom.ops.contraction import Contraction, is_depthwise
from texloom.ops.convolution import convolution
from texloom.ops.elementwise import add
from texloom.ops.pooling import max_pool
from texloom.ops.schedules import schedule_default
from texloom.ops.schedules.channels_last.layouts import (
    activation_layout,
    blocked_weight_layout,
    weight_layout,
)
from texloom.ops.schedules.family import KernelTask, Space
from texloom.ops.schedules.gpu.channels_last import CONVOLUTIONS, DEPTHWISE, Convolution
from texloom.ops.schedules.gpu.convolution import ConvolutionTile
from texloom.ops.schedules.gpu.tiles import RULES, BlockLimits, ConvolutionShape, Tiles
from texloom.ops.schedules.processor import channels_last as processor_channels_last
from texloom.ops.schedules.processor.tiles import Pixels, PixelTile
from texloom.ops.schedules.storages import channels_last_storages
from texloom.ops.stages import stages_of
from texloom.profiles import stated
from texloom.target import TargetValue, resolve
from texloom.tir.buffer import decl_buffer

PROCESSOR = TargetValue("opencl")
# Barriers under conditions would be wrong on a processor, where these tests run.
TARGET = TargetValue("opencl -device_class=gpu -conditional_barriers=0")


def integers(*shape, seed=0):
    """Return small integers, whose sums of products are exact."""
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(np.float32)


def expected(x, weight, bias, stride, groups):
    """Return the convolution of arrays of any rank, with the padding that keeps the size."""
    rank = x.ndim - 2
    kernel = weight.shape[2:]
    padded = np.pad(x, [(0, 0), (0, 0), *((k // 2, k // 2) for k in kernel)])
    axes = tuple(range(2, 2 + rank))
    windows = sliding_window_view(padded, kernel, axes)[(..., *[slice(None)] * rank)]
    windows = windows[(slice(None), slice(None), *[slice(None, None, stride)] * rank)]
    spatial, taps = "ijk"[:rank], "xyz"[:rank]
    parts = []
    for xs, ws in zip(
        np.split(windows, groups, axis=1), np.split(weight, groups, axis=0), strict=True
    ):
        parts.append(np.einsum(f"nc{spatial}{taps},oc{taps}->no{spatial}", xs, ws))
    sums = np.concatenate(parts, axis=1)
    return sums + bias.reshape(1, -1, *[1] * rank)


class Layer:
    """A convolution with padding that keeps the size (up to the stride), a bias and a clip."""

    def __init__(self, spatial, channels, kernel, stride):
        inputs, outputs, groups = (*channels, 1)[:3]
        if outputs is None:
            outputs = groups = inputs
        self.rank = 2 + len(spatial)
        self.arrays = (
            integers(2, inputs, *spatial),
            integers(outputs, inputs // groups, *kernel, seed=1),
            integers(outputs, seed=2),
        )
        self.inputs = [
            te.placeholder(v.shape, name=n) for n, v in zip("xwb", self.arrays, strict=True)
        ]
        sums = convolution(
            *self.inputs,
            strides=[stride] * len(spatial),
            pads=[k // 2 for k in kernel] * 2,
            groups=groups,
        )
        self.output = te.compute(
            sums.shape, lambda *i: te.max(sums(*i), te.const(0.0)), name="relu"
        )
        self.exact = np.maximum(expected(*self.arrays, stride, groups), 0)
        stages = stages_of([self.output])
        (self.sums,) = (each for each in stages if Contraction.of(each) is not None)

    def run(self, s, target, weight, kernels=1):
        """Run a schedule of so many kernels with channels last; return the result."""
        last = activation_layout(self.rank)
        tensors = (*self.inputs, self.output)
        layouts = dict(zip(tensors, (last, weight, None, last), strict=True))
        binds = {t: decl_buffer(t.shape, t.dtype, layout=at) for t, at in layouts.items() if at}
        function = texloom.build(s, tensors, target, binds=binds)
        assert len(function.kernels) == kernels
        device = texloom.opencl()
        result = nd.empty(self.exact.shape, "float32", device, layout=last)
        given = zip(self.arrays, (last, weight, None), strict=True)
        function(
            *(nd.array(v, device, layout=at) if at else nd.array(v, device) for v, at in given),
            result,
        )
        return result.numpy()


def tile_for(shape):
    return CONVOLUTIONS.best(Convolution(shape, BlockLimits()), stated("gpu"))


def legal(tile, shape):
    """Whether a tile breaks no rule, except that a block should have many threads."""
    broken = int(Tiles.of(tile).broken(shape, BlockLimits())[0])
    return broken < 0 or RULES[broken] == "few threads"


def run(spatial, channels, kernel, stride, tile):
    """Compute a layer with a tile; return its result and the exact result."""
    layer = Layer(spatial, channels, kernel, stride)
    s = te.create_schedule(layer.output.op)
    kept = (layer.output.op, layer.sums.op, layer.sums.op.input_tensors[0].op)
    for each in stages_of([layer.output]):
        if each.op not in kept:
            s[each].compute_inline()
    family = DEPTHWISE if is_depthwise(layer.sums) else CONVOLUTIONS
    task = KernelTask.of_sums(layer.sums, layer.output, resolve(TARGET))
    tile = tile or family.default(task)
    assert legal(tile, ConvolutionShape.of(layer.sums, layer.output))
    family.apply(s, task, tile)
    return layer.run(s, TARGET, weight_layout(layer.rank)), layer.exact


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("spatial", "channels", "kernel", "stride", "tile"),
    [
        ((14, 14), (64, 32), (1, 1), 1, ConvolutionTile((1, 7), 4, (1, 2, 8))),
        ((14, 14), (64, 32), (3, 3), 2, ConvolutionTile((1, 7), 4, (1, 1, 8), 4, keep_rows=True)),
        ((14, 14), (64, 32), (3, 3), 1, ConvolutionTile((2, 7), 8, (1, 1, 4), 1, 2)),
        # The slices divide the first tile's elements, not its vectors; in the second, neither.
        ((7, 5), (64, 32), (1, 1), 1, ConvolutionTile((1, 2), 4, (1, 1, 8), 8)),
        ((14, 14), (64, 256), (3, 3), 1, ConvolutionTile((1, 7), 4, (1, 1, 16), 16)),
        # No extent of the tile divides the output's extent.
        ((13, 13), (20, 28), (3, 3), 2, ConvolutionTile((2, 4), 4, (1, 1, 4), 1)),
        ((13, 13), (20, 28), (1, 1), 1, ConvolutionTile((1, 4), 4, (1, 2, 4), 1)),
        ((15, 11), (3, 10), (5, 5), 2, ConvolutionTile((2, 4), 2, (1, 1, 4), 1, 1)),
        # Slices and threads whose numbers are odd.
        ((7, 7), (44, 40), (1, 1), 1, ConvolutionTile((1, 7), 4, (1, 1, 5), 11)),
        ((28, 28), (58, 58), (1, 1), 1, ConvolutionTile((1, 14), 2, (1, 8, 1), 29, 2)),
        # Depthwise convolutions, also along one axis and three axes.
        ((14, 14), (64, None), (3, 3), 1, ConvolutionTile((2, 7), 4, (1, 2, 8))),
        ((14, 14), (64, None), (3, 3), 2, ConvolutionTile((1, 7), 4, (1, 1, 8))),
        ((13, 11), (21, None), (5, 3), 1, ConvolutionTile((2, 4), 1, (1, 2, 16))),
        ((29,), (8, None), (3,), 1, None),
        ((5, 6, 7), (4, None), (3, 3, 3), 2, None),
        # The chosen tiles of further shapes.
        ((29,), (8, 12), (3,), 2, None),
        ((5, 6, 7), (4, 6), (3, 1, 3), 1, None),
        ((1, 1), (64, 7), (1, 1), 1, None),
        ((9, 9), (1, 1), (3, 3), 1, None),
        ((9, 9), (64, 1), (3, 3), 1, None),  # one output channel, from all input channels
        ((8, 9), (17, 33), (3, 3), 1, None),
    ],
)
def test_convolutions_of_any_shape(spatial, channels, kernel, stride, tile):
    """Sums of small integers are exact, so a missing or a doubled product shows."""
    result, exact = run(spatial, channels, kernel, stride, tile)
    np.testing.assert_array_equal(result, exact)


@pytest.mark.parametrize(
    "shape",
    [
        ConvolutionShape(1, 49, 2048, 512, (1, 1)),
        ConvolutionShape(7, 7, 512, 512, (3, 3)),
        ConvolutionShape(112, 112, 3, 64, (7, 7), 2),
        ConvolutionShape(13, 17, 5, 3, (3, 3)),
        ConvolutionShape(1, 1, 1, 1, (1,)),
        ConvolutionShape(112, 112, 1, 32, (3, 3), 1, True),
        ConvolutionShape(1, 784, 58, 58, (1, 1)),
    ],
)
def test_a_tile_for_every_shape(shape):
    """All candidate tiles are possible, and the chosen tile is one of them."""
    found = Space.of(CONVOLUTIONS.points(Convolution(shape, BlockLimits())))
    assert tile_for(shape) in found
    assert all(legal(each, shape) for each in found)


@pytest.mark.parametrize(("inputs", "outputs"), [(440, 440), (208, 208), (116, 116)])
def test_odd_numbers_of_channels_have_slices(inputs, outputs):
    """Few pixels need many slices, also where powers of two do not divide the inputs."""
    tile = tile_for(ConvolutionShape(1, 196, inputs, outputs, (1, 1)))
    assert tile.slices > 8 and inputs // tile.inputs % tile.slices == 0


def test_a_shape_without_a_tile_is_row_major():
    """A convolution of 3 to 8 channels would occupy too few threads of a block."""
    assert tile_for(ConvolutionShape(24, 96, 3, 8, (3, 3), 2)) is None
    g = Graph("small")
    weights = g.constant("w", integers(8, 3, 3, 3))
    layer = partial(convolution, strides=[2, 2], pads=[1, 1, 1, 1])
    (y,) = g.op("y", "Conv", layer, [g.input("x", (1, 3, 48, 192)), weights])
    g.output(y)
    x = integers(1, 3, 48, 192)
    got = g.compile(target=TARGET).run({"x": x})["y"]
    np.testing.assert_array_equal(got, g.compile().run({"x": x})["y"])


@pytest.mark.parametrize(
    ("spatial", "channels", "kernel", "stride"),
    [
        # 1 x 1 windows: with stride 1, all pixels form one row; with stride 2, they do not.
        ((14, 14), (64, 32), (1, 1), 1),
        ((7, 5), (64, 24), (1, 1), 1),
        ((13, 13), (20, 28), (1, 1), 2),
        # Pixels are copied with padding.
        ((14, 14), (64, 32), (3, 3), 1),
        ((13, 9), (96, 8), (9, 9), 1),
        ((13, 13), (20, 28), (3, 3), 2),
        # Channels make vectors of four and of two lanes.
        ((15, 11), (3, 12), (5, 5), 2),
        ((8, 9), (17, 34), (3, 3), 1),
        # Depthwise convolutions.
        ((14, 14), (64, None), (3, 3), 1),
        ((14, 15), (12, None), (5, 3), 2),
        ((9, 4), (6, None), (1, 1), 1),
        # Groups of several channels.
        ((9, 8), (32, 48, 2), (3, 3), 1),
        ((10, 7), (24, 36, 3), (1, 1), 1),
        # Convolutions along one axis and three axes, and of a single pixel.
        ((29,), (8, 12), (3,), 2),
        ((5, 6, 7), (4, 6), (3, 1, 3), 1),
        ((5, 6, 7), (4, None), (3, 3, 3), 2),
        ((1, 1), (64, 8), (3, 3), 1),
    ],
)
def test_processors_compute_any_shape(spatial, channels, kernel, stride):
    """The tiles for CPUs give exact results, in one kernel; another may pad the pixels before."""
    layer = Layer(spatial, channels, kernel, stride)
    family = processor_channels_last.CONVOLUTIONS
    tile = family.default(KernelTask.of_sums(layer.sums, layer.output, PROCESSOR))
    weight = blocked_weight_layout(layer.rank, tile.channels)
    last = activation_layout(layer.rank)
    s = schedule_default([layer.output], layer.inputs, (last, weight, "global", last), PROCESSOR)
    is_padded = channels[1] is not None and (max(kernel) > 1 or stride > 1)
    got = layer.run(s, PROCESSOR, weight, kernels=1 + is_padded)
    np.testing.assert_array_equal(got, layer.exact)


@pytest.mark.parametrize(
    ("columns", "channels", "tile"),
    [
        (56, 64, (8, 2, 8)),  # divides the row
        (49, 512, (7, 2, 8)),
        (160, 24, (5, 3, 8)),  # three vectors cover all channels
        (14, 20, (14, 1, 4)),  # the whole row
        (14, 33, None),  # no vectors
    ],
)
def test_a_tile_of_a_processor(columns, channels, tile):
    """The tile fits into registers, with as few elements beyond the row's end as possible."""
    family = processor_channels_last.CONVOLUTIONS
    found = family.best(Pixels(columns, channels), stated("cpu"))
    assert found == (None if tile is None else PixelTile(*tile))


@pytest.mark.parametrize("target", [TARGET, PROCESSOR])
def test_a_network_keeps_channels_last(target):
    """No activation changes its layout between convolutions; the input image keeps its layout."""
    g = Graph("residual")
    x = g.input("x", (1, 3, 18, 18))
    weights = [
        integers(*shape, seed=i)
        for i, shape in enumerate(((8, 3, 3, 3), (8, 1, 3, 3), (8, 8, 1, 1)))
    ]
    w = [g.constant(f"w{i}", each) for i, each in enumerate(weights)]
    (a,) = g.op("a", "Conv", lambda d, k: convolution(d, k, pads=[1] * 4), [x, w[0]])
    (p,) = g.op("p", "MaxPool", lambda d: max_pool(d, kernel=(2, 2), strides=(2, 2)), [a])
    (b,) = g.op("b", "Conv", lambda d, k: convolution(d, k, pads=[1] * 4, groups=8), [p, w[1]])
    (c,) = g.op("c", "Conv", convolution, [b, w[2]])
    (y,) = g.op("y", "Add", add, [p, c])
    g.output(y)
    picture = integers(1, 3, 18, 18, seed=9)
    compiled = g.compile(target)
    # On other targets, the depthwise b is computed inside the kernel of y.
    nodes = ("a", "p", "b", "y") if target == PROCESSOR else ("a", "p", "y")
    assert compiled.summary["nodes"] == dict.fromkeys(nodes, "channels last")
    assert compiled.summary["conversions"] == []
    none = np.zeros(8, np.float32)
    pooled = expected(picture, weights[0], none, 1, 1).reshape(1, 8, 9, 2, 9, 2).max((3, 5))
    deep = expected(expected(pooled, weights[1], none, 1, 8), weights[2], none, 1, 1)
    np.testing.assert_array_equal(compiled.run({"x": picture})["y"], pooled + deep)


@pytest.mark.parametrize("channels", [3, 64, 67, 130])
def test_pools_of_a_processor(channels):
    """A thread pools a vector of channels: all of them, a divisor, or a cut-off last vector."""
    x = integers(1, channels, 6, 7)
    data = te.placeholder(x.shape, name="x")
    pooled = max_pool(data, kernel=(3, 3), pads=(1, 1, 1, 1))
    last = activation_layout(4)
    s = schedule_default([pooled], [data], (last, last), PROCESSOR)
    binds = {t: decl_buffer(t.shape, t.dtype, layout=last) for t in (data, pooled)}
    function = texloom.build(s, [data, pooled], PROCESSOR, binds=binds)
    device = texloom.opencl()
    result = nd.empty(x.shape, "float32", device, layout=last)
    function(nd.array(x, device, layout=last), result)
    framed = np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)], constant_values=-np.inf)
    exact = sliding_window_view(framed, (3, 3), (2, 3)).max((4, 5))
    np.testing.assert_array_equal(result.numpy(), exact)


def test_a_reduction_reads_a_graph_input_as_it_is():
    """Sums over the pixels of channels that are not last would read with gaps."""
    x = te.placeholder((1, 16, 6, 6), name="x")
    h, w = te.reduce_axis((0, 6), name="h"), te.reduce_axis((0, 6), name="w")
    total = te.compute((1, 16), lambda n, c: te.sum(x[n, c, h, w], axis=[h, w]), name="total")
    y = te.compute(x.shape, lambda n, c, h, w: x[n, c, h, w] - total[n, c], name="y")
    given = ([y], [x], stages_of([y]))
    assert channels_last_storages(*given, {x}, set(), PROCESSOR) is None
    last = activation_layout(4)
    assert channels_last_storages(*given, set(), set(), PROCESSOR) == (last, last)
