"""Conversion of bfloat16, which NumPy lacks: each number is the upper half of a float32."""

from __future__ import annotations

import numpy as np


def numpy_dtype() -> np.dtype | None:
    """Return NumPy's dtype bfloat16; None if no library such as ml_dtypes has added it."""
    try:
        return np.dtype("bfloat16")
    except TypeError:
        return None


def to_float32(bits: np.ndarray) -> np.ndarray:
    """Return the numbers with these uint16 bits, exactly."""
    wide = np.asarray(bits, "uint32").reshape(-1) << 16
    return wide.view("float32").reshape(bits.shape)


def from_numbers(numbers: np.ndarray) -> np.ndarray:
    """Round float32 numbers to bfloat16, ties to even, and return the bits as uint16."""
    if numbers.dtype.name == "bfloat16":
        return numbers.view("uint16")
    values = numbers.astype("float32").reshape(-1)
    wide = values.view("uint32")
    rounded = (wide + (0x7FFF + ((wide >> 16) & 1))) >> 16
    quiet = (wide >> 16) | 0x40  # a NaN remains a NaN, whichever bits are cut off
    bits = np.where(np.isnan(values), quiet, rounded)
    return bits.astype("uint16").reshape(numbers.shape)


__all__ = ["from_numbers", "numpy_dtype", "to_float32"]
