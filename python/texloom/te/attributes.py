"""Attributes of operations: ``te.compute(..., attrs={...})``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from .._core import Expr, Operation
from ..runtime import convert
from ..tir.expr import StringImm


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return getattr(value, "value", str(value)) if isinstance(value, (Expr, StringImm)) else value


class Attributes(Mapping[str, Any]):
    """Constants by name; each has a ``.value``. Prints as JSON."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        # For a compute that calls a tensor intrinsic: the te.intrinsic_call.AppliedIntrinsic.
        self.call: Any = None
        self._values = {key: convert(value) for key, value in values.items()}

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return json.dumps({key: _plain(value) for key, value in self._values.items()}, default=str)


def _attrs(self: Operation) -> Attributes:
    """The attributes given as ``attrs=``."""
    own = self._attributes
    if isinstance(own, str):  # the operation was read from text
        return Attributes(json.loads(own))
    return Attributes({}) if own is None else own


def call_of(op: Operation) -> Any:
    """Return the call of a tensor intrinsic that a compute makes; None for other operations."""
    own = op._attributes
    return own.call if type(own) is Attributes else None


Operation.attrs = property(_attrs)

__all__ = ["Attributes", "call_of"]
