"""Values as the compiler holds them."""

from __future__ import annotations

import re
from typing import Any

from . import nd as ndarray
from ._core import Device, Expr, NDArray
from ._core import Function as Module
from .checked_calls import check_calls
from .device_kinds import cl, cpu, cuda, device, metal, opencl, vulkan
from .errors import refuse
from .function_group import load_module
from .tir.expr import StringImm
from .tir.op import const


def convert(value: Any) -> Any:
    """A Python value as an expression: numbers, strings, and lists of them; others as they are."""
    if isinstance(value, (list, tuple)):
        return [convert(each) for each in value]
    if isinstance(value, str):
        return StringImm(value)
    return const(value) if isinstance(value, (bool, int, float)) else value


class DataType(str):
    """The name of an element type or of a vector of it, with its parts: ``"float32x4"``."""

    _NAME = re.compile(r"(?:bool|(?:u?int|float|bfloat)(\d+))(?:x(\d+))?")

    def __new__(cls, name: str) -> DataType:
        """Refuses what is no such name: TL1005, a ValueError."""
        parts = cls._NAME.fullmatch(name)
        if parts is None:
            refuse("UnknownType", f"{name!r} is no dtype", "write 'float32', 'uint8x4' or 'bool'")
        made = super().__new__(cls, name)
        made.bits, made.lanes = int(parts[1] or 1), int(parts[2] or 1)
        return made


def enabled(target: str) -> bool:
    """Whether programs can be built for a target of this kind."""
    return target.split()[:1] == ["opencl"]


__all__ = [
    "DataType",
    "Device",
    "Expr",
    "Module",
    "NDArray",
    "cl",
    "const",
    "convert",
    "cpu",
    "cuda",
    "device",
    "enabled",
    "load_module",
    "metal",
    "ndarray",
    "opencl",
    "vulkan",
]
check_calls(globals())
