"""Part 2: a convolution layer over a real photograph and a scanned page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from texloom import Device
from texloom.examples import Conv2dLayer
from texloom.examples.conv2d import Storage
from texloom.examples.reference import conv2d_error_bound, conv2d_reference
from texloom.measure.loop import Arm, medians

from . import filters
from .console import Output
from .photographs import Photograph
from .pictures import write_sheet

STORAGES: tuple[Storage, ...] = ("texture", "buffer")


@dataclass(frozen=True)
class Accuracy:
    """The difference of an output from SciPy's, and its bound.

    Attributes
    ----------
    largest_error : float
        The largest error of all elements.
    bound_there : float
        The bound of the element with the largest error.
    largest_share : float
        The largest quotient of an error and its own bound; more than 1 is wrong.
    """

    largest_error: float
    bound_there: float
    largest_share: float

    @property
    def holds(self) -> bool:
        """Whether every element is within its bound."""
        return self.largest_share <= 1


def accuracy(
    output: NDArray[Any], reference: NDArray[np.float64], bound: NDArray[np.float64]
) -> Accuracy:
    """Compare an output with a reference, element by element."""
    error = np.abs(output - reference)
    # A bound of zero allows no error: any error is then infinitely too large, as is a NaN.
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(error == 0, 0.0, error / bound)
    share = np.where(np.isnan(share), np.inf, share)
    worst = np.unravel_index(np.argmax(np.nan_to_num(error, nan=np.inf)), error.shape)
    return Accuracy(float(error[worst]), float(bound[worst]), float(share.max()))


def suffix(device: Device) -> str:
    """Return how files of kernels for a device end."""
    return ".metal" if device.driver == "metal" else ".cl"


def show(
    out: Output, device: Device, photograph: Photograph, folder: Path, *, rounds: int = 9
) -> bool:
    """Run both variants over a photograph, compare, time, and write a sheet.

    Returns
    -------
    bool
        Whether both variants are within the bound.
    """
    pixels = photograph.pixels
    weights = filters.weights(pixels.shape[1])
    layers = {storage: Conv2dLayer(pixels, weights, storage, device) for storage in STORAGES}
    _, channels, height, width = pixels.shape
    out.text(
        f"\n{photograph.title}: {height} x {width} pixels, {channels} channel"
        f"{'s' if channels > 1 else ''} in, {len(weights)} filters out"
    )
    reference = conv2d_reference(pixels, weights)
    bound = conv2d_error_bound(pixels, weights)
    holds = True
    for storage, layer in layers.items():
        layer.run()
        result = accuracy(layer.output(), reference, bound)
        holds &= result.holds
        out.text(
            f"  {storage:8} largest error {result.largest_error:.2e}, its bound "
            f"{result.bound_there:.2e}; the pixel closest to its bound is at "
            f"{result.largest_share:.0%} of it: {'right' if result.holds else 'WRONG'}"
        )
    arms = [Arm(layer.run, layer.sync) for layer in layers.values()]
    times = medians(arms, rounds=rounds)
    shown = ", ".join(f"{s} {1e3 * t:.3f} ms" for s, t in zip(layers, times, strict=True))
    out.text(f"  time     {shown} (medians of {rounds}, measured alternately)")
    write_sheet(
        folder / f"{photograph.name}.png",
        f"{photograph.title}: responses of a 3x3 convolution layer (edges, lines: gray is zero)",
        pixels[0],
        layers["texture"].output()[0],
    )
    for storage, layer in layers.items():
        source = "\n".join(kernel.source for kernel in layer.function.kernels)
        file = folder / f"{photograph.name}_{storage}{suffix(device)}"
        file.write_text(source, encoding="utf-8")
        program = str(layer.program)
        (folder / f"{photograph.name}_{storage}.tl").write_text(program, encoding="utf-8")
    return holds
