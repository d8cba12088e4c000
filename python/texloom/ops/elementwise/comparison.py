"""Comparisons, logic, and operations on bits."""

from __future__ import annotations

from typing import Any

from ... import te, tir
from ..._core import Tensor
from ..broadcast import elementwise
from .table import binary, number, unary

equal = binary("equal", lambda x, y: x == y, "Whether ``a == b``; false for NaN.")
less = binary("less", lambda x, y: x < y, "Whether ``a < b``; false for NaN.")
less_equal = binary("less_equal", lambda x, y: x <= y, "Whether ``a <= b``; false for NaN.")
greater = binary("greater", lambda x, y: x > y, "Whether ``a > b``; false for NaN.")
greater_equal = binary("greater_equal", lambda x, y: x >= y, "Whether ``a >= b``; false for NaN.")

is_nan = unary("is_nan", te.isnan, "Whether `x` is NaN.")


def is_infinite(x: Tensor, positive: bool = True, negative: bool = True) -> Tensor:
    """Whether elements are infinite.

    Parameters
    ----------
    x : Tensor
        Of floating point.
    positive, negative : bool
        Which infinities count.
    """

    def found(value: Any) -> Any:
        infinity, signs = number(float("inf"), value), []
        signs += [value == infinity] if positive else []
        signs += [value == -infinity] if negative else []
        return te.any(*signs) if signs else te.const(False)

    return elementwise(found, x, name="is_infinite")


logical_and = binary("logical_and", lambda x, y: te.all(x, y), "Whether both bools are true.")
logical_or = binary("logical_or", lambda x, y: te.any(x, y), "Whether one of two bools is true.")
logical_xor = binary("logical_xor", lambda x, y: x != y, "Whether exactly one bool is true.")
logical_not = unary("logical_not", lambda x: tir.Not(x), "Whether a bool is false.")

bitwise_and = binary("bitwise_and", lambda x, y: x & y, "``a & b`` of integers.")
bitwise_or = binary("bitwise_or", lambda x, y: x | y, "``a | b`` of integers.")
bitwise_xor = binary("bitwise_xor", lambda x, y: x ^ y, "``a ^ b`` of integers.")
bitwise_not = unary("bitwise_not", lambda x: ~x, "``~x`` of integers.")


def _has_bit(x: Any, y: Any) -> Any:
    below = y < number(int(x.dtype.lstrip("uint")), y)
    return below if y.dtype.startswith("uint") else te.all(y >= number(0, y), below)


def _sign(x: Any) -> Any:
    """Return an integer with all bits shifted out: -1 if it is negative, else 0."""
    zero = number(0, x)
    return zero if x.dtype.startswith("uint") else te.if_then_else(x < zero, number(-1, x), zero)


left_shift = binary(
    "left_shift",
    lambda x, y: te.if_then_else(_has_bit(x, y), x << y, number(0, x)),
    "``a << b`` of integers: 0 if `b` is negative, or the number of bits or more.",
)
right_shift = binary(
    "right_shift",
    lambda x, y: te.if_then_else(_has_bit(x, y), x >> y, _sign(x)),
    "``a >> b`` of integers: 0, of a negative one -1, if `b` is negative, or the number of bits or "
    "more.",
)

__all__ = [
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "equal",
    "greater",
    "greater_equal",
    "is_infinite",
    "is_nan",
    "left_shift",
    "less",
    "less_equal",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "right_shift",
]
