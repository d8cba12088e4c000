"""Calls of the functions that return the statements of externs and tensor intrinsics."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ..errors import refuse


def statement_of(function: Callable[..., Any], owner: str, code: str, *lists: list[Any]) -> Any:
    """Return the result of the function for lists of buffers and scalars.

    Raises
    ------
    TVMError
        The diagnostic with the name `code`, if the function does not take this number of lists;
        `owner` is the owner of the function in the message, such as ``the extern 'Y'``.
    """
    try:
        inspect.signature(function).bind(*lists)
    except ValueError:
        pass  # a built-in function, whose parameters Python cannot inspect
    except TypeError as error:
        names = ", ".join(("ins", "outs", "scalars")[: len(lists)])
        refuse(
            code,
            f"the function of {owner} cannot be called with its {len(lists)} lists: {error}",
            f"give it {len(lists)} parameters: lambda {names}: ...",
        )
    return function(*lists)


__all__ = ["statement_of"]
