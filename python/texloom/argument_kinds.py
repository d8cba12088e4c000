"""What parameters take, in words: a value of another kind is a diagnostic of its own."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ._core import IterVar, Operation, Stage, Tensor


@dataclass(frozen=True)
class Kind:
    """The values that a parameter takes, in words, and how a user comes by one."""

    words: str
    accepts: Callable[[Any], bool]
    help: str


def instance_of(*types: type) -> Callable[[Any], bool]:
    """What is an instance of one of the types."""
    return lambda value: isinstance(value, types)


def shown(value: Any) -> str:
    """A value as a message names it."""
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


__all__ = ["Kind", "instance_of", "shown"]
