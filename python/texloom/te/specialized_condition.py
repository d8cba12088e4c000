"""``SpecializedCondition``: what a script says holds while it writes a schedule."""

from __future__ import annotations

from contextvars import ContextVar, Token
from typing import Any

from .. import _core
from .._core import Expr

_current: ContextVar[SpecializedCondition | None] = ContextVar("texloom_condition", default=None)


class SpecializedCondition:
    """Conditions that hold inside a ``with``; for the script to ask, lowering takes no notice.

    Attributes
    ----------
    clauses : list of PrimExpr
        The conditions; of a nested one those around it do not count.
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
        """The innermost one around the call; None outside of all."""
        return _current.get()


__all__ = ["SpecializedCondition"]
