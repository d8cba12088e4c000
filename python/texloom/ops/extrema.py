"""Maxima and minima as NumPy computes them, for operators such as pooling, softmax and relu.

``te.max`` and ``te.min`` behave as in TVM: they drop NaN, and their reductions start from the
lowest or highest finite value, so that even the maximum of minus infinities is finite.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import te


def _is_float(dtype: str) -> bool:
    return "float" in dtype


def _chosen(wins: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Return a function that chooses one of two values, or NaN if one is NaN."""

    def combine(x: Any, y: Any) -> Any:
        first = te.any(wins(x, y), te.isnan(x)) if _is_float(x.dtype) else wins(x, y)
        return te.if_then_else(first, x, y)

    return combine


def lowest(dtype: str) -> Any:
    """Return the least value of a dtype: minus infinity, or the least integer."""
    return te.const(float("-inf"), dtype) if _is_float(dtype) else te.min_value(dtype)


def highest(dtype: str) -> Any:
    """Return the greatest value of a dtype: infinity, or the greatest integer."""
    return te.const(float("inf"), dtype) if _is_float(dtype) else te.max_value(dtype)


maximum = te.comm_reducer(_chosen(lambda x, y: x > y), lowest, name="maximum")
maximum.__doc__ = """The maximum over reduce axes, or of several values, as of ``np.maximum``.

It is NaN if one of the values is NaN. Over axes it starts from minus infinity, for integers from
the least value. The parameters are those of ``te.max``.
"""
minimum = te.comm_reducer(_chosen(lambda x, y: x < y), highest, name="minimum")
minimum.__doc__ = """The minimum, like :func:`maximum`: NaN is propagated; over axes it starts from
infinity, for integers from the greatest value."""

__all__ = ["highest", "lowest", "maximum", "minimum"]
