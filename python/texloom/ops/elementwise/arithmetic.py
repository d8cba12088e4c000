"""Arithmetic of two tensors."""

from __future__ import annotations

from ... import tir
from ..._core import Tensor
from ..broadcast import elementwise


def add(a: Tensor, b: Tensor) -> Tensor:
    """Return ``a + b``."""
    return elementwise(lambda x, y: x + y, a, b, name="add")


def subtract(a: Tensor, b: Tensor) -> Tensor:
    """Return ``a - b``."""
    return elementwise(lambda x, y: x - y, a, b, name="subtract")


def multiply(a: Tensor, b: Tensor) -> Tensor:
    """Return ``a * b``."""
    return elementwise(lambda x, y: x * y, a, b, name="multiply")


def divide(a: Tensor, b: Tensor) -> Tensor:
    """Return ``a / b``; integers are truncated toward zero."""
    if a.dtype.startswith("float") or a.dtype == "bfloat16":
        return elementwise(lambda x, y: x / y, a, b, name="divide")
    return elementwise(tir.truncdiv if hasattr(tir, "truncdiv") else tir.div, a, b, name="divide")


__all__ = ["add", "divide", "multiply", "subtract"]
