"""``SpecializedCondition``: conditions that a script assumes while it writes a schedule."""

from __future__ import annotations

from contextvars import ContextVar, Token
from typing import Any

from .. import _core
from .._core import Expr

_current: ContextVar[SpecializedCondition | None] = ContextVar("texloom_condition", default=None)


class SpecializedCondition:
    """Conditions that hold inside a ``with``, for the script to query; lowering ignores them.

    Attributes
    ----------
    clauses : list of PrimExpr
        The conditions of this scope, without those of enclosing scopes.
    """

    def __init__(self, conditions: Any) -> None:
        several = isinstance(conditions, (list, tuple))
        self.clauses: list[Expr] = list(map(_core.to_expr, conditions if several else [conditions]))
        self._tokens: list[Token[SpecializedCondition | None]] = []

    def __enter__(self) -> SpecializedCondition:
        self._tokens.append(_current.set(self))
        return self

    def __exit__(self, *_: object) -> None:
        _current.reset(self._tokens.pop())

    @staticmethod
    def current() -> SpecializedCondition | None:
        """Return the innermost enclosing instance, or None."""
        return _current.get()


__all__ = ["SpecializedCondition"]
