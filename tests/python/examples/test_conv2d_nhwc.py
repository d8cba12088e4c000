"""Convolutions with channels last, whose reduction is divided into slices and splits."""

from dataclasses import replace

import numpy as np
import pytest

import texloom as tvm
from texloom import te
from texloom.examples.conv2d_nhwc import (
    ConvTiles,
    conv2d_nhwc,
    depthwise_conv2d_nhwc,
    schedule_conv2d_nhwc,
    schedule_depthwise_conv2d_nhwc,
)
from texloom.examples.reference import conv2d_nhwc_error_bound, conv2d_nhwc_reference
from texloom_bench import kernels, layers

ROW = ConvTiles(pixels=(1, 7), channels=4, threads=(1, 2, 4))
SQUARE = ConvTiles(pixels=(2, 2), channels=2, threads=(2, 1, 8), inputs=2, keep_rows=True)
TILES = {
    "a row of pixels": ROW,
    "a square, rows kept": SQUARE,
    "single channels": ConvTiles((7, 7), 1, (1, 2, 8), inputs=1, keep_rows=True),
    "slices": replace(ROW, slices=2),
    "more slices than pixels": replace(SQUARE, pixels=(1, 2), slices=8, inputs=2),
    "splits": replace(ROW, splits=4),
    "slices and splits": replace(SQUARE, slices=2, splits=2),
    "pixels ahead": replace(SQUARE, slices=2, fetch_ahead=True),
}


def convolve(dev, make, schedule, shapes, *, scope=None, stride=1, padding=1):
    """Return the kernels of a convolution, after comparing its result with NumPy's."""
    inputs = [te.placeholder(s, name=n) for s, n in zip(shapes, ("data", "weight"), strict=True)]
    convolution = make(*inputs, stride=stride, padding=padding)
    binds = {t: tvm.tir.decl_buffer(t.shape, t.dtype, scope=scope) for t in inputs if scope}
    function = tvm.build(schedule(convolution), convolution.arguments, binds=binds)
    rng = np.random.default_rng(7)
    data, weight = (rng.standard_normal(s, dtype="float32") for s in shapes)
    expected = conv2d_nhwc_reference(data, weight, stride=stride, padding=padding)
    output = tvm.nd.empty(expected.shape, "float32", dev)
    function(tvm.nd.array(data, dev, scope), tvm.nd.array(weight, dev, scope), output)
    bound = conv2d_nhwc_error_bound(data, weight, stride=stride, padding=padding)
    assert (np.abs(output.numpy() - expected) <= bound).all()
    return function.kernels


@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize("tiles", TILES.values(), ids=TILES)
def test_convolution(dev, tiles, size):
    kernels = convolve(
        dev,
        conv2d_nhwc,
        lambda c: schedule_conv2d_nhwc(c, tiles),
        [(1, 14, 14, 16), (size, size, 16, 16)],
        padding=size // 2,
    )
    assert len(kernels) == (2 if tiles.splits > 1 else 1)


@pytest.mark.parametrize(("stride", "padding", "batch"), [(2, 1, 1), (1, 0, 2), (2, 0, 2)])
def test_strides_and_batches(dev, stride, padding, batch):
    """The tiles do not divide the output."""
    convolve(
        dev,
        conv2d_nhwc,
        lambda c: schedule_conv2d_nhwc(c, replace(SQUARE, slices=2)),
        [(batch, 13, 11, 8), (3, 3, 8, 16)],
        stride=stride,
        padding=padding,
    )


@pytest.mark.parametrize("tiles", [ROW, replace(ROW, pixels=(2, 2), slices=4)])
def test_textures(dev, tiles):
    (kernel,) = convolve(
        dev,
        conv2d_nhwc,
        lambda c: schedule_conv2d_nhwc(c, tiles),
        [(1, 14, 14, 16), (3, 3, 16, 16)],
        scope="texture",
    )
    assert "read_imagef" in kernel.source
    assert "__global const" not in kernel.source


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("channels", [1, 2, 4])
def test_depthwise(dev, channels, stride):
    convolve(
        dev,
        depthwise_conv2d_nhwc,
        lambda c: schedule_depthwise_conv2d_nhwc(c, ConvTiles((2, 7), channels, (2, 2, 4))),
        [(2, 14, 14, 16), (3, 3, 16)],
        stride=stride,
    )


def test_a_block_keeps_its_own_tile_in_shared_memory():
    """Shared memory holds exactly one element for each slice, pixel and channel of the tile."""
    data, weight = te.placeholder((1, 14, 14, 16), name="data"), te.placeholder((1, 1, 16, 16))
    convolution = conv2d_nhwc(data, weight, padding=0)
    tiles = replace(ROW, threads=(1, 1, 4), slices=4)
    (kernel,) = tvm.build(schedule_conv2d_nhwc(convolution, tiles), convolution.arguments).kernels
    assert f"__local float4 output_rf[{4 * 7 * 4}];" in kernel.source


SMALL_LAYERS = (
    layers.Layer(8, 8, 8, 3, ConvTiles((2, 2), 2, (1, 1, 4), slices=2, inputs=2, keep_rows=True)),
    layers.Layer(7, 8, None, 3, ConvTiles((1, 7), 2, (7, 1, 4))),
)
COMMAND = ["--quick", "--only", "convolutions", "--runs", "2"]


def test_benchmark_measures_and_checks(monkeypatch, capsys):
    monkeypatch.setattr(layers, "LAYERS", SMALL_LAYERS)
    assert kernels.main(COMMAND) == 0
    printed = capsys.readouterr().out
    assert "3x3 8 -> 8 @ 8" in printed
    assert "depthwise 3x3 8 @ 7" in printed
    assert "WRONG" not in printed


def test_benchmark_notices_a_wrong_layer(monkeypatch, capsys):
    monkeypatch.setattr(layers, "LAYERS", SMALL_LAYERS)
    reference = layers.conv2d_nhwc_reference
    monkeypatch.setattr(layers, "conv2d_nhwc_reference", lambda *a, **k: reference(*a, **k) + 1)
    assert kernels.main(COMMAND) == 1
    assert capsys.readouterr().out.count("WRONG") == len(SMALL_LAYERS)


@pytest.mark.parametrize("text", ["0", "-3", "many"])
def test_benchmark_refuses_a_number_of_runs_that_is_none(text, capsys):
    with pytest.raises(SystemExit):
        kernels.main(["--runs", text])
    assert f"{text!r} is not a number of runs" in capsys.readouterr().err


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore:warning.TL4009")  # unrolled for a GPU
def test_the_measured_tiles_fit_their_layers():
    for layer in layers.LAYERS:
        for storage in layers.STORAGES:
            _, function = layers.compiled(layer, storage)
            assert function.kernels
