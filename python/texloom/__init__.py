"""Texloom: a tensor compiler in which GPU texture memory is a schedulable memory scope.

Scripts written for TVM's ``te`` run after ``import texloom as tvm`` and
``from texloom import te``.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from . import building as driver
from . import custom, errors, nd, runtime, target, te, tir
from ._core import Device
from .building import build, lower, lower_texts, parse, program
from .checks import instances  # noqa: F401 (for its effect)
from .compilation import compile
from .devices import attributes  # noqa: F401 (for its effect)
from .devices.absent import cpu, cuda, vulkan
from .devices.lookup import cl, device, devices, metal, opencl
from .devices.shared import metal_of, opencl_of
from .errors import InternalError, TexloomWarning, TVMError
from .functions import methods  # noqa: F401 (for its effect)
from .measure import evaluator  # noqa: F401 (for its effect)
from .runtime import DataType
from .show import show, traffic  # the function hides the package texloom.show
from .tir.buffer import decl_buffer
from .tvm import _ffi, add_modules, arith, contrib, error, ir, testing, transform
from .tvm.ir import IRModule
from .tvm.out_of_scope import refuse_name
from .tvm.registry import get_global_func, register_func
from .version import VERSION

__version__ = VERSION
add_modules(driver)

__all__ = [
    "DataType",
    "Device",
    "IRModule",
    "InternalError",
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
    "metal_of",
    "nd",
    "opencl",
    "opencl_of",
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


# Modules that `import texloom as tvm` has as attributes, and imports when they are used.
_LAZY = ("autotvm", "tune")


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return import_module(f"{__name__}.{name}")
    refuse_name(__name__, name)
