"""Floating-point types of at most 8 bits, whose numbers are stored as bits in uint8."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, nan
from typing import Any

from ... import te, tir
from ..._core import Tensor
from ..broadcast import elementwise


@dataclass(frozen=True)
class SmallFloat:
    """A type with a sign, exponents and fractions.

    The bits without the sign, an exponent and a fraction, are ordered as the numbers. After the
    greatest number, there are an infinity and NaNs, if the type has them.

    Attributes
    ----------
    fraction : int
        The number of bits of the fraction.
    bias : int
        What is subtracted from the exponent.
    greatest : int
        The bits of the greatest number.
    has_infinity, has_nan : bool
    has_negative_zero : bool
        If there is no -0, its bits are the only NaN.
    sign : int
        The bit of negative numbers.
    """

    fraction: int
    bias: int
    greatest: int
    has_infinity: bool = False
    has_nan: bool = True
    has_negative_zero: bool = True
    sign: int = 0x80


SMALL_FLOATS = {
    "float8e4m3fn": SmallFloat(3, 7, 0x7E),
    "float8e4m3fnuz": SmallFloat(3, 8, 0x7F, has_negative_zero=False),
    "float8e5m2": SmallFloat(2, 15, 0x7B, has_infinity=True),
    "float8e5m2fnuz": SmallFloat(2, 16, 0x7F, has_negative_zero=False),
    "float4e2m1": SmallFloat(1, 1, 0x7, has_nan=False, sign=0x8),
}
"""Types by the names of the ONNX standard."""

EXPONENTS = "float8e8m0"
"""The type of powers of two from 2^-127 to 2^127, and of a NaN, without a sign."""

_EXPONENT_BIAS, _EXPONENT_NAN = 127, 0xFF


def from_small_floats(bits: Tensor, kind: str) -> Tensor:
    """Return the float32 numbers of these bits, exactly.

    Parameters
    ----------
    bits : Tensor
        Of uint8.
    kind : str
        The ONNX standard's name of the type: ``"float8e4m3fn"``, ``"float8e4m3fnuz"``,
        ``"float8e5m2"``, ``"float8e5m2fnuz"``, ``"float4e2m1"`` or ``"float8e8m0"``.
    """
    return elementwise(lambda each: _number(each.astype("int32"), kind), bits, name="small_float")


def to_small_floats(x: Tensor, kind: str, saturates: bool = True, round_mode: str = "up") -> Tensor:
    """Return the bits of the nearest numbers, of ties those with even bits.

    Parameters
    ----------
    x : Tensor
        Of any type of numbers. NaN becomes 0 if the type has none.
    kind : str
        As for :func:`from_small_floats`.
    saturates : bool
        Whether numbers out of range, and infinities, become the greatest number.
    round_mode : str
        How numbers between two powers of two are rounded to ``"float8e8m0"``: ``"up"``,
        ``"down"`` or ``"nearest"``, of ties to the greater one. Numbers below 2^-127 become 2^-127.

    Returns
    -------
    Tensor
        Of uint8.
    """

    def bits(value: Any) -> Any:
        wide = value if value.dtype == "float64" else value.astype("float32")
        if kind == EXPONENTS:
            made = _exponent(wide, saturates, round_mode)
        else:
            made = _rounded(wide, SMALL_FLOATS[kind], saturates)
        return made.astype("uint8")

    return elementwise(bits, x, name="small_float")


def _number(bits: Any, kind: str) -> Any:
    not_a_number = te.const(nan, "float32")
    if kind == EXPONENTS:
        power = tir.ldexp(te.const(1.0, "float32"), bits - _EXPONENT_BIAS)
        return te.if_then_else(bits == _EXPONENT_NAN, not_a_number, power)
    own = SMALL_FLOATS[kind]
    magnitude = bits & (own.sign - 1)
    exponent = magnitude >> own.fraction
    fraction = magnitude & ((1 << own.fraction) - 1)
    # Numbers with the exponent 0 lack the leading 1, and have the unit of the exponent 1.
    leading = te.if_then_else(exponent == 0, 0, 1 << own.fraction)
    unit = te.max(exponent, 1) - (own.bias + own.fraction)
    number = tir.ldexp((leading + fraction).astype("float32"), unit)
    if own.has_infinity:
        is_infinite = magnitude == own.greatest + 1
        number = te.if_then_else(is_infinite, te.const(inf, "float32"), number)
    number = te.if_then_else(bits >= own.sign, -number, number)
    if not own.has_nan:
        return number
    is_nan = magnitude > own.greatest + own.has_infinity
    if not own.has_negative_zero:
        is_nan = bits == own.sign
    return te.if_then_else(is_nan, not_a_number, number)


def _rounded(x: Any, own: SmallFloat, saturates: bool) -> Any:
    def number(value: float) -> Any:
        return te.const(value, x.dtype)

    size = 1 << own.fraction
    exponent, fraction = divmod(own.greatest, size)
    limit = 2.0 ** (exponent - own.bias + 1) * (1 + fraction / size)  # twice the greatest number
    magnitude = te.min(te.abs(x), number(limit))
    # Beside a power of two, log2 may round to its exponent or below: both give the same bits.
    exponent = te.floor(te.log2(te.max(magnitude, number(2.0 ** (1 - own.bias)))))
    steps = te.nearbyint(tir.ldexp(magnitude, own.fraction - exponent))
    bits = ((exponent + (own.bias - 1)) * size + steps).astype("int32")
    largest = own.greatest if saturates or not own.has_nan else own.greatest + 1
    bits = te.if_then_else(bits > own.greatest, largest, bits)
    not_a_number = own.greatest + 1 + 2 * own.has_infinity if own.has_nan else 0
    bits = te.if_then_else(te.isnan(x), not_a_number, bits)
    is_signed = tir.copysign(number(1.0), x) < number(0.0)
    if not own.has_negative_zero:
        is_signed = te.all(is_signed, bits != 0)
    return te.if_then_else(is_signed, bits | own.sign, bits)


def _exponent(x: Any, saturates: bool, round_mode: str) -> Any:
    def number(value: float) -> Any:
        return te.const(value, x.dtype)

    least, greatest = 2.0**-_EXPONENT_BIAS, 2.0**_EXPONENT_BIAS
    magnitude = te.max(te.min(x, number(greatest)), number(least))
    below = te.floor(te.log2(magnitude)) - 1  # log2 may round up
    power = tir.ldexp(number(1.0), below)
    # A number is rounded to a power of two if it reaches, or exceeds, this part of the power.
    for step in (2.0, 4.0, 8.0):
        bound = power * (step * {"up": 0.5, "down": 1.0, "nearest": 0.75}[round_mode])
        is_above = magnitude > bound if round_mode == "up" else magnitude >= bound
        below = below + is_above.astype(x.dtype)
    bits = (below + _EXPONENT_BIAS).astype("int32")
    is_beyond = x > number(greatest)
    if not saturates:
        bits = te.if_then_else(is_beyond, _EXPONENT_NAN, bits)
    return te.if_then_else(te.isnan(x), _EXPONENT_NAN, bits)


__all__ = ["EXPONENTS", "SMALL_FLOATS", "SmallFloat", "from_small_floats", "to_small_floats"]
