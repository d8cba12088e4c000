"""Turns functions of expressions into element-wise operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import te
from ..._core import Tensor
from ...tir import PrimExpr
from ..broadcast import elementwise

_NARROW = ("float16", "bfloat16")


def unary(name: str, function: Callable[[Any], Any], value: str) -> Callable[[Tensor], Tensor]:
    """Return an operator of one tensor; `value` describes an element of the result."""

    def operator(x: Tensor) -> Tensor:
        return elementwise(function, x, name=name)

    return _named(operator, name, f"{value}\n\nThe result has the shape of `x`.")


def binary(
    name: str, function: Callable[[Any, Any], Any], value: str
) -> Callable[[Tensor, Tensor], Tensor]:
    """Return an operator of two tensors; `value` describes an element of the result."""

    def operator(a: Tensor, b: Tensor) -> Tensor:
        return elementwise(function, a, b, name=name)

    return _named(operator, name, f"{value}\n\n`a` and `b` are broadcast as in NumPy.")


def _named(operator: Any, name: str, text: str) -> Any:
    operator.__name__ = operator.__qualname__ = name
    operator.__doc__ = text
    return operator


def is_float(dtype: str) -> bool:
    """Whether a type is floating point."""
    return "float" in dtype


def number(value: float, like: PrimExpr) -> PrimExpr:
    """Return a constant of the type of an expression."""
    return te.const(value if is_float(like.dtype) else int(value), like.dtype)


def rounded_once(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that computes narrow floats in float32 and rounds only its result."""

    def wide(*operands: Any) -> Any:
        dtype = operands[0].dtype
        if dtype not in _NARROW:
            return function(*operands)
        return function(*(each.astype("float32") for each in operands)).astype(dtype)

    return wide


__all__ = ["binary", "is_float", "number", "rounded_once", "unary"]
