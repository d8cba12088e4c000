"""Ranges, programs as modules, and the container types that scripts test for."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from typing import Any

from .. import _core
from .._core import Expr, IterVar
from .._core import Program as IRModule
from ..checks.checked_calls import check_calls


class Range:
    """The `extent` integers from `min`: ``Range(end)`` or ``Range(begin, end)``."""

    def __init__(self, begin: Any, end: Any = None) -> None:
        if end is None:
            begin, end = 0, begin
        self.min: Expr = _core.to_expr(begin)
        self.extent: Expr = _core.to_expr(end) - self.min

    @classmethod
    def from_min_extent(cls, min_value: Any, extent: Any) -> Range:
        """Return the range of this many integers."""
        made = cls(min_value, min_value)
        made.extent = _core.to_expr(extent)
        return made

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Range):
            return False
        return bool(self.min == other.min) and bool(self.extent == other.extent)

    def __hash__(self) -> int:
        return hash((self.min, self.extent))

    def __repr__(self) -> str:
        return f"range(min={self.min}, ext={self.extent})"


def _dom(self: IterVar) -> Range | None:
    """The range of the axis; None while unknown."""
    return None if self.extent is None else Range.from_min_extent(self._min, self.extent)


IterVar.dom = property(_dom)
_KINDS = (
    "DataPar ThreadIndex CommReduce Ordered DimInfo Unrolled Vectorized Parallelized Tensorized"
)
for _number, _kind in enumerate(_KINDS.split()):
    setattr(IterVar, _kind, _number)


class Array(ABC):  # noqa: B024 (no methods: lists are Python's)
    """A type for isinstance: the API returns Python's own lists."""


Array.register(list)
Array.register(tuple)


class container:  # noqa: N801 (the name of a module of TVM)
    """Types for isinstance: ``container.Array`` of lists and tuples, ``container.Map``."""

    Array = Array
    Map = Mapping


def structural_equal(a: Any, b: Any) -> bool:
    """Whether two expressions or programs are the same except for the names that they define.

    Free variables are compared by identity. Lists are compared element by element.
    """
    if isinstance(a, Array) and isinstance(b, Array):
        return len(a) == len(b) and all(map(structural_equal, a, b))
    return _core.structural_equal(a, b)


def save_json(node: Any) -> str:
    """Refused: programs are stored as text."""
    _core.refuse(
        "NotProvided",
        f"save_json of a value of type {type(node).__name__}: values are not stored as JSON",
        "keep the text of a program: str(texloom.program(s, args))",
    )


def load_json(json_str: str) -> Any:
    """Refused: programs are read from text."""
    del json_str
    _core.refuse(
        "NotProvided",
        "load_json: values are not stored as JSON",
        "read the text of a program: texloom.parse(text)",
    )


__all__ = ["IRModule", "Range", "container", "load_json", "save_json", "structural_equal"]
check_calls(globals())
