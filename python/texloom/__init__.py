"""Texloom: a tensor compiler in which GPU texture memory is a schedulable memory scope.

Scripts written for TVM's ``te`` run after ``import texloom as tvm`` and
``from texloom import te``.
"""

from __future__ import annotations

from typing import NoReturn

from . import (
    _ffi,
    arith,
    contrib,
    custom,
    driver,
    error,
    errors,
    function,  # noqa: F401 (for its effect)
    instances,  # noqa: F401 (for its effect)
    ir,
    nd,
    out_of_scope,
    runtime,
    target,
    te,
    testing,
    tir,
    transform,
)
from ._core import Device
from .compilation import compile
from .device_kinds import cl, cpu, cuda, device, devices, metal, opencl, vulkan
from .driver import build, lower, lower_texts, parse, program
from .errors import TexloomWarning, TVMError
from .ir import IRModule
from .registry import get_global_func, register_func
from .runtime import DataType
from .show import show, traffic  # the function: the package is found by import
from .tir.buffer import decl_buffer

__version__ = "0.1.0"

__all__ = [
    "DataType",
    "Device",
    "IRModule",
    "TVMError",
    "TexloomWarning",
    "_ffi",
    "arith",
    "build",
    "cl",
    "compile",
    "contrib",
    "custom",
    "cpu",
    "cuda",
    "decl_buffer",
    "device",
    "devices",
    "driver",
    "error",
    "errors",
    "get_global_func",
    "ir",
    "lower",
    "lower_texts",
    "metal",
    "nd",
    "opencl",
    "parse",
    "program",
    "register_func",
    "runtime",
    "show",
    "target",
    "te",
    "testing",
    "tir",
    "traffic",
    "transform",
    "vulkan",
]


def __getattr__(name: str) -> NoReturn:
    out_of_scope.refuse_name(__name__, name)
