"""Checks of the arguments of array functions: extents, numbers, and copy targets."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._core import Expr, NDArray
from ..checks.argument_kinds import shown
from ..errors import MisuseError, refuse

_KIND = "BadArgument"


def extents(shape: Any) -> list[int]:
    """Return the extents of a shape, which is a number or a list of numbers."""
    try:
        if hasattr(shape, "__index__"):
            return _in_64_bits([_extent(shape)])
        if not isinstance(shape, (str, bytes)):
            return _in_64_bits([_extent(n) for n in shape])
    except TypeError:
        pass  # not a list of integers
    refuse(
        _KIND,
        f"the shape of an array is {_shown_shape(shape)}, not a list of extents",
        'give the extents first, then the dtype: nd.empty((8, 4), "float32")',
    )


def _extent(given: Any) -> int:
    """Return the value of a Python or NumPy number, or of a constant expression."""
    if isinstance(given, bool):
        raise TypeError("a bool is not a number of elements")
    return int(given) if isinstance(given, Expr) else operator.index(given)


def texels(name: str, given: Any, least: int) -> tuple[int, int]:
    """Return two numbers of texels, along x and y: an origin, or the size of an image."""
    try:
        if not isinstance(given, (str, bytes)):
            x, y = map(_extent, given)
            if all(least <= n < 2**31 for n in (x, y)):
                return x, y
    except (TypeError, ValueError):
        pass  # not two integers
    wanted = "at least 0" if least == 0 else "positive"
    refuse(
        _KIND,
        f"{name} is {_shown_shape(given)}, not two {'positions' if least == 0 else 'extents'} "
        "in texels",
        f"give x and y, both {wanted}: {name}=({least}, {least})",
    )


def _in_64_bits(shape: list[int]) -> list[int]:
    if any(abs(n) >= 2**63 for n in shape):
        words = ", ".join(map(str, shape))
        refuse(
            "OutOfDeviceMemory",
            f"an array of shape ({words}) is too large",
            "use extents below 2**63",
        )
    return shape


def _shown_shape(shape: Any) -> str:
    if isinstance(shape, (list, tuple)):
        return f"({', '.join(map(shown, shape))}{',' if len(shape) == 1 else ''})"
    return shown(shape)


def as_array(source: Any) -> np.ndarray:
    """Convert numbers to a NumPy array; refuse lists whose rows differ in length."""
    try:
        return np.asarray(source)
    except ValueError as error:
        if "inhomogeneous" not in str(error):
            raise
        refuse(_KIND, "the rows of an array differ in length or depth", "give rows of one shape")


def numbers(source: Any) -> np.ndarray:
    """Return the values of an array or of numbers as a NumPy array; bfloat16 becomes float32."""
    if isinstance(source, NDArray) and source.dtype == "bfloat16":
        return np.asarray(source, "float32")
    host = as_array(source)
    # bfloat16, if a library has added it, has the kind V, like records.
    if host.dtype.kind not in "biuf" and host.dtype.name != "bfloat16":
        refuse(_KIND, f"an array takes numbers, not {_shown_source(source, host)}", _NUMBERS)
    return host


_NUMBERS = "give an array of numbers"


def _shown_source(source: Any, host: np.ndarray) -> str:
    return f"values of dtype {host.dtype.name}" if isinstance(source, np.ndarray) else shown(source)


def check_scope_of_target(scope: str, wanted: str | None) -> None:
    """Refuse a requested scope that differs from the scope of the array that is copied to."""
    if wanted not in (None, "", scope):
        refuse(
            "WrongScope",
            f"a copy to an existing array in '{scope}' cannot be in {wanted!r}",
            "leave mem_scope= out, or copy to a device, which makes a new array",
            MisuseError,
        )


def refuse_shape(to: Sequence[int], of: Sequence[int]) -> None:
    """Refuse the assignment of an array of another shape."""
    refuse(
        "WrongShape",
        f"an array of shape {tuple(of)} cannot be assigned to one of shape {tuple(to)}",
        f"assign a number, or an array of shape {tuple(to)}",
        MisuseError,
    )


__all__ = ["as_array", "check_scope_of_target", "extents", "numbers", "refuse_shape", "texels"]
