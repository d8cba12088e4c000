"""Writes the stubs of the compiled module: core_stubs.py MODULE FOLDER makes FOLDER/_core.pyi.

Type checkers cannot read a compiled module. They read this file, which has the signatures and
docstrings of its classes and functions, and what the package adds to these classes.
"""

from __future__ import annotations

import importlib.util
import inspect
import sys
import typing
from pathlib import Path
from types import FunctionType, ModuleType

import pybind11_stubgen

SOURCES = Path(__file__).resolve().parent.parent / "python"


def core_of(path: str) -> ModuleType:
    """Import the package of these sources over the compiled module at a path."""
    sys.path.insert(0, str(SOURCES))
    specification = importlib.util.spec_from_file_location("texloom._core", path)
    assert specification is not None and specification.loader is not None
    core = importlib.util.module_from_spec(specification)
    sys.modules["texloom._core"] = core
    specification.loader.exec_module(core)
    importlib.import_module("texloom")
    return core


# The modules in which users see what the compiled module defines.
SHOWN_IN = ("runtime", "target", "te")


def bare(core: ModuleType, cls: type) -> None:
    """Take the checks of calls off a class, and spell the annotations of its methods out."""
    for name, member in list(vars(cls).items()):
        if isinstance(member, FunctionType):
            member = inspect.unwrap(member)
            setattr(cls, name, member)
        function = getattr(member, "fget", member)
        if isinstance(function, FunctionType):
            names = {**vars(typing), **vars(core)}
            function.__annotations__ = typing.get_type_hints(function, localns=names)
    if isinstance(vars(cls).get("__new__"), staticmethod):
        del cls.__new__  # type: ignore[misc]


def claim(core: ModuleType) -> None:
    """Say that the module has what it defines, and let every name of a signature be found."""
    for name, value in vars(core).items():
        if getattr(value, "__module__", "").startswith("texloom"):
            value.__module__ = core.__name__
        if isinstance(value, type):
            bare(core, value)
        for module in SHOWN_IN:
            vars(sys.modules[f"texloom.{module}"]).setdefault(name, value)


def main() -> None:
    """Write the stubs."""
    module, folder = sys.argv[1:]
    claim(core_of(module))
    pybind11_stubgen.main(["texloom._core", "--output-dir", folder, "--root-suffix", ""])


if __name__ == "__main__":
    main()
