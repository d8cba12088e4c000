"""Calls of functions by name, such as ``native_exp``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from .. import _core
from .._core import Expr, Stmt
from ..checks.checked_calls import check_calls
from ..dtypes import DType
from ..errors import refuse
from . import op, opencl_functions
from .ir_builder import BufferVar

# Names in OpenCL C, C or TVM of functions that have other names here.
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
    """Return the name of a function in the table of intrinsics, given exp, expf, fabs, ..."""
    known = _core.intrinsics()
    name = _OTHER_NAMES.get(name, name)
    if name not in known and name.endswith("f"):  # C's names for float32
        name = _OTHER_NAMES.get(name[:-1], name[:-1])
    return name


def _known(dtype: DType, name: str, args: tuple[Any, ...]) -> Expr | None:
    """Return the call, if the function is known."""
    dtype = _core.dtype_name(dtype)
    if name in _OPERATORS:
        return _OPERATORS[name](*args).astype(dtype)
    if name in opencl_functions.FUNCTIONS:
        return opencl_functions.call(name, dtype, [_core.to_expr(x) for x in args])
    element = _element_name(name)
    if element not in _core.intrinsics():
        return None
    if len(args) != _core.intrinsics()[element]:
        refuse(
            "BadOperandType",
            f"{name} is called with {len(args)} arguments",
            f"give it {_core.intrinsics()[element]} arguments",
        )
    # As in C, arguments are converted to the function's type.
    return _core.call(element, *(_core.to_expr(x).astype(dtype) for x in args))


def _foreign(dtype: DType, name: str, pure: bool, args: tuple[Any, ...]) -> Expr:
    # An array of ir_builder stands for its pointer.
    operands = [x.access_ptr("rw") if isinstance(x, BufferVar) else x for x in args]
    return _core.foreign_call(dtype, name, pure, operands)


def call_pure_extern(dtype: DType, func_name: str, *args: Any) -> Expr:
    """Call a function of OpenCL C by its name, such as ``native_exp`` or ``fabs``.

    The known functions are those of ``te`` and ``tir``, by their names here and in OpenCL C, also
    with the suffix ``f``; the ``native_`` and ``half_`` functions; and those of OpenCL C that can
    be written as expressions, such as ``mad``, ``clamp`` and ``mul_hi``. All others are foreign: C
    text of the schedule must define them, ``s[T].pragma(axis, "import_c", text)``, or a library
    have them, ``s[T].pragma(axis, "import_library", "mmt4d")`` for the target ``"llvm"``.

    The result of a foreign function must depend only on its arguments. The function is called where
    the value is needed, but not where a condition excludes it; the number of calls is unspecified.

    Parameters
    ----------
    dtype : str
        The type of the result. Arguments of a known function are converted to it; those of a
        foreign one are passed as they are: integers, bools, float32, float64, and pointers that
        ``buffer.access_ptr`` returns.
    func_name : str
        The name.

    Raises
    ------
    TVMError
        TL3034 for other arguments; when lowered, TL2042 for a foreign function without C text.
    """
    known = _known(dtype, func_name, args)
    return _foreign(dtype, func_name, True, args) if known is None else known


def call_extern(dtype: DType, func_name: str, *args: Any) -> Expr:
    """Like :func:`call_pure_extern`, for a function with side effects.

    ``ib.emit`` makes it a statement. The known functions have no side effects.

    Parameters
    ----------
    dtype : str or NumPy dtype
        The type of the result.
    func_name : str
        The name of the function.
    args : Expr or BufferVar
        The arguments; an array of ``ib.allocate`` or ``ib.buffer_ptr`` is passed as a pointer.

    Raises
    ------
    TVMError
        TL3034 for arguments or a result that C cannot have; at lower, TL2042 for an unknown
        function in a schedule without C text.
    """
    known = _known(dtype, func_name, args)
    return _foreign(dtype, func_name, False, args) if known is None else known


def call_intrin(dtype: DType | None, func_name: str, *args: Any) -> Expr | Stmt:
    """Call a function of ``tir`` by its name, such as ``tir.exp``.

    ``tir.tvm_storage_sync`` is a statement, for ``emit`` of an ``ir_builder``: a barrier for all
    threads of a block, which then see earlier writes. Barriers for shared memory are inserted
    without it.

    Parameters
    ----------
    dtype : str or NumPy dtype, optional
        The type of the result; float32 by default.
    func_name : str
        The name, with or without ``tir.``.
    args : Expr
        The arguments, which are converted to that type.

    Raises
    ------
    TVMError
        TL2042 for an unknown name, TL1003 for a wrong number of arguments.
    """
    name = func_name.removeprefix("tir.")
    if name == "tvm_storage_sync":
        return _core.make_barrier()
    known = _known(dtype or "float32", name, args)
    if known is None:
        names = sorted({*_core.intrinsics(), *_OPERATORS, *opencl_functions.FUNCTIONS})
        refuse(
            "NotProvided",
            f"there is no intrinsic {name!r}",
            f"use one of {', '.join(names)}; call your own functions by call_extern",
        )
    return known


def trace(args: Any, trace_action: str = "tvm.default_trace_action") -> NoReturn:
    """Refused: kernels cannot call the host."""
    del args
    refuse(
        "NotProvided",
        f"trace by {trace_action!r}: kernels cannot call functions on the host",
        "compute the value in a separate te.compute, and pass its tensor as an argument",
    )


__all__ = ["call_extern", "call_intrin", "call_pure_extern", "trace"]
check_calls(globals())
