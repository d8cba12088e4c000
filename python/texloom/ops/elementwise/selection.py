"""Selection of elements, and limits."""

from __future__ import annotations

from typing import Any

from ... import te
from ..._core import Tensor
from ..broadcast import elementwise
from .table import number


def where(condition: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """Return `x` where the condition holds, else `y`.

    Parameters
    ----------
    condition : Tensor
        Of bools.
    x, y : Tensor
        Of one type. `condition`, `x` and `y` are broadcast as in NumPy.
    """
    return elementwise(te.if_then_else, condition, x, y, name="where")


def clip(x: Tensor, low: float | None = None, high: float | None = None) -> Tensor:
    """Return `x`, not below `low` and not above `high`; NaN stays.

    Parameters
    ----------
    x : Tensor
    low, high : float, optional
        Numbers that the type of `x` can represent. If `low` is above `high`, the result is `high`.
    """

    def limited(value: Any) -> Any:
        if low is not None:
            value = _raised(value, number(low, value))
        return value if high is None else _lowered(value, number(high, value))

    return elementwise(limited, x, name="clip")


def clip_between(x: Tensor, low: Tensor, high: Tensor) -> Tensor:
    """Return `x` within limits that are tensors of one element, like :func:`clip`."""

    def limited(value: Any, least: Any, greatest: Any) -> Any:
        return _lowered(_raised(value, least), greatest)

    return elementwise(limited, x, low, high, name="clip")


def _raised(value: Any, least: Any) -> Any:
    return te.if_then_else(value < least, least, value)


def _lowered(value: Any, greatest: Any) -> Any:
    return te.if_then_else(value > greatest, greatest, value)


__all__ = ["clip", "clip_between", "where"]
