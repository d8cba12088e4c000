"""Functions of expressions.

Operands are expressions, axes, indexed tensors or Python numbers (int32 and float32); the wider
type wins. Wrong types raise :class:`texloom.TVMError` with the caller's line.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from functools import reduce as _fold
from typing import Any

from .. import _core
from .._core import Expr, IterVar

Operand = Any  # an expression, an axis, a full slice of a tensor or a number


def _unary(name: str) -> Callable[[Operand], Expr]:
    def function(x: Operand) -> Expr:
        return _core.call(name, x)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Element function ``{name}`` of a floating-point expression."
    return function


exp = _unary("exp")
exp2 = _unary("exp2")
log = _unary("log")
log2 = _unary("log2")
log10 = _unary("log10")
sqrt = _unary("sqrt")
rsqrt = _unary("rsqrt")
sin = _unary("sin")
cos = _unary("cos")
tan = _unary("tan")
sinh = _unary("sinh")
cosh = _unary("cosh")
tanh = _unary("tanh")
asin = _unary("asin")
acos = _unary("acos")
atan = _unary("atan")
erf = _unary("erf")
floor = _unary("floor")
ceil = _unary("ceil")
trunc = _unary("trunc")
round = _unary("round")
nearbyint = _unary("nearbyint")
abs = _unary("abs")


def sigmoid(x: Operand) -> Expr:
    """1 / (1 + exp(-x))."""
    x = _core.to_expr(x)
    one = const(1, x.dtype)
    return one / (one + exp(-x))


def power(x: Operand, y: Operand) -> Expr:
    """`x` to the power of `y`; floating point."""
    return _core.call("power", x, y)


def fmod(x: Operand, y: Operand) -> Expr:
    """The remainder of x / y with the sign of `x`; floating point."""
    return _core.call("fmod", x, y)


def var(name: str = "tindex", dtype: str = "int32") -> Expr:
    """A symbol."""
    return _core.var(name, dtype)


def const(value: float, dtype: str | None = None) -> Expr:
    """A constant; of the type that Python's number has as an operand when `dtype` is None."""
    if dtype is None:
        return _core.to_expr(value)
    if isinstance(value, int):
        return _core.const_int(value, dtype)
    return _core.const(value, dtype)


def floordiv(a: Operand, b: Operand) -> Expr:
    """Integer quotient, rounded to minus infinity."""
    return _core.to_expr(a) // b


def floormod(a: Operand, b: Operand) -> Expr:
    """Remainder of :func:`floordiv`, with the sign of `b`."""
    return _core.to_expr(a) % b


def truncdiv(a: Operand, b: Operand) -> Expr:
    """Integer quotient, rounded towards zero."""
    return _core.truncdiv(a, b)


def truncmod(a: Operand, b: Operand) -> Expr:
    """Remainder of :func:`truncdiv`, with the sign of `a`."""
    return _core.truncmod(a, b)


def div(a: Operand, b: Operand) -> Expr:
    """Division of floats; of integers :func:`truncdiv`."""
    a, b = _core.to_expr(a), _core.to_expr(b)
    return a / b if "float" in a.dtype + b.dtype else truncdiv(a, b)


indexdiv = floordiv
indexmod = floormod


def if_then_else(condition: Operand, true_value: Operand, false_value: Operand) -> Expr:
    """One of two values; reads in the other one do not happen."""
    return _core.if_then_else(condition, true_value, false_value)


def all(*conditions: Operand) -> Expr:
    """Whether all conditions hold."""
    return _fold(_core.logical_and, conditions, _core.to_expr(True))


def any(*conditions: Operand) -> Expr:
    """Whether a condition holds."""
    return _fold(_core.logical_or, conditions, _core.to_expr(False))


def _integer_range(dtype: str) -> tuple[int, int]:
    bits = int(dtype.lstrip("uint"))
    return (0, 2**bits - 1) if dtype.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


_FLOAT_MAX = {
    "float16": 65504.0,
    "float32": 3.4028234663852886e38,
    "float64": 1.7976931348623157e308,
}


def max_value(dtype: str) -> Expr:
    """The highest finite value of a type."""
    if dtype in _FLOAT_MAX:
        return const(_FLOAT_MAX[dtype], dtype)
    return const(_integer_range(dtype)[1], dtype)


def min_value(dtype: str) -> Expr:
    """The lowest finite value of a type."""
    if dtype in _FLOAT_MAX:
        return const(-_FLOAT_MAX[dtype], dtype)
    return const(_integer_range(dtype)[0], dtype)


def _axes(axis: IterVar | Sequence[IterVar]) -> list[IterVar]:
    return [axis] if isinstance(axis, IterVar) else list(axis)


def sum(expr: Operand, axis: IterVar | Sequence[IterVar], where: Operand | None = None) -> Expr:
    """The sum of `expr` over reduce axes, of the points where `where` holds."""
    return _core.reduce_sum(expr, _axes(axis), where)


def _extremum(
    first: Operand, rest: tuple[Any, ...], axis: Any, where: Any, over_axes: Any, of_values: Any
) -> Expr:
    if axis is None and builtins.len(rest) == 1 and _is_axes(rest[0]):
        axis, rest = rest[0], ()
    if axis is not None:
        if rest:
            raise TypeError("give either several values or one value and its axis")
        return over_axes(first, _axes(axis), where)
    if not rest:
        raise TypeError("give a second value, or the axis= of a reduction")
    return _fold(of_values, rest, _core.to_expr(first))


def _is_axes(value: Any) -> bool:
    values = value if isinstance(value, (list, tuple)) else [value]
    return builtins.all(isinstance(v, IterVar) and v.is_reduction for v in values)


def max(expr: Operand, *others: Operand, axis: Any = None, where: Operand | None = None) -> Expr:
    """The greatest of several values, or of one expression over reduce axes (``axis=``).

    Of a number and a NaN it is the number, as with C's ``fmax``. Over axes it starts from the
    lowest finite value of the type: the result where all values are NaN or minus infinity.
    """
    return _extremum(expr, others, axis, where, _core.reduce_max, _core.max)


def min(expr: Operand, *others: Operand, axis: Any = None, where: Operand | None = None) -> Expr:
    """The least of several values, or of one expression over reduce axes; NaN as of :func:`max`."""
    return _extremum(expr, others, axis, where, _core.reduce_min, _core.min)
