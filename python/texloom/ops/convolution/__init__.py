"""Convolutions along any number of axes."""

from __future__ import annotations

from .deformable import deformable_convolution
from .direct import convolution
from .integer import (
    convolution_integer,
    convolution_requantized,
    convolution_whole,
    convolution_words,
)
from .transposed import transposed_convolution

__all__ = [
    "convolution",
    "convolution_integer",
    "convolution_requantized",
    "convolution_whole",
    "convolution_words",
    "deformable_convolution",
    "transposed_convolution",
]
