"""Conversion of element types."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import te
from ..._core import Tensor
from ..broadcast import elementwise
from .table import is_float


def cast(x: Tensor, dtype: str) -> Tensor:
    """Return `x` in another type.

    Floating-point numbers are truncated toward zero to become integers; numbers out of range become
    the least or greatest integer, and NaN becomes 0. Integers wrap to narrower integers. Everything
    but 0 becomes true; true becomes 1. Numbers become floating point by rounding to the nearest
    value.

    Parameters
    ----------
    x : Tensor
    dtype : str
        NumPy's name of the type.
    """
    return elementwise(lambda value: converted(value, dtype), x, name="cast")


def converted(value: Any, dtype: str) -> Any:
    """Return an expression in another type, by the rules of :func:`cast`."""
    if not is_float(value.dtype) or is_float(dtype) or dtype == "bool":
        return value.astype(dtype)
    if value.dtype in ("float16", "bfloat16"):  # these types cannot represent the bounds
        value = value.astype("float32")
    least, greatest = te.min_value(dtype), te.max_value(dtype)
    # Both bounds are 0 or powers of two, so they are exact.
    below = te.const(float(np.iinfo(dtype).min), value.dtype)
    above = te.const(float(int(np.iinfo(dtype).max) + 1), value.dtype)
    not_above = te.if_then_else(value > below, value.astype(dtype), least)
    number = te.if_then_else(value >= above, greatest, not_above)
    return te.if_then_else(te.isnan(value), te.const(0, dtype), number)


__all__ = ["cast", "converted"]
