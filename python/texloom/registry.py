"""Python functions by name: ``register_func`` and ``get_global_func``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_functions: dict[str, Callable[..., Any]] = {}


def register_func(
    func_name: str | Callable[..., Any], f: Callable[..., Any] | None = None, override: bool = False
) -> Callable[..., Any]:
    """Give a function a name, as a call or as a decorator.

    Raises
    ------
    ValueError
        When another function has the name, unless `override` is set.
    """
    if callable(func_name):
        return register_func(func_name.__name__, func_name, override)

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        if func_name in _functions and not override:
            raise ValueError(f"{func_name!r} is registered already: pass override=True")
        _functions[func_name] = function
        return function

    return register(f) if f is not None else register


def get_global_func(name: str, allow_missing: bool = False) -> Callable[..., Any] | None:
    """The function of this name; where there is none, None or a ValueError."""
    if name not in _functions and not allow_missing:
        raise ValueError(f"no function is registered as {name!r}")
    return _functions.get(name)


__all__ = ["get_global_func", "register_func"]
