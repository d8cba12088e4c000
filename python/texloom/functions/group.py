"""Several compiled functions as one module."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, NoReturn

from .._core import Device, Function
from ..checks.checked_calls import check_calls
from ..errors import MissingNameError, refuse
from . import files


class FunctionGroup:
    """The result of :func:`texloom.build` for several programs: functions by name.

    Each function has its own kernels and its own target.
    """

    def __init__(self, functions: Iterable[Function]) -> None:
        self._functions: dict[str, Function] = {}
        for function in functions:
            if function.name in self._functions:
                refuse(
                    "BadArguments",
                    f"two of the functions are named {function.name!r}",
                    "pass a different name= to each call of lower",
                )
            self._functions[function.name] = function

    def get_function(self, name: str, query_imports: bool = False) -> Function:
        """The function of this name."""
        del query_imports
        if name not in self._functions:
            refuse(
                "UnknownName",
                f"the module has no function {name!r}",
                f"its functions are {', '.join(map(repr, self._functions))}",
                MissingNameError,
            )
        return self._functions[name]

    __getitem__ = get_function

    def __call__(self, *args: Any) -> NoReturn:
        """Refused, because the call does not say which function is meant."""
        del args
        refuse(
            "BadArguments",
            f"a module of {len(self._functions)} functions cannot be called itself",
            f"call one of its functions, f[name](...): {', '.join(map(repr, self._functions))}",
        )

    @property
    def imported_modules(self) -> list[Function]:
        """The functions: each is also the module of its kernels, as in TVM."""
        return list(self._functions.values())

    def get_source(self) -> str:
        """The kernels' source, function by function."""
        return "\n".join(function.get_source() for function in self._functions.values())

    def time_evaluator(self, func_name: str, dev: Device, *args: Any, **options: Any) -> Any:
        """Return the evaluator of the function of this name, with the same parameters."""
        return self.get_function(func_name).time_evaluator(func_name, dev, *args, **options)

    def export_library(
        self, file_name: str | os.PathLike[str], fcompile: Any = None, **options: Any
    ) -> None:
        """Write all functions to one file, as ``export_library`` of a function does."""
        del fcompile, options
        files.export(self._functions.values(), file_name)

    def save(self, file_name: str | os.PathLike[str], fmt: str = "") -> None:
        """Write a module file or, for ``fmt="cl"`` or a name in ``*.cl``, the kernels' source."""
        files.save(self, file_name, fmt)


def load_module(
    path: str | os.PathLike[str],
    fmt: str = "",
    device: Device | None = None,
    *,
    native: bool = False,
) -> Function | FunctionGroup:
    """Load a function, or a module of several, from a file that ``export_library`` wrote.

    Parameters
    ----------
    path : str or path
    fmt : str, optional
        Ignored; TVM has it.
    device : Device, optional
        The device that will run the functions. If the package has variants for several targets, the
        first variant that the device can run is loaded. The default is
        :attr:`texloom.graph.RunnableGraph.default_device`.
    native : bool
        Take native code, which functions for the target ``llvm`` have. It runs with the rights of
        this process: only for files that you trust as you trust programs.

    Raises
    ------
    TVMError
        TL5018 for a file that cannot be read; TL5012 for one that is damaged, has another format or
        version, or only native code that is not taken; TL5007 if the device can run none of the
        variants.
    """
    del fmt
    functions = files.load(path, device, native)
    return functions[0] if len(functions) == 1 else FunctionGroup(functions)


__all__ = ["FunctionGroup", "load_module"]
check_calls(globals())
