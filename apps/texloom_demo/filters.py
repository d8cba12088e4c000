"""A bank of 3x3 filters, as the weights of a convolution layer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Rows = tuple[tuple[float, float, float], ...]

LUMINANCE = (0.2126, 0.7152, 0.0722)
"""Weights of red, green and blue in luminance (ITU-R BT.709)."""


@dataclass(frozen=True)
class Filter:
    """A filter, and how its response is displayed.

    Attributes
    ----------
    name : str
        The title of the response.
    rows : Rows
        The coefficients, not mirrored: the first one applies to the pixel above and to the left.
    shows : str
        ``"brightness"`` if the response is a picture, ``"change"`` if it is centered on zero.
    """

    name: str
    rows: Rows
    shows: Literal["brightness", "change"] = "change"

    def coefficients(self) -> NDArray[np.float32]:
        """The 3x3 coefficients."""
        return np.array(self.rows, dtype=np.float32)


def _scaled(factor: float, *rows: tuple[float, float, float]) -> Rows:
    return tuple((factor * a, factor * b, factor * c) for a, b, c in rows)


FILTERS = (
    Filter("Gaussian", _scaled(1 / 16, (1, 2, 1), (2, 4, 2), (1, 2, 1)), "brightness"),
    Filter("mean", _scaled(1 / 9, (1, 1, 1), (1, 1, 1), (1, 1, 1)), "brightness"),
    Filter("sharpen", ((0, -1, 0), (-1, 5, -1), (0, -1, 0)), "brightness"),
    Filter("emboss", ((-2, -1, 0), (-1, 1, 1), (0, 1, 2)), "brightness"),
    Filter("Laplacian", ((0, 1, 0), (1, -4, 1), (0, 1, 0))),
    Filter("Laplacian, 8 neighbors", ((1, 1, 1), (1, -8, 1), (1, 1, 1))),
    Filter("Sobel 0° (rightwards)", ((-1, 0, 1), (-2, 0, 2), (-1, 0, 1))),
    Filter("Sobel 45°", ((0, 1, 2), (-1, 0, 1), (-2, -1, 0))),
    Filter("Sobel 90° (upwards)", ((1, 2, 1), (0, 0, 0), (-1, -2, -1))),
    Filter("Sobel 135°", ((2, 1, 0), (1, 0, -1), (0, -1, -2))),
    Filter("vertical lines", ((-1, 2, -1), (-1, 2, -1), (-1, 2, -1))),
)


def _shares(channels: int) -> NDArray[np.float32]:
    """Return each channel's weight in luminance, ``[channels, 1, 1]``: 1 for a single channel."""
    shares = {1: (1.0,), 3: LUMINANCE}[channels]
    return np.array(shares, dtype=np.float32).reshape(channels, 1, 1)


def luminance(pixels: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the luminance, ``[H, W]``, of pixels ``[channels, H, W]``."""
    return (_shares(len(pixels)) * pixels).sum(axis=0)


def weights(channels: int) -> NDArray[np.float32]:
    """Return the bank as weights ``[filters, channels, 3, 3]``; the filters apply to luminance."""
    return np.stack([f.coefficients() for f in FILTERS])[:, np.newaxis] * _shares(channels)
