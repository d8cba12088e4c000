"""Functions of floating-point numbers, by element."""

from __future__ import annotations

from ... import te
from .table import unary

sqrt = unary("sqrt", te.sqrt, "The square root; NaN for negative numbers.")
exp = unary("exp", te.exp, "e to the power of `x`.")
log = unary("log", te.log, "The natural logarithm; NaN for negative numbers.")
sin = unary("sin", te.sin, "The sine of an angle in radians.")
cos = unary("cos", te.cos, "The cosine of an angle in radians.")
tan = unary("tan", te.tan, "The tangent of an angle in radians.")
asin = unary("asin", te.asin, "The angle in radians with this sine; NaN outside of -1 to 1.")
acos = unary("acos", te.acos, "The angle in radians with this cosine; NaN outside of -1 to 1.")
atan = unary("atan", te.atan, "The angle in radians with this tangent.")
sinh = unary("sinh", te.sinh, "The hyperbolic sine.")
cosh = unary("cosh", te.cosh, "The hyperbolic cosine.")
tanh = unary("tanh", te.tanh, "The hyperbolic tangent.")
asinh = unary("asinh", te.asinh, "The inverse of :func:`sinh`.")
acosh = unary("acosh", te.acosh, "The inverse of :func:`cosh`; NaN below 1.")
atanh = unary("atanh", te.atanh, "The inverse of :func:`tanh`; NaN outside of -1 to 1.")
erf = unary("erf", te.erf, "The error function.")
floor = unary("floor", te.floor, "The largest integer not above `x`, in its type.")
ceil = unary("ceil", te.ceil, "The smallest integer not below `x`, in its type.")
round_half_even = unary(
    "round_half_even", te.nearbyint, "The nearest integer, halves to even, in the type of `x`."
)

__all__ = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "ceil",
    "cos",
    "cosh",
    "erf",
    "exp",
    "floor",
    "log",
    "round_half_even",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
]
