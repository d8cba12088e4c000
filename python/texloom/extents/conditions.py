"""Conditions on extents that are known only at a run."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from .expressions import Extent, analyzer_of, plain


@dataclass(frozen=True)
class Condition:
    """A condition on extents that are known only at a run.

    Attributes
    ----------
    is_equality : bool
        Whether `left` has to equal `right`; otherwise `left` has to be at least `right`.
    left, right : int or Expr
    """

    is_equality: bool
    left: Extent
    right: Extent


class _Collector(threading.local):
    conditions: list[Condition] | None = None


_COLLECTOR = _Collector()


@contextmanager
def collected() -> Iterator[list[Condition]]:
    """Collect the conditions that :func:`agree` and :func:`at_least` assume, to check at runs."""
    outer, _COLLECTOR.conditions = _COLLECTOR.conditions, []
    try:
        yield _COLLECTOR.conditions
    finally:
        _COLLECTOR.conditions = outer


def agree(a: Any, b: Any) -> bool:
    """Whether two extents can be equal; if this depends on the run, collect the condition."""
    if a is b or plain(a) == plain(b):
        return True
    difference = plain(a - b)
    if isinstance(difference, int) or _COLLECTOR.conditions is None:
        return difference == 0 if isinstance(difference, int) else False
    low, high = analyzer_of(difference)._bounds(difference)
    if (low is not None and low > 0) or (high is not None and high < 0):
        return False
    _COLLECTOR.conditions.append(Condition(True, plain(a), plain(b)))
    return True


def are_equal(a: Any, b: Any) -> bool:
    """Whether two extents are equal in every run."""
    with collected() as conditions:
        return agree(a, b) and not conditions


def at_least(a: Any, b: Any) -> bool:
    """Whether ``a >= b`` can hold; if this depends on the run, collect the condition."""
    difference = plain(a - b)
    if isinstance(difference, int):
        return difference >= 0
    low, high = analyzer_of(difference)._bounds(difference)
    if low is not None and low >= 0:
        return True
    if (high is not None and high < 0) or _COLLECTOR.conditions is None:
        return False
    _COLLECTOR.conditions.append(Condition(False, plain(a), plain(b)))
    return True


def agreed(extents: Sequence[Any]) -> Extent | None:
    """Return the shortest expression among extents that agree; None if they do not all agree."""
    shortest = min(
        map(plain, extents), key=lambda each: 0 if isinstance(each, int) else len(str(each))
    )
    return shortest if all(agree(shortest, each) for each in extents) else None


__all__ = ["Condition", "agree", "agreed", "are_equal", "at_least", "collected"]
