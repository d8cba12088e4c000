"""Sums, products, quotients, remainders and extrema of tensors."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from math import nan
from typing import Any

from ... import te
from ..._core import Tensor
from ..broadcast import elementwise
from .table import binary, is_float, number, rounded_once, unary

add = binary("add", lambda x, y: x + y, "``a + b``; integers wrap.")
subtract = binary("subtract", lambda x, y: x - y, "``a - b``; integers wrap.")
multiply = binary("multiply", lambda x, y: x * y, "``a * b``; integers wrap.")


def _divided(x: Any, y: Any) -> Any:
    if is_float(x.dtype):
        return x / y
    quotient = te.truncdiv(x, y)
    if x.dtype.startswith("int"):  # least number / -1 overflows, which is undefined
        quotient = te.if_then_else(y == number(-1, y), number(0, x) - x, quotient)
    return _zero_by_zero(x, y, quotient)


def _zero_by_zero(x: Any, y: Any, result: Any) -> Any:
    """Return the result of a division of integers, or 0 where the divisor is 0."""
    return te.if_then_else(y == number(0, y), number(0, x), result)


def _floor_remainder(x: Any, y: Any) -> Any:
    if not is_float(x.dtype):
        return _zero_by_zero(x, y, te.floormod(x, y))
    rest, zero = te.fmod(x, y), number(0, x)
    other_sign = te.all(rest != zero, (rest < zero) != (y < zero))
    return te.if_then_else(other_sign, rest + y, rest)


def _remainder(x: Any, y: Any) -> Any:
    return te.fmod(x, y) if is_float(x.dtype) else _zero_by_zero(x, y, te.truncmod(x, y))


divide = binary(
    "divide",
    _divided,
    "``a / b``; quotients of integers are truncated toward zero, and 0 where `b` is 0.",
)
floor_modulo = binary(
    "floor_modulo",
    _floor_remainder,
    "The remainder of ``a / b`` with the sign of `b`, as ``np.mod``; 0 for integers by 0.",
)
truncated_modulo = binary(
    "truncated_modulo",
    _remainder,
    "The remainder of ``a / b`` with the sign of `a`, as ``np.fmod``; 0 for integers by 0.",
)
negative = unary("negative", lambda x: -x, "``-x``; integers wrap.")
reciprocal = unary("reciprocal", lambda x: number(1, x) / x, "``1 / x``, of floating point.")
absolute = unary("absolute", te.abs, "The magnitude of `x`; the least integer stays as it is.")


def _sign(x: Any) -> Any:
    zero = number(0, x)
    if x.dtype.startswith("uint"):
        return te.if_then_else(x > zero, number(1, x), zero)
    not_positive = te.if_then_else(x < zero, number(-1, x), x)  # otherwise x is 0 or NaN
    return te.if_then_else(x > zero, number(1, x), not_positive)


sign = unary("sign", _sign, "1, 0 or -1 as `x` is above, at or below 0; NaN for NaN.")


def _folded(name: str, combine: Callable[..., Any], value: str) -> Callable[..., Tensor]:
    fold = rounded_once(combine)

    def operator(*inputs: Tensor) -> Tensor:
        return elementwise(fold, *inputs, name=name)

    operator.__name__ = operator.__qualname__ = name
    operator.__doc__ = f"{value}\n\nThe inputs, of one type, are broadcast as in NumPy."
    return operator


def _sum(*elements: Any) -> Any:
    return reduce(lambda x, y: x + y, elements)


def _extremum(choose: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Return a function that chooses one of two elements, or NaN if one is NaN."""

    def combine(*elements: Any) -> Any:
        chosen, dtype = reduce(choose, elements), elements[0].dtype
        if not is_float(dtype):
            return chosen
        # Each operand occurs only twice in the expression, for any number of operands.
        is_nan = te.any(*(te.isnan(each) for each in elements))
        return te.if_then_else(is_nan, te.const(nan, dtype), chosen)

    return combine


sum_of = _folded("sum_of", _sum, "The sum of tensors; integers wrap.")
maximum_of = _folded("maximum_of", _extremum(te.max), "The maximum of tensors; NaN where one is.")
minimum_of = _folded("minimum_of", _extremum(te.min), "The minimum of tensors; NaN where one is.")


def mean_of(*inputs: Tensor) -> Tensor:
    """Return the mean of tensors of floating point, which are broadcast as in NumPy."""

    @rounded_once
    def mean(*elements: Any) -> Any:
        return _sum(*elements) / number(len(elements), elements[0])

    return elementwise(mean, *inputs, name="mean_of")


__all__ = [
    "absolute",
    "add",
    "divide",
    "floor_modulo",
    "maximum_of",
    "mean_of",
    "minimum_of",
    "multiply",
    "negative",
    "reciprocal",
    "sign",
    "subtract",
    "sum_of",
    "truncated_modulo",
]
