"""Host compilers: importable, but calls are refused, because Texloom makes no host code."""

from __future__ import annotations

from typing import Any, NoReturn

from ...errors import refuse

_WAY_OUT = "write the module by export_library, which needs no compiler"


def create_shared(*args: Any, **options: Any) -> NoReturn:
    """Refused; accepted as ``fcompile=`` of ``export_library``, which does not call it."""
    del args, options
    refuse("NotProvided", "cc.create_shared: no host code is compiled", _WAY_OUT)


def create_executable(*args: Any, **options: Any) -> NoReturn:
    """Refused: a program has no host code."""
    del args, options
    refuse("NotProvided", "cc.create_executable: no host code is compiled", _WAY_OUT)


def cross_compiler(*args: Any, **options: Any) -> NoReturn:
    """Refused: a file of ``export_library`` has no host code."""
    del args, options
    refuse("NotProvided", "cc.cross_compiler: no host code is compiled", _WAY_OUT)


__all__ = ["create_executable", "create_shared", "cross_compiler"]
