"""Element-wise operators."""

from __future__ import annotations

from .arithmetic import add, divide, multiply, subtract

__all__ = ["add", "divide", "multiply", "subtract"]
