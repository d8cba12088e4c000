"""Values as the compiler holds them."""

from __future__ import annotations

from typing import Any

from ._core import Device, Expr, NDArray
from .module_file import load_module
from .tir.expr import StringImm
from .tir.op import const


def convert(value: Any) -> Any:
    """A Python value as an expression: numbers, strings, and lists of them; others as they are."""
    if isinstance(value, (list, tuple)):
        return [convert(each) for each in value]
    if isinstance(value, str):
        return StringImm(value)
    return const(value) if isinstance(value, (bool, int, float)) else value


def enabled(target: str) -> bool:
    """Whether programs can be built for a target of this kind."""
    return target.split()[:1] == ["opencl"]


__all__ = ["Device", "Expr", "NDArray", "const", "convert", "enabled", "load_module"]
