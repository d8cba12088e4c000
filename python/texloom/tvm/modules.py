"""The modules of TVM's package that scripts import, under the names that scripts use."""

from __future__ import annotations

import importlib
import sys

# By the name after "texloom.": where the module is.
MODULES = {
    "_ffi": "texloom.tvm._ffi",
    "_ffi.base": "texloom.tvm._ffi.base",
    "arith": "texloom.tvm.arith",
    "contrib": "texloom.tvm.contrib",
    "contrib.cc": "texloom.tvm.contrib.cc",
    "contrib.nvcc": "texloom.tvm.contrib.nvcc",
    "contrib.utils": "texloom.tvm.contrib.utils",
    "driver": "texloom.building",
    "error": "texloom.tvm.error",
    "ir": "texloom.tvm.ir",
    "testing": "texloom.tvm.testing",
    "transform": "texloom.tvm.transform",
}


def add_modules() -> None:
    """Let ``import texloom.contrib.utils`` and ``from texloom.ir import Range`` find them."""
    for name, place in MODULES.items():
        sys.modules[f"texloom.{name}"] = importlib.import_module(place)


__all__ = ["MODULES", "add_modules"]
