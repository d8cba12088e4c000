"""Adds the interface of a module to compiled functions."""

from __future__ import annotations

import os
from typing import Any, NoReturn

from .._core import Function
from ..checks.checked_calls import check_methods
from ..errors import MissingNameError, refuse
from . import files


def named(self: Function, name: str) -> Function:
    """Return the function, which is the only one of its module, if it has this name."""
    if name not in (self.name, self.entry_name, "__tvm_main__"):
        refuse(
            "UnknownName",
            f"the module has no function {name!r}",
            f"its only function is {self.name!r}",
            MissingNameError,
        )
    return self


def _get_function(self: Function, name: str, query_imports: bool = False) -> Function:
    """The function of this name."""
    del query_imports
    return named(self, name)


def _import_module(self: Function, module: Any) -> NoReturn:
    """Refused: a module has only the functions that it was built from."""
    del module
    refuse(
        "NotProvided",
        f"import_module into {self.name!r}: a module cannot take functions from another module",
        "build the programs together: texloom.build([one, other]) is one module",
    )


def _export_library(
    self: Function, file_name: str | os.PathLike[str], fcompile: Any = None, **options: Any
) -> None:
    """Write the function to a file that :func:`load_module` reads, here or elsewhere.

    Parameters
    ----------
    file_name : str or path
        Any name; an existing file is replaced. The file is a package: a name such as ``f.so`` has a
        warning.
    fcompile, **options
        Accepted for the sake of existing scripts: there is no host code to compile.

    Raises
    ------
    TVMError
        TL5018 when the file cannot be written.
    """
    del fcompile, options
    files.export([self], file_name)


# A compiled function is also the module that contains it, and the module of its kernels.
Function.entry_func = property(lambda self: self, doc="The function itself.")
Function.get_function = _get_function
Function.__getitem__ = named
Function.imported_modules = property(
    lambda self: [self], doc="The modules that contain the kernels' source."
)
Function.import_module = _import_module
Function.export_library = _export_library
Function.save = files.save

check_methods(Function)
