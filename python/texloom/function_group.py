"""Several compiled functions as one module."""

from __future__ import annotations

from collections.abc import Iterable

from ._core import Function


class FunctionGroup:
    """What :func:`texloom.build` makes of several programs: functions by name.

    Each has its own kernels and its own target.
    """

    def __init__(self, functions: Iterable[Function]) -> None:
        self._functions: dict[str, Function] = {}
        for function in functions:
            if function.name in self._functions:
                raise ValueError(
                    f"two of the functions are named {function.name!r}: give lower a name="
                )
            self._functions[function.name] = function

    def get_function(self, name: str, query_imports: bool = False) -> Function:
        """The function of this name."""
        del query_imports
        if name not in self._functions:
            raise AttributeError(
                f"the module has the functions {list(self._functions)}, no {name!r}"
            )
        return self._functions[name]

    __getitem__ = get_function

    @property
    def imported_modules(self) -> list[Function]:
        """The functions, each the module of its kernels."""
        return list(self._functions.values())

    def get_source(self) -> str:
        """The kernels' source, function by function."""
        return "\n".join(function.get_source() for function in self._functions.values())


__all__ = ["FunctionGroup"]
