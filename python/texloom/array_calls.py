"""Calls of functions with NumPy arrays, or without their outputs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from . import bfloat16
from ._core import Function, NDArray
from .errors import MisuseError, refuse


class Argument(NamedTuple):
    """An argument of a call; a number is neither read nor written.

    Attributes
    ----------
    passed : object
        What the kernels get: an array of a device, or a number.
    given : object
        What the call gives for it; None for an output that it leaves out.
    is_read, is_written : bool
        What the kernels do with an array. An array that is only written is an output.
    """

    passed: Any
    given: Any
    is_read: bool
    is_written: bool

    @property
    def is_output(self) -> bool:
        """Whether the kernels write the array, and do not read what the call gives for it."""
        return self.is_written and not self.is_read


def completed(function: Function, args: tuple[Any, ...]) -> list[Argument]:
    """Return all arguments of a call, with new arrays of a device for outputs and NumPy arrays.

    The values of the new arrays are undefined: see ``copy_to_device``.
    """
    return [
        Argument(passed, given, access in ("read", "read_write"), access in ("write", "read_write"))
        for passed, given, access in function._completed_call(*args)
    ]


def call(function: Function, args: tuple[Any, ...]) -> Any:
    """Run the function once; return the outputs that the call leaves out, if it does.

    NumPy arrays are copied to the device, so that they may share memory with one another and with
    the outputs: the outputs are written after all inputs have been read. A NumPy array that is
    given for an output keeps its elements where the function computes none.

    Returns
    -------
    None, array or tuple of arrays
        The outputs, if the call leaves them out: as NumPy arrays, after waiting for them, unless an
        array of a device is given. Elements that the function does not compute are undefined.

    Raises
    ------
    TVMError
        TL5001 for a wrong number of arguments; TL5002 to TL5005 and TL5008 for arguments that do
        not fit; TL5020 (also a ValueError) for a read-only output; TL5011 for an output with
        overlapping elements, or for two outputs that share memory.
    """
    arguments = completed(function, args)
    names = [parameter["name"] for parameter in function.args]
    to_host = not any(isinstance(each.given, NDArray) for each in arguments)
    outputs = [each.passed for each in arguments if each.is_output and each.given is None]
    if to_host:
        _check_dtypes(outputs)
    _check_written(arguments, names)
    copy_to_device(arguments)
    function.enqueue(1, *(each.passed for each in arguments))
    for each in arguments:
        if isinstance(each.given, np.ndarray) and each.is_written:
            each.given[...] = each.passed.numpy()
    results = [output.numpy() for output in outputs] if to_host else outputs
    return tuple(results) if len(results) > 1 else results[0] if results else None


def copy_to_device(arguments: list[Argument]) -> None:
    """Give the arrays on the device the values of the NumPy arrays that they stand for."""
    for each in arguments:
        if (each.is_read or each.is_written) and isinstance(each.given, np.ndarray):
            each.passed.copyfrom(each.given)


def _check_dtypes(outputs: list[NDArray]) -> None:
    """Refuse outputs that NumPy cannot represent."""
    if bfloat16.numpy_dtype() is None and any(each.dtype == "bfloat16" for each in outputs):
        refuse(
            "UnknownType",
            "an output is bfloat16, which does not exist in NumPy",
            "pass arrays of a device, and convert the output: np.asarray(output, 'float32')",
        )


def _check_written(arguments: list[Argument], names: list[str]) -> None:
    """Refuse NumPy arrays that cannot hold what the function writes to them."""
    written = [
        (name, each.given)
        for name, each in zip(names, arguments, strict=True)
        if each.is_written and isinstance(each.given, np.ndarray)
    ]
    for number, (name, array) in enumerate(written):
        if not array.flags.writeable:
            refuse(
                "ReadOnlyArray",
                f"the argument '{name}' is written, but the array is read-only",
                "pass a copy, or leave the outputs out: the call then returns them",
                MisuseError,
            )
        if _has_overlap(array):
            refuse(
                "AliasedArguments",
                f"elements of the array for '{name}', which is written, share memory",
                "pass an array with an element for each index: np.empty(shape, dtype)",
            )
        for other, earlier in written[:number]:
            if np.may_share_memory(array, earlier) and np.shares_memory(array, earlier):
                refuse(
                    "AliasedArguments",
                    f"the arguments '{other}' and '{name}' share memory, and both are written",
                    "pass a separate array for each argument that is written",
                )


def _has_overlap(array: np.ndarray) -> bool:
    """Whether elements of the array may share memory: not for views made by slices or axes."""
    span = array.itemsize
    for stride, extent in sorted(
        (abs(stride), extent)
        for stride, extent in zip(array.strides, array.shape, strict=True)
        if extent > 1
    ):
        if stride < span:
            return True
        span += stride * (extent - 1)
    return False


__all__ = ["Argument", "call", "completed", "copy_to_device"]
