"""Simplification of expressions, and proofs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from .._core import Analyzer
from ..checks.checked_calls import check_methods
from .ir import Range


def _bind(self: Analyzer, var: Any, expr: Range) -> None:
    """Bind a variable to a constant range, for all later queries.

    Parameters
    ----------
    var : Expr
        The variable; for an axis, ``axis.var``.
    expr : Range
        The values of the variable; both ends are constants.
    """
    self._bind(var, int(expr.min), int(expr.extent))


@dataclass(frozen=True)
class ConstIntBound:
    """The values of an integer expression are between `min_value` and `max_value`, inclusive."""

    POS_INF: ClassVar[int] = 2**63 - 1
    NEG_INF: ClassVar[int] = -POS_INF

    min_value: int
    max_value: int


def _const_int_bound(self: Analyzer, expr: Any) -> ConstIntBound:
    """Return constant bounds of an integer expression, infinite where unknown."""
    low, high = self._bounds(expr)
    return ConstIntBound(
        ConstIntBound.NEG_INF if low is None else low,
        ConstIntBound.POS_INF if high is None else high,
    )


Analyzer.bind = _bind
Analyzer.canonical_simplify = Analyzer.rewrite_simplify = Analyzer.simplify
Analyzer.const_int_bound = _const_int_bound

__all__ = ["Analyzer", "ConstIntBound"]
check_methods(Analyzer)
