"""Functions of expressions.

Operands are expressions, axes, indexed tensors or Python numbers (int32 and float32), and are
converted to the wider type. ``te`` has the functions of TVM's ``te``; ``tir`` has all functions.
Wrong types raise :class:`texloom.TVMError` with the caller's line.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce as _fold
from typing import Any

from .. import _core
from .._core import Expr
from ..checks.argument_kinds import shown
from ..checks.checked_calls import check_calls
from ..dtypes import DType
from ..errors import ArgumentKindError, MisuseError, refuse

Operand = Any  # an expression, an axis, a full slice of a tensor or a number


def _unary(name: str, value: str) -> Callable[[Operand], Expr]:
    def function(x: Operand) -> Expr:
        return _core.call(name, x)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = value
    return function


exp = _unary("exp", "e to the power of `x`; floating point.")
exp2 = _unary("exp2", "2 to the power of `x`; floating point.")
log = _unary("log", "The natural logarithm; floating point. NaN for negative numbers.")
log2 = _unary("log2", "The logarithm to base 2; floating point. NaN for negative numbers.")
log10 = _unary("log10", "The logarithm to base 10; floating point. NaN for negative numbers.")
log1p = _unary("log1p", "The natural logarithm of 1 + `x`, exact for small `x`; floating point.")
exp10 = _unary("exp10", "10 to the power of `x`; floating point.")
sqrt = _unary("sqrt", "The square root; floating point. NaN for negative numbers.")
rsqrt = _unary("rsqrt", "1 / sqrt(`x`); floating point.")
sin = _unary("sin", "The sine of an angle in radians; floating point.")
cos = _unary("cos", "The cosine of an angle in radians; floating point.")
tan = _unary("tan", "The tangent of an angle in radians; floating point.")
sinh = _unary("sinh", "The hyperbolic sine; floating point.")
cosh = _unary("cosh", "The hyperbolic cosine; floating point.")
tanh = _unary("tanh", "The hyperbolic tangent; floating point.")
asin = _unary("asin", "The angle with this sine, from -pi/2 to pi/2; floating point.")
acos = _unary("acos", "The angle with this cosine, from 0 to pi; floating point.")
atan = _unary("atan", "The angle with this tangent, from -pi/2 to pi/2; floating point.")
asinh = _unary("asinh", "The inverse of :func:`sinh`; floating point.")
acosh = _unary("acosh", "The inverse of :func:`cosh`; floating point. NaN for numbers below 1.")
atanh = _unary("atanh", "The inverse of :func:`tanh`; floating point. NaN outside of -1 to 1.")
erf = _unary("erf", "The error function; floating point.")
floor = _unary(
    "floor",
    "The largest integer not above `x`, in its type; integers stay as they are.",
)
ceil = _unary(
    "ceil",
    "The smallest integer not below `x`, in its type; integers stay as they are.",
)
trunc = _unary("trunc", "`x` without its fraction, in its type; integers stay as they are.")
round = _unary(
    "round",
    "The nearest integer, halves away from zero; integers stay as they are.",
)
nearbyint = _unary(
    "nearbyint",
    "The nearest integer, halves to even; integers stay as they are.",
)
abs = _unary("abs", "The magnitude, in the type of `x`.")


def popcount(x: Operand) -> Expr:
    """The number of set bits of an integer, in the integer's type."""
    return _core.popcount(x)


def clz(x: Operand) -> Expr:
    """The number of leading zero bits of an integer; int32."""
    return _core.leading_zeros(x)


def word(*parts: Operand) -> Expr:
    """Four 8-bit integers, or two 16-bit ones, as an int32; the first is the lowest bits."""
    given = [_core.to_expr(part) for part in parts]
    bits = 32 // max(len(given), 1)
    if len(given) not in (2, 4) or {x.dtype for x in given} - {f"int{bits}", f"uint{bits}"}:
        types = ", ".join(str(x.dtype) for x in given) or "nothing"
        refuse(
            "BadOperandType",
            f"tir.word is called with {types}",
            "give it four integers of 8 bits, or two of 16 bits",
        )
    made, *more = (x.astype(f"uint{bits}").astype("uint32") for x in given)
    for number, part in enumerate(more, 1):
        made = made | (part << const(bits * number, "uint32"))
    return made.astype("int32")


_DOTS = {
    ("uint8", "int8"): "dot_u8s8",
    ("int8", "int8"): "dot_s8s8",
    ("uint8", "uint8"): "dot_u8u8",
    ("int16", "int16"): "dot_s16s16",
}


def dot(x: Operand, y: Operand, left: str = "int8", right: str = "int8") -> Expr:
    """The sum of the products of the integers of two words, int32; the sum wraps.

    Parameters
    ----------
    x, y : int32
        As :func:`word` makes them.
    left, right : str
        The types of their integers: uint8 and int8, or one of these or int16 for both.
    """
    function = _DOTS.get((left, right))
    if function is None:
        refuse(
            "BadOperandType",
            f"tir.dot does not multiply {left} by {right}",
            "the left and the right integers are " + ", ".join(f"{a} and {b}" for a, b in _DOTS),
        )
    return _core.call(function, x, y)


def isnan(x: Operand) -> Expr:
    """Whether the value is NaN; false for integers."""
    x = _core.to_expr(x)
    return x != x if _is_float(x) else const(False)


def isinf(x: Operand) -> Expr:
    """Whether the value is infinite; false for integers."""
    x = _core.to_expr(x)
    return abs(x) == const(float("inf"), x.dtype) if _is_float(x) else const(False)


def isfinite(x: Operand) -> Expr:
    """Whether the value is finite; true for integers."""
    x = _core.to_expr(x)
    return abs(x) < const(float("inf"), x.dtype) if _is_float(x) else const(True)


def _is_float(x: Expr) -> bool:
    return "float" in x.dtype


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


def pow(x: Operand, y: Operand) -> Expr:
    """`x` to the power of `y`, the same as :func:`power`."""
    return power(x, y)


def atan2(x: Operand, y: Operand) -> Expr:
    """The angle of the point (y, x), from -pi to pi; floating point."""
    return _core.call("atan2", x, y)


def hypot(x: Operand, y: Operand) -> Expr:
    """sqrt(x * x + y * y), without intermediate overflow; floating point."""
    return _core.call("hypot", x, y)


def copysign(x: Operand, y: Operand) -> Expr:
    """The magnitude of `x` with the sign of `y`; floating point."""
    return _core.call("copysign", x, y)


def nextafter(x: Operand, y: Operand) -> Expr:
    """The next representable value after `x` towards `y`; float32 and float64."""
    return _core.call("nextafter", x, y)


def ldexp(x1: Operand, x2: Operand) -> Expr:
    """`x1` times 2 to the power `x2`, an integer; `x1` is floating point."""
    x = _core.to_expr(x1)
    return _core.call("ldexp", x, _core.to_expr(x2).astype(x.dtype))


def var(name: str = "tindex", dtype: DType = "int32") -> Expr:
    """A symbol: an extent, or an argument of the compiled function.

    Parameters
    ----------
    name : str
        The name used in messages, texts and kernels.
    dtype : str or NumPy dtype
        Its type; extents are of int32.

    Raises
    ------
    TVMError
        TL1005 for an unknown dtype, TL2006 for the name of a thread axis.
    """
    return _core.var(name, dtype)


def size_var(name: str = "size", dtype: DType = "int32") -> Expr:
    """A symbol for an extent, the same as :func:`var`: extents are never negative."""
    return _core.var(name, dtype)


def const(value: float, dtype: DType | None = None) -> Expr:
    """A constant.

    Without `dtype`, a NumPy value keeps its type, and a Python number has the type that it has as
    an operand: int32 (int64 if it does not fit), float32 or bool.

    Parameters
    ----------
    value : bool, int, float or NumPy scalar
        The value.
    dtype : str or NumPy dtype, optional
        Its type.

    Raises
    ------
    TVMError
        TL1009 for a value that its type cannot represent, TL2040 for a value that is not a number.
    """
    if dtype is None:
        own = getattr(value, "dtype", None)
        if own is None or isinstance(value, Expr):
            return _core.to_expr(value)
        if not hasattr(value, "item"):
            refuse(
                "BadArgument",
                f"const is given {shown(value)}, not a number",
                "use elements of the tensor as operands, such as X[i]",
            )
        dtype = str(own)
        value = value.item()
    if isinstance(value, int):
        return _core.const_int(value, dtype)
    return _core.const(value, dtype)


def floordiv(a: Operand, b: Operand) -> Expr:
    """Integer quotient, rounded to minus infinity. TL1008 for the constant 0 as `b`."""
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
    """Division of floats; :func:`truncdiv` for integers."""
    a, b = _core.to_expr(a), _core.to_expr(b)
    return a / b if "float" in a.dtype + b.dtype else truncdiv(a, b)


def ceildiv(a: Operand, b: Operand) -> Expr:
    """Integer quotient by a positive number, rounded to plus infinity."""
    return (_core.to_expr(a) + (_core.to_expr(b) - 1)) // b


def bitwise_and(x: Operand, y: Operand) -> Expr:
    """``x & y``."""
    return _core.to_expr(x) & y


def bitwise_or(x: Operand, y: Operand) -> Expr:
    """``x | y``."""
    return _core.to_expr(x) | y


def bitwise_xor(x: Operand, y: Operand) -> Expr:
    """``x ^ y``."""
    return _core.to_expr(x) ^ y


def bitwise_not(x: Operand) -> Expr:
    """``~x``."""
    return ~_core.to_expr(x)


def shift_left(x: Operand, y: Operand) -> Expr:
    """``x << y``."""
    return _core.to_expr(x) << y


def shift_right(x: Operand, y: Operand) -> Expr:
    """``x >> y``; signed integers keep their sign."""
    return _core.to_expr(x) >> y


def infinity(dtype: DType) -> Expr:
    """The positive infinity of a floating-point type."""
    return const(float("inf"), dtype)


indexdiv = floordiv
indexmod = floormod


def if_then_else(condition: Operand, true_value: Operand, false_value: Operand) -> Expr:
    """Select one of two values; reads in the other value are not executed.

    Parameters
    ----------
    condition : Expr
        A bool, such as a comparison.
    true_value, false_value : Expr
        The values, which are converted to their common type.

    Raises
    ------
    TVMError
        TL1003 if the condition is not a bool or the values have no common type.
    """
    return _core.if_then_else(condition, true_value, false_value)


def likely(condition: Operand) -> Expr:
    """Return the condition; the hint has no effect."""
    return _core.to_expr(condition)


def _check_conditions(name: str, conditions: tuple[Operand, ...]) -> None:
    if not conditions:
        refuse(
            "BadCall",
            f"te.{name}() was given no conditions",
            "give at least one condition",
            MisuseError,
        )
    for each in conditions:
        if isinstance(each, (list, tuple)):
            refuse(
                "BadCall",
                f"te.{name}() was given a list of conditions",
                f"give them one by one: te.{name}(*conditions)",
                ArgumentKindError,
            )


def all(*conditions: Operand) -> Expr:
    """Whether all conditions hold; at least one is required."""
    _check_conditions("all", conditions)
    return _fold(_core.logical_and, conditions, _core.to_expr(True))


def any(*conditions: Operand) -> Expr:
    """Whether any condition holds; at least one is required."""
    _check_conditions("any", conditions)
    return _fold(_core.logical_or, conditions, _core.to_expr(False))


def _integer_range(dtype: str) -> tuple[int, int]:
    if dtype == "bool":
        return (0, 1)
    bits = int(dtype.lstrip("uint"))
    return (0, 2**bits - 1) if dtype.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


_FLOAT_MAX = {
    "bfloat16": 2.0**128 - 2.0**120,
    "float16": 65504.0,
    "float32": 3.4028234663852886e38,
    "float64": 1.7976931348623157e308,
}


def max_value(dtype: DType) -> Expr:
    """The highest finite value of a type."""
    name = _core.dtype_name(dtype)
    if name in _FLOAT_MAX:
        return const(_FLOAT_MAX[name], name)
    return const(_integer_range(name)[1], name)


def min_value(dtype: DType) -> Expr:
    """The lowest finite value of a type."""
    name = _core.dtype_name(dtype)
    if name in _FLOAT_MAX:
        return const(-_FLOAT_MAX[name], name)
    return const(_integer_range(name)[0], name)


__all__ = [
    "abs",
    "acos",
    "acosh",
    "all",
    "any",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "ceil",
    "ceildiv",
    "clz",
    "const",
    "copysign",
    "cos",
    "cosh",
    "div",
    "dot",
    "erf",
    "exp",
    "exp10",
    "exp2",
    "floor",
    "floordiv",
    "floormod",
    "fmod",
    "hypot",
    "if_then_else",
    "indexdiv",
    "indexmod",
    "infinity",
    "isfinite",
    "isinf",
    "isnan",
    "ldexp",
    "likely",
    "log",
    "log10",
    "log1p",
    "log2",
    "max_value",
    "min_value",
    "nearbyint",
    "nextafter",
    "popcount",
    "pow",
    "power",
    "round",
    "rsqrt",
    "shift_left",
    "shift_right",
    "sigmoid",
    "sin",
    "sinh",
    "size_var",
    "sqrt",
    "tan",
    "tanh",
    "trunc",
    "truncdiv",
    "truncmod",
    "var",
    "word",
]
check_calls(globals())
