"""Quantization, and numbers that are stored in at most 8 bits."""

from __future__ import annotations

from .linear import dequantize, quantize, quotient
from .small_floats import from_small_floats, to_small_floats
from .small_integers import wrapped

__all__ = [
    "dequantize",
    "from_small_floats",
    "quantize",
    "quotient",
    "to_small_floats",
    "wrapped",
]
