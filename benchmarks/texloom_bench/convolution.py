"""The 3x3 convolutions of ResNet-50: textures, buffers and cuDNN."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from texloom import Device
from texloom.examples import Conv2dLayer
from texloom.examples.conv2d import Storage
from texloom.examples.reference import conv2d_reference
from texloom.measure.loop import Arm, Timed, medians

from .pytorch import PyTorch

CHECKED_OUTPUTS = 4
"""Output channels compared with SciPy; the variants must agree in all."""


@dataclass(frozen=True)
class Shape:
    """A convolution with `channels` inputs and outputs, of images with `size` rows and columns."""

    channels: int
    size: int

    def __str__(self) -> str:
        return f"{self.channels} @ {self.size} x {self.size}"

    @property
    def operations(self) -> int:
        """The number of multiplications and additions."""
        return 2 * 9 * (self.channels * self.size) ** 2


SHAPES = (Shape(64, 56), Shape(128, 28), Shape(256, 14), Shape(512, 7))


@dataclass(frozen=True)
class Row:
    """Measurements of one shape, in seconds.

    Attributes
    ----------
    times : dict
        Median time by arm: ``"texture"``, ``"buffer"`` and, if available, ``"cuDNN"``.
    build_seconds : float
        Build time of the texture variant, from tensor expressions to OpenCL C.
    first_call_seconds : float
        Time of the texture variant's first call, including the device's compilation.
    right : bool
        Whether the results of both variants equal SciPy's.
    """

    shape: Shape
    times: dict[str, float]
    build_seconds: float
    first_call_seconds: float
    right: bool


def measure(
    shape: Shape,
    device: Device,
    *,
    rounds: int,
    tile: tuple[int, int] | None = None,
    pytorch: PyTorch | None = None,
) -> Row:
    """Check both variants of a shape, and time them alternately."""
    rng = np.random.default_rng(shape.channels)
    extents = (1, shape.channels, shape.size, shape.size), (shape.channels, shape.channels, 3, 3)
    # Sums of products of small integers are exact in float32, so one wrong product shows.
    data, weight = (rng.integers(-8, 9, size).astype(np.float32) for size in extents)
    storages: tuple[Storage, ...] = ("texture", "buffer")
    layers = [Conv2dLayer(data, weight, storage, device, tile=tile) for storage in storages]
    arms: dict[str, Timed] = {
        s: Arm(layer.run, layer.sync) for s, layer in zip(storages, layers, strict=True)
    }
    first = arms["texture"].seconds(1)
    arms["buffer"].seconds(1)
    checked = slice(None, None, max(1, shape.channels // CHECKED_OUTPUTS))
    expected = conv2d_reference(data, weight[checked])
    outputs = [layer.output() for layer in layers]
    right = np.array_equal(*outputs) and np.array_equal(outputs[0][:, checked], expected)

    # Times depend slightly on the values if power limits the clock, so these are not integers.
    data, weight = (rng.standard_normal(size, dtype=np.float32) for size in extents)
    for layer in layers:
        layer.write(data, weight)
    if pytorch is not None:
        arms |= pytorch.arms("convolution", data, weight, padding=1)
    times = medians(list(arms.values()), rounds=rounds)
    timed = dict(zip(arms, times, strict=True))
    return Row(shape, timed, layers[0].build_seconds, first, right)
