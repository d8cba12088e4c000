"""Checks of calls of public functions: diagnostics in place of Python's TypeErrors.

Calls are checked against annotations: a parameter annotated with one of KINDS accepts only values
of that kind.
"""

from __future__ import annotations

import functools
import inspect
import os
import re
from collections.abc import Callable, Container, Mapping
from typing import Any, NoReturn

from .._core import Operation, Schedule, Tensor
from ..errors import TVMError, refuse
from .argument_kinds import Kind, instance_of, shown

_WORD = Kind("a string", instance_of(str), 'write it in quotes, as "A"')
_FUNCTION = Kind("a function", callable, "give a function, as lambda i: A[i] + 1")
_SCHEDULE = Kind("a schedule", instance_of(Schedule), "make one: s = te.create_schedule(C.op)")

_FILE = Kind("the name of a file", instance_of(str, os.PathLike), "give its path as a string")


def _or_none(kind: Kind) -> Kind:
    return Kind(kind.words, lambda value: value is None or kind.accepts(value), kind.help)


def _are(*types: type) -> Callable[[Any], bool]:
    """Return a check that a value is a list of instances of the types."""
    return lambda value: (
        isinstance(value, (list, tuple)) and all(isinstance(each, types) for each in value)
    )


_OPERATION = "give the operation of a tensor: C.op"
KINDS: dict[str, Kind] = {
    "str": _WORD,
    "str | None": _or_none(_WORD),
    "Callable[..., Any]": _FUNCTION,
    "Schedule": _SCHEDULE,
    "str | int": Kind("a string or a number", instance_of(str, int), _WORD.help),
    "str | Callable[..., Any]": Kind(
        "a string", lambda value: isinstance(value, str) or callable(value), _WORD.help
    ),
    "str | os.PathLike[str]": _FILE,
    "str | PathLike[str]": _FILE,
    "Mapping[str, Sequence[int]] | None": _or_none(
        Kind(
            "a mapping",
            instance_of(Mapping),
            'give shapes by the names of the inputs, as {"x": (1, 3, 224, 224)}',
        )
    ),
    "Mapping[str, NDArray[Any]]": Kind(
        "a mapping",
        instance_of(Mapping),
        'give arrays by the names of the inputs, as {"x": x}',
    ),
    "Range": Kind(
        "a Range",
        lambda value: hasattr(value, "min") and hasattr(value, "extent"),
        "make one: tvm.ir.Range(begin, end)",
    ),
    "Tensor": Kind("a tensor", instance_of(Tensor), "pass a tensor that te.compute returned"),
    "Operation": Kind("an operation", instance_of(Operation), _OPERATION),
    "Sequence[Operation]": Kind("a list of operations", _are(Operation), _OPERATION),
    "Operation | Tensor | Sequence[Operation | Tensor]": Kind(
        "an operation or a list of them",
        lambda value: isinstance(value, (Operation, Tensor)) or _are(Operation, Tensor)(value),
        _OPERATION,
    ),
    "ReadGraph": Kind(
        "a mapping", instance_of(Mapping), "make it by te.schedule.CreateReadGraph([C.op])"
    ),
}
_OTHER_KINDS = "is given arguments of the wrong kinds"
# pybind11's message when no overload takes the arguments.
_NO_OVERLOAD = re.compile("incompatible (function|constructor) arguments")
# A parameter as pybind11 writes it: "begin: object", "dtype: object = None", "*args".
_COMPILED_PARAMETER = re.compile(r"(\*{0,2}\w+)(?:: [^=]+?)?(?: = (.*))?")


def _parameters(function: Callable[..., Any]) -> list[tuple[str, str]]:
    """Return the name and default of each parameter: ``*name`` if variadic, "" for no default."""
    compiled = re.match(r"\w+\((.*)\) ->", function.__doc__ or "")
    if compiled:
        found = [_COMPILED_PARAMETER.fullmatch(part) for part in compiled[1].split(", ")]
        parts = [(part[1], part[2] or "") for part in found if part]
    else:
        parts = []
        for each in inspect.signature(function).parameters.values():
            starred = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
            default = "" if each.default is each.empty else repr(each.default)
            parts.append((starred + each.name, default))
    return parts


def spelled(function: Callable[..., Any]) -> str:
    """Return the function's call with its parameters."""
    parts = [f"{name}={default}" if default else name for name, default in _parameters(function)]
    return f"{function.__name__}({', '.join(part for part in parts if part != 'self')})"


def _problem(function: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> str:
    """Describe the wrong arguments of a compiled function, whose first parameter is `self`."""
    parameters = _parameters(function)
    names = [name for name, _ in parameters]
    missing = [n for n, default in parameters[len(args) :] if not default and n not in options]
    unknown = [name for name in options if name not in names]
    if unknown:
        return f"has no parameter {', '.join(unknown)}"
    if missing and not any(name.startswith("*") for name in names):
        return f"is called without {', '.join(missing)}"
    if len(args) > len(names):
        return f"is called with {len(args) - 1} arguments"
    return _OTHER_KINDS


def _checked_parameters(function: Callable[..., Any]) -> dict[str, Kind]:
    annotations = getattr(function, "__annotations__", {}).items()
    return {name: KINDS[text] for name, text in annotations if name != "return" and text in KINDS}


def refuse_call(
    error: TypeError,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    options: dict[str, Any],
) -> NoReturn:
    """Raise the diagnostic for a TypeError raised by the call of a function.

    TypeErrors raised by the function's own code, or by a callback, are left alone.
    """
    trace = error.__traceback__
    assert trace is not None
    innermost = trace
    while innermost.tb_next is not None:
        innermost = innermost.tb_next
    own = innermost.tb_frame.f_globals.get("__name__", "").partition(".")[0] == "texloom"
    if own and _NO_OVERLOAD.search(str(error)):
        is_compiled = innermost is trace
        problem = _problem(function, args, options) if is_compiled else _OTHER_KINDS
        message = f"{function.__name__} {problem}"
    elif innermost is trace and not isinstance(error, TVMError):
        message = str(error)
    else:
        raise error
    refuse("BadCall", message, f"call it as {spelled(function)}")


def checked(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap the function so that wrong arguments are refused by a diagnostic.

    Raises
    ------
    TVMError
        TL2043 for a wrong number of arguments, TL2040 for an argument of a kind that its parameter
        does not accept; both are TypeErrors.
    """
    kinds = _checked_parameters(function)
    signature = inspect.signature(function) if kinds else inspect.Signature()

    positional = [n for n, p in signature.parameters.items() if p.kind <= p.POSITIONAL_OR_KEYWORD]

    def check_kinds(args: tuple[Any, ...], options: dict[str, Any]) -> None:
        for name, value in (*zip(positional, args, strict=False), *options.items()):
            kind = kinds.get(name)
            if kind is None or kind.accepts(value):
                continue
            try:
                signature.bind(*args, **options)
            except TypeError:
                return  # the call itself raises the TypeError
            problem = f"{name} is {shown(value)}, not {kind.words}"
            refuse("BadArgument", f"{function.__name__}: {problem}", kind.help)

    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        if kinds:
            check_kinds(args, options)
        try:
            return function(*args, **options)
        except TypeError as error:
            refuse_call(error, function, args, options)

    return call


def check_calls(names: dict[str, Any]) -> None:
    """Check the calls of all public functions that a module defines; `names` are its globals."""
    for name in names["__all__"]:
        value = names[name]
        if inspect.isfunction(value) and value.__module__ == names["__name__"]:
            names[name] = checked(value)


def check_methods(*classes: type, but: Container[str] = ()) -> None:
    """Check the calls of all public methods of the classes, except those with these names."""
    for each in classes:
        for name, value in list(vars(each).items()):
            is_method = callable(value) and not isinstance(value, type)
            if is_method and not name.startswith("_") and name not in but:
                if inspect.isfunction(value) and value.__name__.startswith("_"):
                    value.__name__ = value.__qualname__ = name  # the name used in messages
                setattr(each, name, checked(value))


__all__ = ["check_calls", "check_methods", "checked", "refuse_call", "spelled"]
