"""Activation functions.

Functions of float16 and bfloat16 are computed in float32, and only their results are rounded. NaN
stays NaN, except in :func:`thresholded_relu` and :func:`shrink`, where it becomes 0.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite, pi, sqrt
from typing import Any, Literal

from ... import _core, te
from ..._core import Tensor
from ..broadcast import elementwise
from .conversion import converted
from .table import is_float, number, rounded_once, unary


def _activation(function: Callable[[Any], Any], x: Tensor, name: str) -> Tensor:
    return elementwise(rounded_once(function), x, name=name)


def _within_unit(value: Any) -> Any:
    """Return the value clamped to the range from 0 to 1; NaN stays NaN."""
    zero, one = number(0, value), number(1, value)
    return te.if_then_else(value < zero, zero, te.if_then_else(value > one, one, value))


def _relu(value: Any) -> Any:
    return te.if_then_else(value < number(0, value), number(0, value), value)


def _softplus(value: Any) -> Any:
    # The argument of exp is never positive, so that nothing overflows. The sum keeps a NaN, which
    # max would drop.
    return te.max(value, number(0, value)) + _core.call("log1p", te.exp(-te.abs(value)))


def _hard_swish(value: Any) -> Any:
    ramp = value / number(6, value) + number(0.5, value)
    # The product keeps a NaN, which min and max would drop.
    return value * te.min(te.max(ramp, number(0, value)), number(1, value))


relu = unary("relu", _relu, "``max(x, 0)``, also of integers.")
sigmoid = unary("sigmoid", rounded_once(te.sigmoid), "``1 / (1 + exp(-x))``.")
softplus = unary("softplus", rounded_once(_softplus), "``log(1 + exp(x))``, without overflow.")
softsign = unary(
    "softsign", rounded_once(lambda x: x / (number(1, x) + te.abs(x))), "``x / (1 + abs(x))``."
)
hard_swish = unary(
    "hard_swish",
    rounded_once(_hard_swish),
    "``x * max(0, min(1, x / 6 + 1 / 2))``.",
)
mish = unary(
    "mish", rounded_once(lambda x: x * te.tanh(_softplus(x))), "``x * tanh(log(1 + exp(x)))``."
)


def leaky_relu(x: Tensor, alpha: float) -> Tensor:
    """Return `x`, or ``alpha * x`` where it is negative."""
    return _activation(lambda v: _scaled_below_zero(v, number(alpha, v)), x, "leaky_relu")


def prelu(x: Tensor, slope: Tensor) -> Tensor:
    """Return `x`, or ``slope * x`` where it is negative; `slope` is broadcast to `x`."""
    return elementwise(rounded_once(_scaled_below_zero), x, slope, name="prelu")


def _scaled_below_zero(value: Any, slope: Any) -> Any:
    return te.if_then_else(value < number(0, value), slope * value, value)


def _exponential(value: Any, alpha: float, scale: float = 1.0) -> Any:
    """Return ``alpha * (exp(value / scale) - 1)`` where the value is negative, else the value."""
    inner = value if scale == 1.0 else value / number(scale, value)
    curve = number(alpha, value) * _core.call("expm1", inner)
    return te.if_then_else(value < number(0, value), curve, value)


def elu(x: Tensor, alpha: float = 1.0) -> Tensor:
    """Return `x`, or ``alpha * (exp(x) - 1)`` where it is negative."""
    return _activation(lambda v: _exponential(v, alpha), x, "elu")


def selu(x: Tensor, alpha: float, gamma: float) -> Tensor:
    """Return ``gamma`` times :func:`elu`."""
    return _activation(lambda v: number(gamma, v) * _exponential(v, alpha), x, "selu")


def celu(x: Tensor, alpha: float = 1.0) -> Tensor:
    """Return ``max(0, x) + min(0, alpha * (exp(x / alpha) - 1))``.

    If `alpha` is 0 or not finite, the second term may be NaN also for a positive `x`.
    """

    def both_terms(v: Any) -> Any:
        zero = number(0, v)
        curve = number(alpha, v) * _core.call("expm1", v / number(alpha, v))
        return te.max(v, zero) + te.if_then_else(curve > zero, zero, curve)

    if alpha == 0 or not isfinite(alpha):
        return _activation(both_terms, x, "celu")
    return _activation(lambda v: _exponential(v, alpha, alpha), x, "celu")


def thresholded_relu(x: Tensor, alpha: float = 1.0) -> Tensor:
    """Return `x` where it is above `alpha`, else 0."""
    return _activation(
        lambda v: te.if_then_else(v > number(alpha, v), v, number(0, v)), x, "thresholded_relu"
    )


def hard_sigmoid(x: Tensor, alpha: float = 0.2, beta: float = 0.5) -> Tensor:
    """Return ``max(0, min(1, alpha * x + beta))``."""
    return _activation(
        lambda v: _within_unit(number(alpha, v) * v + number(beta, v)), x, "hard_sigmoid"
    )


def swish(x: Tensor, alpha: float = 1.0) -> Tensor:
    """Return ``x * sigmoid(alpha * x)``."""
    return _activation(lambda v: v * te.sigmoid(number(alpha, v) * v), x, "swish")


def soft_cap(x: Tensor, limit: float) -> Tensor:
    """Return ``limit * tanh(x / limit)``, which is between ``-limit`` and `limit`."""

    def capped(v: Any) -> Any:
        return te.tanh(v / number(limit, v)) * number(limit, v)

    return _activation(capped, x, "soft_cap")


def gelu(x: Tensor, approximate: Literal["none", "tanh"] = "none") -> Tensor:
    """Return `x` times the probability that a standard normal variable is below `x`.

    Parameters
    ----------
    x : Tensor
    approximate : "none" or "tanh"
        "tanh" takes ``(1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x ** 3))) / 2`` as the probability:
        D. Hendrycks, K. Gimpel, "Gaussian Error Linear Units", arXiv:1606.08415.

    Notes
    -----
    The probability is ``(1 + erf(x / sqrt(2))) / 2``, as ONNX defines it. So its absolute error is
    small, a few rounding errors of 1 (``docs/math_functions.md``), and the result's is that times
    ``abs(x)``. Where the probability is near 0, the relative error may be large.
    """

    def product(v: Any) -> Any:
        half = number(0.5, v) * v
        if approximate == "tanh":
            slope = number(sqrt(2 / pi), v) + number(0.044715 * sqrt(2 / pi), v) * (v * v)
            return half + half * te.tanh(slope * v)
        return half + half * te.erf(number(sqrt(0.5), v) * v)

    return _activation(product, x, "gelu")


def shrink(x: Tensor, bias: float = 0.0, limit: float = 0.5) -> Tensor:
    """Return ``x + bias`` below ``-limit``, ``x - bias`` above `limit`, and 0 between.

    Integers are computed in float64, and the results truncated toward zero.
    """

    def shrunk(value: Any) -> Any:
        wide = value if is_float(value.dtype) else value.astype("float64")
        add, bound, zero = number(bias, wide), number(limit, wide), number(0, wide)
        above = te.if_then_else(wide > bound, wide - add, zero)
        result = te.if_then_else(wide < -bound, wide + add, above)
        return result if is_float(value.dtype) else converted(result, value.dtype)

    return _activation(shrunk, x, "shrink")


__all__ = [
    "celu",
    "elu",
    "gelu",
    "hard_sigmoid",
    "hard_swish",
    "leaky_relu",
    "mish",
    "prelu",
    "relu",
    "selu",
    "shrink",
    "sigmoid",
    "soft_cap",
    "softplus",
    "softsign",
    "swish",
    "thresholded_relu",
]
