"""The convolutions of ResNet-50 and MobileNetV2: textures, buffers and cuDNN."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import exp, fsum, log

import numpy as np
from texloom._core import Function, NDArray

from texloom import Device, build, nd, te
from texloom.examples.conv2d_nhwc import (
    Convolution,
    ConvTiles,
    conv2d_nhwc,
    depthwise_conv2d_nhwc,
    schedule_conv2d_nhwc,
    schedule_depthwise_conv2d_nhwc,
)
from texloom.examples.reference import conv2d_nhwc_error_bound, conv2d_nhwc_reference
from texloom.measure.loop import Arm, Timed, medians
from texloom.tir.buffer import decl_buffer

from .pytorch import PyTorch

STORAGES = ("texture", "buffer")


@dataclass(frozen=True)
class Layer:
    """A convolution of one image with stride 1, padded so that the output has the same size.

    Attributes
    ----------
    size : int
        Rows and columns of the image.
    inputs, outputs : int
        Numbers of channels; if `outputs` is None, each channel has its own filter.
    kernel : int
        Rows and columns of the filter.
    tiles : ConvTiles
        The fastest of several hundred candidates, measured with buffers on an H200.
    """

    size: int
    inputs: int
    outputs: int | None
    kernel: int
    tiles: ConvTiles

    def __str__(self) -> str:
        kernel = f"{self.kernel}x{self.kernel}"
        if self.outputs is None:
            return f"depthwise {kernel} {self.inputs} @ {self.size}"
        return f"{kernel} {self.inputs} -> {self.outputs} @ {self.size}"

    @property
    def data_shape(self) -> tuple[int, ...]:
        """The shape of the image, ``[1, size, size, inputs]``."""
        return (1, self.size, self.size, self.inputs)

    @property
    def weight_shape(self) -> tuple[int, ...]:
        """Rows, columns, input channels and, unless depthwise, output channels."""
        own = () if self.outputs is None else (self.outputs,)
        return (self.kernel, self.kernel, self.inputs, *own)

    @property
    def padding(self) -> int:
        """Rows and columns of zeros around the image."""
        return self.kernel // 2

    @property
    def operations(self) -> int:
        """The number of multiplications and additions."""
        return 2 * self.size**2 * int(np.prod(self.weight_shape))


def _square(size: int, channels: int, tiles: ConvTiles) -> Layer:
    return Layer(size, channels, channels, 3, tiles)


LAYERS = (
    _square(56, 64, ConvTiles((4, 4), 2, (1, 1, 16), slices=8, inputs=2, keep_rows=True)),
    _square(28, 128, ConvTiles((4, 4), 2, (1, 1, 8), slices=16, inputs=2, keep_rows=True)),
    _square(14, 256, ConvTiles((2, 7), 2, (1, 1, 16), slices=16, keep_rows=True)),
    _square(7, 512, ConvTiles((7, 1), 2, (1, 1, 16), slices=32, keep_rows=True)),
    Layer(56, 256, 64, 1, ConvTiles((2, 4), 4, (1, 1, 16), slices=16, inputs=2)),
    Layer(56, 64, 256, 1, ConvTiles((2, 4), 4, (1, 1, 64), slices=4)),
    Layer(14, 1024, 256, 1, ConvTiles((1, 2), 4, (1, 1, 8), slices=16)),
    Layer(7, 2048, 512, 1, ConvTiles((7, 1), 4, (1, 1, 8), slices=32)),
    Layer(112, 96, None, 3, ConvTiles((7, 1), 4, (2, 4, 8))),
    Layer(14, 384, None, 3, ConvTiles((1, 2), 4, (7, 7, 8))),
    Layer(7, 960, None, 3, ConvTiles((1, 7), 2, (7, 1, 8))),
)


@dataclass(frozen=True)
class Row:
    """A layer's median seconds per run, by arm, and whether all our results are `right`."""

    layer: Layer
    times: dict[str, float]
    right: bool

    @property
    def speed(self) -> float | None:
        """Speed of the faster of our arms, relative to cuDNN's."""
        library = self.times.get("cuDNN")
        return library and library / min(self.times[storage] for storage in STORAGES)


def tiles_for(layer: Layer, storage: str) -> ConvTiles:
    """Return the layer's tiles; for textures, adapted to reading and multiplying whole texels."""
    if storage == "buffer":
        return layer.tiles
    threads = layer.tiles.threads
    lanes = 4 // layer.tiles.channels
    return replace(
        layer.tiles, channels=4, inputs=4, threads=(*threads[:2], max(1, threads[2] // lanes))
    )


def compiled(layer: Layer, storage: str) -> tuple[Convolution, Function]:
    """Compile a layer with image and weights in textures or in buffers."""
    data = te.placeholder(layer.data_shape, name="data")
    weight = te.placeholder(layer.weight_shape, name="weight")
    make, schedule = conv2d_nhwc, schedule_conv2d_nhwc
    if layer.outputs is None:
        make, schedule = depthwise_conv2d_nhwc, schedule_depthwise_conv2d_nhwc
    convolution = make(data, weight, padding=layer.padding)
    binds = {}
    if storage == "texture":
        binds = {t: decl_buffer(t.shape, t.dtype, t.name, scope="texture") for t in (data, weight)}
    scheduled = schedule(convolution, tiles_for(layer, storage))
    return convolution, build(scheduled, convolution.arguments, "opencl", binds=binds)


def measure(layer: Layer, device: Device, rounds: int, runs: int, pytorch: PyTorch | None) -> Row:
    """Check the results of our arms, then time all arms in turn, enqueuing `runs` runs at once."""
    rng = np.random.default_rng(layer.size + layer.inputs)
    shapes = (layer.data_shape, layer.weight_shape)
    data, weight = (rng.standard_normal(shape, dtype=np.float32) for shape in shapes)
    expected = conv2d_nhwc_reference(data, weight, padding=layer.padding)
    bound = conv2d_nhwc_error_bound(data, weight, padding=layer.padding)
    arms: dict[str, Timed] = {}
    right = True
    for storage in STORAGES:
        _, function = compiled(layer, storage)
        scope = "texture" if storage == "texture" else None
        arrays = [nd.array(values, device, scope) for values in (data, weight)]
        output = nd.empty(expected.shape, "float32", device)
        function(*arrays, output)
        right &= bool((np.abs(output.numpy() - expected) <= bound).all())
        arms[storage] = _enqueued(function, [*arrays, output], device, runs)
    if pytorch is not None:
        arms |= pytorch.arms(
            "repeated_convolutions", data, weight, padding=layer.padding, runs=runs
        )
    times = medians(list(arms.values()), rounds=rounds)
    seconds = {name: each / runs for name, each in zip(arms, times, strict=True)}
    formats = [seconds.pop(name) for name in list(seconds) if name not in STORAGES]
    if formats:
        seconds["cuDNN"] = min(formats)
    return Row(layer, seconds, right)


def _enqueued(function: Function, arguments: Sequence[NDArray], device: Device, runs: int) -> Arm:
    return Arm(lambda: function.enqueue(runs, *arguments), device.sync)


def table(
    device: Device, rounds: int, runs: int, pytorch: PyTorch | None
) -> Iterator[tuple[str, bool]]:
    """Yield the table's lines, each with whether its results are right."""
    yield f"\nConvolutions, batch 1, stride 1, same size; medians of {rounds} x {runs} runs", True
    yield (
        (
            f"{'':26}{'texture ms':>11}{'TFLOP/s':>9}{'buffer ms':>11}{'TFLOP/s':>9}"
            f"{'buf/tex':>9}{'cuDNN ms':>10}{'ours/cuDNN':>12}"
        ),
        True,
    )
    speeds = []
    for layer in LAYERS:
        row = measure(layer, device, rounds, runs, pytorch)
        line = f"{layer!s:26}"
        for storage in STORAGES:
            seconds = row.times[storage]
            line += f"{seconds * 1e3:11.4f}{layer.operations / seconds * 1e-12:9.2f}"
        line += f"{row.times['buffer'] / row.times['texture']:9.2f}"
        if row.speed is not None:
            speeds.append(row.speed)
            line += f"{row.times['cuDNN'] * 1e3:10.4f}{row.speed:12.2f}"
        else:
            line += f"{'-':>10}{'-':>12}"
        yield line + ("" if row.right else "  WRONG"), row.right
    if speeds:
        yield f"{'geometric mean':85}{exp(fsum(map(log, speeds)) / len(speeds)):12.2f}", True
