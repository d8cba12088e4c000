"""How updates of an element are combined with the element."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from ... import te
from ...tir import PrimExpr
from ..extrema import maximum, minimum

Combination = Literal["add", "mul", "max", "min"]


@dataclass(frozen=True)
class Combiner:
    """An operation that combines values, such as a sum.

    Attributes
    ----------
    reduce : callable
        The operation over reduction axes, such as ``te.sum``.
    both : callable
        The operation on two values.
    nothing : callable
        The identity element, for a dtype.
    """

    reduce: Callable[..., PrimExpr]
    both: Callable[[Any, Any], PrimExpr]
    nothing: Callable[[str], PrimExpr]


def _extreme(infinity: float, integer: Callable[[str], Any]) -> Callable[[str], Any]:
    def value(dtype: str) -> Any:
        return te.const(infinity, dtype) if "float" in dtype else integer(dtype)

    return value


COMBINERS: dict[Combination, Combiner] = {
    "add": Combiner(te.sum, lambda x, y: x + y, lambda dtype: te.const(0, dtype)),
    "mul": Combiner(te.prod, lambda x, y: x * y, lambda dtype: te.const(1, dtype)),
    "max": Combiner(maximum, maximum, _extreme(float("-inf"), te.min_value)),
    "min": Combiner(minimum, minimum, _extreme(float("inf"), te.max_value)),
}
"""The combiners by name."""


def wide(dtype: str) -> str:
    """Return the dtype in which values are summed and multiplied."""
    return "float32" if dtype in ("float16", "bfloat16") else dtype


__all__ = ["COMBINERS", "Combination", "Combiner", "wide"]
