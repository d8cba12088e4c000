"""Powers of tensors."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from ... import te
from ..._core import Tensor
from ..broadcast import broadcast_shape, element, elementwise
from .conversion import converted
from .table import is_float, number

_POW_ERROR = 16 * 2.0**-53
"""The largest relative error of OpenCL C's pow of float64: 16 units in the last place."""


def power(base: Tensor, exponent: Tensor) -> Tensor:
    """Return ``base ** exponent`` in the type of `base`.

    Powers are computed in the common type of base and exponent in NumPy. Integer powers of integers
    are exact, and wrap if they overflow. Powers with negative integer exponents are truncated
    toward zero, and are 0 for a base of 0. Powers of integers with floating-point exponents are
    truncated toward zero, too, but are rounded if they differ from an integer by at most the error
    of the device's function.

    Parameters
    ----------
    base, exponent : Tensor
        Of any numeric types; broadcast as in NumPy.
    """
    if not is_float(base.dtype) and not is_float(exponent.dtype):
        return _integer_power(base, exponent)
    wide = _common(base.dtype, exponent.dtype)

    def raised(x: Any, y: Any) -> Any:
        result = te.power(x.astype(wide), y.astype(wide))
        if is_float(base.dtype):
            return result.astype(base.dtype)
        return converted(_truncated(result), base.dtype)

    return elementwise(raised, base, exponent, name="power")


def _common(*dtypes: str) -> str:
    names = ["float32" if each == "bfloat16" else each for each in dtypes]
    return np.result_type(*names).name


def _truncated(x: Any) -> Any:
    """Return the nearest integer if `x` differs from it only by rounding errors, else truncate."""
    nearest = te.nearbyint(x)
    bound = te.abs(nearest) * te.const(_POW_ERROR, x.dtype)
    return te.if_then_else(te.abs(x - nearest) <= bound, nearest, te.trunc(x))


def _integer_power(base: Tensor, exponent: Tensor) -> Tensor:
    """Multiply by the base as often as the exponent says.

    If the exponent exceeds the number of bits of the type, only its parity matters: the power has
    overflowed for all bases other than 0, 1 and -1, and even bases have wrapped to 0.
    """
    bits = int(base.dtype.lstrip("uint"))
    k = te.reduce_axis((0, bits + 1), name="k")

    def factor(x: Any, y: Any) -> Any:
        one, parity = number(1, x), (y & number(1, y)).astype("int32")
        many = te.if_then_else(y > number(bits, y), parity + bits, y.astype("int32"))
        product = te.if_then_else(k < many, x, one)
        if exponent.dtype.startswith("uint"):
            return product
        unit = te.if_then_else(te.all(k == 0, parity == 1), x, one)
        inverse = te.if_then_else(x * x == one, unit, number(0, x))
        return te.if_then_else(y < number(0, y), inverse, product)

    shape = broadcast_shape(base.shape, exponent.shape)
    return te.compute(
        shape,
        lambda *i: te.prod(factor(element(base, i), element(exponent, i)), axis=k),
        name="power",
    )


def integer_power(x: Tensor, exponent: int) -> Tensor:
    """Return ``x * x * ... * x`` with `exponent` factors, at least one."""
    if exponent < 1:
        raise ValueError(
            f"the exponent is {exponent}, but must be at least 1: use power() for others"
        )
    return elementwise(
        lambda value: reduce(lambda p, v: p * v, [value] * exponent), x, name="integer_power"
    )


__all__ = ["integer_power", "power"]
