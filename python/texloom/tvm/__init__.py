"""TVM's spellings: modules and names that scripts for TVM use, and names that Texloom omits.

``import texloom as tvm`` has the modules as ``tvm.ir``, ``tvm.testing`` and so on. TVM's ``te``,
``tir``, ``nd``, ``target`` and ``runtime`` are Texloom's own front end.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

# The module for each name after "texloom."; tests/layering.py reads this table as imports.
MODULES = {
    "_ffi": "texloom.tvm._ffi",
    "_ffi.base": "texloom.tvm._ffi.base",
    "arith": "texloom.tvm.arith",
    "contrib": "texloom.tvm.contrib",
    "contrib.cc": "texloom.tvm.contrib.cc",
    "contrib.nvcc": "texloom.tvm.contrib.nvcc",
    "contrib.utils": "texloom.tvm.contrib.utils",
    "error": "texloom.tvm.error",
    "ir": "texloom.tvm.ir",
    "testing": "texloom.tvm.testing",
    "transform": "texloom.tvm.transform",
}


def add_modules(driver: ModuleType) -> None:
    """Let ``import texloom.contrib.utils`` and ``from texloom.ir import Range`` work.

    `driver` is the module of ``lower`` and ``build``.
    """
    for name, place in MODULES.items():
        sys.modules[f"texloom.{name}"] = importlib.import_module(place)
    sys.modules["texloom.driver"] = driver


__all__ = ["MODULES", "add_modules"]
