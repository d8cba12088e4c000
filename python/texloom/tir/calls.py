"""Calls of functions by name, as scripts reach ``native_exp`` and its like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from .. import _core
from .._core import Expr, Stmt
from ..checked_calls import check_calls
from ..dtypes import DType
from ..errors import refuse
from . import op, opencl_functions

# What OpenCL C, C and TVM call functions that are named otherwise here.
_OTHER_NAMES = {"fabs": "abs", "pow": "power", "rint": "nearbyint", "native_pow": "native_powr"}

_OPERATORS: dict[str, Callable[..., Expr]] = {
    "popcount": op.popcount,
    "clz": op.clz,
    "isnan": op.isnan,
    "isinf": op.isinf,
    "isfinite": op.isfinite,
    "likely": op.likely,
    "if_then_else": op.if_then_else,
    "fmax": _core.max,
    "fmin": _core.min,
    "max": _core.max,
    "min": _core.min,
    "floordiv": op.floordiv,
    "floormod": op.floormod,
}


def _element_name(name: str) -> str:
    """The name of the table for exp, expf, fabs, ..."""
    known = _core.intrinsics()
    name = _OTHER_NAMES.get(name, name)
    if name not in known and name.endswith("f"):  # C's names for float32
        name = _OTHER_NAMES.get(name[:-1], name[:-1])
    return name


def _call(dtype: DType, name: str, args: tuple[Any, ...]) -> Expr:
    dtype = _core.dtype_name(dtype)
    if name in _OPERATORS:
        return _OPERATORS[name](*args).astype(dtype)
    operands = [_core.to_expr(x) for x in args]
    if name in opencl_functions.FUNCTIONS:
        return opencl_functions.call(name, dtype, operands)
    element = _element_name(name)
    if element not in _core.intrinsics():
        known = ", ".join(sorted({*_core.intrinsics(), *_OPERATORS, *opencl_functions.FUNCTIONS}))
        refuse(
            "NotProvided",
            f"there is no function {name!r} that kernels may call",
            f"use one of {known}",
        )
    if len(operands) != _core.intrinsics()[element]:
        refuse(
            "BadOperandType",
            f"{name} is called with {len(operands)} arguments",
            f"give it {_core.intrinsics()[element]} of them",
        )
    # As in C, arguments are converted to what the function takes.
    return _core.call(element, *(x.astype(dtype) for x in operands))


def call_pure_extern(dtype: DType, func_name: str, *args: Any) -> Expr:
    """A function of OpenCL C by its name, such as ``native_exp`` or ``fabs``.

    Known are the functions of ``te`` and ``tir`` by their names here and in OpenCL C, those with an
    ``f`` behind them, the ``native_`` and ``half_`` ones, and those of OpenCL C that can be written
    as expressions, such as ``mad``, ``clamp`` and ``mul_hi``: there is no call of what Texloom does
    not know.

    Parameters
    ----------
    dtype : str
        The type of the result; arguments are converted to it.
    func_name : str
        The name.
    """
    return _call(dtype, func_name, args)


def call_extern(dtype: DType, func_name: str, *args: Any) -> Expr:
    """:func:`call_pure_extern`: no function that is known has effects."""
    return _call(dtype, func_name, args)


def call_intrin(dtype: DType | None, func_name: str, *args: Any) -> Expr | Stmt:
    """A function of ``tir`` by its name there, such as ``tir.exp``.

    ``tir.tvm_storage_sync`` is a statement, for ``emit`` of an ``ir_builder``: all threads of a
    block meet, and see what was written before. Barriers that shared memory needs are placed
    without it.
    """
    name = func_name.removeprefix("tir.")
    if name == "tvm_storage_sync":
        return _core.make_barrier()
    return _call(dtype or "float32", name, args)


def trace(args: Any, trace_action: str = "tvm.default_trace_action") -> NoReturn:
    """Refused: a kernel calls nothing on the host."""
    del args
    refuse(
        "NotProvided",
        f"trace by {trace_action!r}: kernels call no function of the host",
        "make the value a te.compute of its own, and pass its tensor as an argument",
    )


__all__ = ["call_extern", "call_intrin", "call_pure_extern", "trace"]
check_calls(globals())
