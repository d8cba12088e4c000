"""Simplification of expressions, and proofs."""

from __future__ import annotations

from typing import Any

from ._core import Analyzer
from .ir import Range


def _bind(self: Analyzer, var: Any, expr: Range) -> None:
    """Say which values a variable has; the range is of constants."""
    self._bind(var, int(expr.min), int(expr.extent))


Analyzer.bind = _bind

__all__ = ["Analyzer"]
