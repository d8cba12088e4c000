"""Kinds of parameter values, with the words that diagnostics use for them."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .. import _core
from .._core import IterVar, Operation, Stage, Tensor


@dataclass(frozen=True)
class Kind:
    """A kind of value that a parameter accepts: its name in messages, and how to obtain one."""

    words: str
    accepts: Callable[[Any], bool]
    help: str


def instance_of(*types: type) -> Callable[[Any], bool]:
    """Return a check for instances of the types."""
    return lambda value: isinstance(value, types)


def shown(value: Any) -> str:
    """Return a value as messages name it."""
    if value is None or isinstance(value, (str, numbers.Number)):
        return repr(value)
    if isinstance(value, Tensor):
        return f"the tensor '{value.name}'"
    if isinstance(value, Operation):
        return f"the operation '{value.name}'"
    if isinstance(value, Stage):
        return f"the stage of '{value.op.name}'"
    if isinstance(value, IterVar):
        return f"the axis '{value.name}'"
    return f"a value of type {type(value).__name__}"


def kind_of(value: Any) -> str:
    """Return the kind of a value as messages name it: ``None``, ``a list``, ``an int``."""
    return _core.kind_text(value)


__all__ = ["Kind", "instance_of", "kind_of", "shown"]
