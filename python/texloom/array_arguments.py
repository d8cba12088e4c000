"""What arrays take, wherever they lie: extents, numbers, and places to be copied to."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ._core import Expr, NDArray
from .argument_kinds import shown
from .errors import MisuseError, refuse

_KIND = "BadDirectiveArgument"


def extents(shape: Any) -> list[int]:
    """The extents of a shape, which is a number or a list of them."""
    try:
        if hasattr(shape, "__index__"):
            return _in_64_bits([operator.index(shape)])
        if not isinstance(shape, (str, bytes)):
            return _in_64_bits([_extent(n) for n in shape])
    except TypeError:
        pass  # what is no list of whole numbers
    refuse(
        _KIND,
        f"the shape of an array is {_shown_shape(shape)}, not a list of extents",
        'write the extents first, and the dtype behind them: nd.empty((8, 4), "float32")',
    )


def _extent(given: Any) -> int:
    """A number of Python's or NumPy's, or a constant expression, as shapes of tensors have."""
    return int(given) if isinstance(given, Expr) else operator.index(given)


def _in_64_bits(shape: list[int]) -> list[int]:
    if any(abs(n) >= 2**63 for n in shape):
        words = ", ".join(map(str, shape))
        refuse("OutOfDeviceMemory", f"an array of shape ({words}) is too large", "use less memory")
    return shape


def _shown_shape(shape: Any) -> str:
    if isinstance(shape, (list, tuple)):
        return f"({', '.join(map(shown, shape))})"
    return shown(shape)


def numbers(source: Any) -> np.ndarray:
    """An array of NumPy's with the values of an array or of numbers; of bfloat16 in float32."""
    if isinstance(source, NDArray) and source.dtype == "bfloat16":
        return np.asarray(source, "float32")
    host = np.asarray(source)
    # bfloat16 is of kind V, as records are, where a library has added it.
    if host.dtype.kind not in "biuf" and host.dtype.name != "bfloat16":
        refuse(_KIND, f"an array takes numbers, not {_shown_source(source, host)}", _NUMBERS)
    return host


_NUMBERS = "give an array of numbers"


def _shown_source(source: Any, host: np.ndarray) -> str:
    return f"values of dtype {host.dtype.name}" if isinstance(source, np.ndarray) else shown(source)


def check_scope_of_target(scope: str, wanted: str | None) -> None:
    """Refuses a scope for what is copied to an array that lies in another one."""
    if wanted not in (None, "", scope):
        refuse(
            "WrongScope",
            f"what is copied to an array in '{scope}' is to lie in {wanted!r}",
            "leave mem_scope out, or give a device, on which a new array is made",
            MisuseError,
        )


def refuse_shape(to: Sequence[int], of: Sequence[int]) -> None:
    """Says that an array is assigned one that does not fit."""
    refuse(
        "WrongShape",
        f"an array of shape {tuple(to)} is assigned one of {tuple(of)}",
        "give a number, or an array of its shape",
        MisuseError,
    )


__all__ = ["check_scope_of_target", "extents", "numbers", "refuse_shape"]
