"""Python functions by name: ``register_func`` and ``get_global_func``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..checks.checked_calls import check_calls
from ..errors import refuse

_functions: dict[str, Callable[..., Any]] = {}


def register_func(
    func_name: str | Callable[..., Any], f: Callable[..., Any] | None = None, override: bool = False
) -> Callable[..., Any]:
    """Register a function under a name, as a call or as a decorator.

    Parameters
    ----------
    func_name : str or callable
        The name; or the function, whose own name is used.
    f : callable, optional
        The function; without it, the result is a decorator.
    override : bool
        Whether the function may replace another one of this name.

    Raises
    ------
    TVMError
        TL5016, a ValueError, if another function has the name, unless `override` is set.
    """
    if callable(func_name):
        return register_func(func_name.__name__, func_name, override)

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        if func_name in _functions and not override:
            refuse(
                "UnknownName",
                f"a function is registered as {func_name!r} already",
                "pass override=True, or choose another name",
            )
        _functions[func_name] = function
        return function

    return register(f) if f is not None else register


def get_global_func(name: str, allow_missing: bool = False) -> Callable[..., Any] | None:
    """Return the function with this name.

    If there is none, raise TL5016 (a ValueError), or return None if `allow_missing` is true.
    """
    if name not in _functions and not allow_missing:
        refuse(
            "UnknownName",
            f"no function is registered as {name!r}",
            f"register it by tvm.register_func({name!r}, f), or pass allow_missing=True",
        )
    return _functions.get(name)


__all__ = ["get_global_func", "register_func"]
check_calls(globals())
