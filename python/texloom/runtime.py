"""Values, types and queries of the runtime."""

from __future__ import annotations

import re
from typing import Any

from . import _core
from . import nd as ndarray
from ._core import Device, Expr, NDArray
from ._core import Function as Module
from .checks.checked_calls import check_calls
from .devices.absent import cpu, cuda, vulkan
from .devices.lookup import cl, device, metal, opencl
from .errors import refuse
from .functions.group import load_module
from .tir.expr import StringImm
from .tir.op import const


def show_notices(enabled: bool) -> None:
    """Choose whether notices are printed to stderr. By default, they are.

    After two seconds, a notice shows how many kernels a device has compiled: a bar on a terminal,
    one line elsewhere. Other notices explain what Ctrl-C does while a device works, why the process
    does not end yet, and that ``benchmark`` measures a device. Warnings are not affected.
    """
    _core.show_notices(bool(enabled))


def convert(value: Any) -> Any:
    """Convert numbers, strings and lists of them to expressions; return other values unchanged."""
    if isinstance(value, (list, tuple)):
        return [convert(each) for each in value]
    if isinstance(value, str):
        return StringImm(value)
    return const(value) if isinstance(value, (bool, int, float)) else value


class DataType(str):
    """The name of a scalar or vector type, such as ``"float32x4"``, with its bits and lanes."""

    _NAME = re.compile(r"(?:bool|(?:u?int|float|bfloat)(\d+))(?:x(\d+))?")

    def __new__(cls, name: str) -> DataType:
        """Refuse a string that is not the name of a type: TL1005, a ValueError."""
        parts = cls._NAME.fullmatch(name)
        if parts is None:
            refuse(
                "UnknownType",
                f"{name!r} is not a dtype",
                "use a name such as 'float32', 'uint8x4' or 'bool'",
            )
        made = super().__new__(cls, name)
        made.bits, made.lanes = int(parts[1] or 1), int(parts[2] or 1)
        return made


def enabled(target: str) -> bool:
    """Return whether programs can be built for a target of this kind."""
    return bool(target.split()) and target.split()[0] in _core.target_kinds()


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
    "show_notices",
    "vulkan",
]
check_calls(globals())
