"""Operators that use some inputs as coordinates, which must not be rounded to float16.

In float16, a position in an image of 1000 pixels is off by half a pixel.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])

_NUMBERS = "_numbers_of_coordinates"  # the attribute of a marked function


def reads_coordinates(*parameters: str) -> Callable[[_Function], _Function]:
    """Mark parameters of a function as coordinates, if its computation does not show this."""

    def marked(function: _Function) -> _Function:
        names = list(inspect.signature(function).parameters)
        setattr(function, _NUMBERS, tuple(map(names.index, parameters)))
        return function

    return marked


def marked_coordinates(compute: Callable[..., Any]) -> tuple[int, ...]:
    """Return the numbers of the parameters that are marked as coordinates."""
    function = compute.func if isinstance(compute, partial) else compute
    numbers: tuple[int, ...] = getattr(function, _NUMBERS, ())
    return numbers


__all__ = ["marked_coordinates", "reads_coordinates"]
