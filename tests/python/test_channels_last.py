"""Convolutions with channels last in memory, as targets that are no processor compute them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import texloom
from texloom import nd, te
from texloom.graph import Graph
from texloom.ops.contraction import Contraction
from texloom.ops.convolution import convolution
from texloom.ops.elementwise import add
from texloom.ops.pooling import max_pool
from texloom.ops.schedules.gpu.channels_last import schedule_with
from texloom.ops.schedules.gpu.convolution import ConvolutionTile
from texloom.ops.schedules.gpu.layouts import activation_layout, weight_layout
from texloom.ops.schedules.gpu.tiles import ConvolutionShape, candidates, is_possible, tile_for
from texloom.ops.schedules.stages import stages_of
from texloom.tir.buffer import decl_buffer

# Barriers under conditions would be wrong on a processor, where these tests run.
TARGET = "opencl -block_stack=0 -conditional_barriers=0"


def integers(*shape, seed=0):
    """Return small integers, whose sums of products are exact."""
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(np.float32)


def expected(x, weight, bias, stride, groups):
    """Return the convolution with the padding that keeps the size, in the rank of the arrays."""
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


def run(spatial, channels, kernel, stride, tile):
    """Compute a convolution with a tile, and a clipped sum with its bias; return both results."""
    inputs, outputs = channels
    groups = inputs if outputs is None else 1
    outputs = outputs or inputs
    rank = 2 + len(spatial)
    x = integers(2, inputs, *spatial)
    w = integers(outputs, inputs // groups, *kernel, seed=1)
    b = integers(outputs, seed=2)
    data, weight, bias = (
        te.placeholder(v.shape, name=n) for n, v in zip("xwb", (x, w, b), strict=True)
    )
    sums = convolution(
        data,
        weight,
        bias,
        strides=[stride] * len(spatial),
        pads=[k // 2 for k in kernel] * 2,
        groups=groups,
    )
    output = te.compute(sums.shape, lambda *i: te.max(sums(*i), te.const(0.0)), name="relu")
    s = te.create_schedule(output.op)
    stages = stages_of([output])
    (contraction,) = (each for each in stages if Contraction.of(each) is not None)
    kept = (output.op, contraction.op, contraction.op.input_tensors[0].op)
    for each in stages:
        if each.op not in kept:
            s[each].compute_inline()
    shape = ConvolutionShape.of(contraction, output)
    tile = tile or tile_for(shape)
    assert is_possible(tile, shape)
    schedule_with(s, contraction, output, tile)
    layouts = {data: activation_layout(rank), weight: weight_layout(rank)}
    layouts[output] = layouts[data]
    binds = {t: decl_buffer(t.shape, t.dtype, layout=text) for t, text in layouts.items()}
    function = texloom.build(s, [data, weight, bias, output], TARGET, binds=binds)
    assert len(function.kernels) == 1
    device = texloom.opencl()
    exact = np.maximum(expected(x, w, b, stride, groups), 0)
    result = nd.empty(exact.shape, "float32", device, layout=layouts[output])
    function(
        nd.array(x, device, layout=layouts[data]),
        nd.array(w, device, layout=layouts[weight]),
        nd.array(b, device),
        result,
    )
    return result.numpy(), exact


@pytest.mark.parametrize(
    ("spatial", "channels", "kernel", "stride", "tile"),
    [
        ((14, 14), (64, 32), (1, 1), 1, ConvolutionTile((1, 7), 4, (1, 2, 8))),
        ((14, 14), (64, 32), (3, 3), 2, ConvolutionTile((1, 7), 4, (1, 1, 8), 4, keep_rows=True)),
        ((14, 14), (64, 32), (3, 3), 1, ConvolutionTile((2, 7), 8, (1, 1, 4), 1, 2)),
        # Slices share tiles evenly by elements, not by vectors; then not at all.
        ((7, 5), (64, 32), (1, 1), 1, ConvolutionTile((1, 2), 4, (1, 1, 8), 8)),
        ((14, 14), (64, 256), (3, 3), 1, ConvolutionTile((1, 7), 4, (1, 1, 16), 16)),
        # Nothing divides the output.
        ((13, 13), (20, 28), (3, 3), 2, ConvolutionTile((2, 4), 4, (1, 1, 4), 1)),
        ((13, 13), (20, 28), (1, 1), 1, ConvolutionTile((1, 4), 4, (1, 2, 4), 1)),
        ((15, 11), (3, 10), (5, 5), 2, ConvolutionTile((2, 4), 2, (1, 1, 4), 1, 1)),
        # Depthwise, along one axis and three.
        ((14, 14), (64, None), (3, 3), 1, ConvolutionTile((2, 7), 4, (1, 2, 8))),
        ((14, 14), (64, None), (3, 3), 2, ConvolutionTile((1, 7), 4, (1, 1, 8))),
        ((13, 11), (21, None), (5, 3), 1, ConvolutionTile((2, 4), 1, (1, 2, 16))),
        ((29,), (8, None), (3,), 1, None),
        ((5, 6, 7), (4, None), (3, 3, 3), 2, None),
        # Whatever is chosen.
        ((29,), (8, 12), (3,), 2, None),
        ((5, 6, 7), (4, 6), (3, 1, 3), 1, None),
        ((1, 1), (64, 7), (1, 1), 1, None),
        ((9, 9), (1, 1), (3, 3), 1, None),
        ((9, 9), (64, 1), (3, 3), 1, None),  # a single output, of all channels
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
    ],
)
def test_a_tile_for_every_shape(shape):
    """There are candidates, all of them possible, and the chosen one is among them."""
    found = list(candidates(shape))
    assert tile_for(shape) in found
    assert all(is_possible(each, shape) for each in found)


def test_a_network_keeps_channels_last():
    """Between convolutions no activation is converted, and the picture is read as it is."""
    g = Graph("residual")
    x = g.input("x", (1, 3, 18, 18))
    w = [
        g.constant(f"w{i}", integers(*shape, seed=i))
        for i, shape in enumerate(((8, 3, 3, 3), (8, 1, 3, 3), (8, 8, 1, 1)))
    ]
    (a,) = g.op("a", "Conv", lambda d, k: convolution(d, k, pads=[1] * 4), [x, w[0]])
    (p,) = g.op("p", "MaxPool", lambda d: max_pool(d, kernel=(2, 2), strides=(2, 2)), [a])
    (b,) = g.op("b", "Conv", lambda d, k: convolution(d, k, pads=[1] * 4, groups=8), [p, w[1]])
    (c,) = g.op("c", "Conv", convolution, [b, w[2]])
    (y,) = g.op("y", "Add", add, [p, c])
    g.output(y)
    picture = integers(1, 3, 18, 18, seed=9)
    last, rows = g.compile(TARGET), g.compile("opencl")
    assert last.summary["nodes"] == {
        "a": "channels last",
        "p": "channels last",
        "y": "channels last",  # and in the same kernel b, whose channels are its own
    }
    assert last.summary["conversions"] == []
    np.testing.assert_array_equal(last.run({"x": picture})["y"], rows.run({"x": picture})["y"])
