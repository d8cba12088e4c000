"""Element-wise operators."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ...ops import elementwise as ops
from ...ops import movement
from ..nodes import Node, Value
from .registry import converts

_UNARY = {
    "Abs": ops.absolute,
    "Acos": ops.acos,
    "Acosh": ops.acosh,
    "Asin": ops.asin,
    "Asinh": ops.asinh,
    "Atan": ops.atan,
    "Atanh": ops.atanh,
    "BitwiseNot": ops.bitwise_not,
    "Ceil": ops.ceil,
    "Cos": ops.cos,
    "Cosh": ops.cosh,
    "Erf": ops.erf,
    "Exp": ops.exp,
    "Floor": ops.floor,
    "IsNaN": ops.is_nan,
    "Log": ops.log,
    "Neg": ops.negative,
    "Not": ops.logical_not,
    "Reciprocal": ops.reciprocal,
    "Round": ops.round_half_even,
    "Sign": ops.sign,
    "Sin": ops.sin,
    "Sinh": ops.sinh,
    "Sqrt": ops.sqrt,
    "Tan": ops.tan,
    "Tanh": ops.tanh,
}

_BINARY = {
    "Add": ops.add,
    "And": ops.logical_and,
    "BitwiseAnd": ops.bitwise_and,
    "BitwiseOr": ops.bitwise_or,
    "BitwiseXor": ops.bitwise_xor,
    "Div": ops.divide,
    "Equal": ops.equal,
    "Greater": ops.greater,
    "GreaterOrEqual": ops.greater_equal,
    "Less": ops.less,
    "LessOrEqual": ops.less_equal,
    "Mul": ops.multiply,
    "Or": ops.logical_or,
    "Sub": ops.subtract,
    "Xor": ops.logical_xor,
}

_VARIADIC = {
    "Max": ops.maximum_of,
    "Mean": ops.mean_of,
    "Min": ops.minimum_of,
    "Sum": ops.sum_of,
}


@converts(*_UNARY)
def unary(node: Node) -> Value:
    """Convert an operator of one tensor."""
    return node.emit(node.op.lower(), _UNARY[node.op], [node.input(0)])


@converts(*_BINARY)
def binary(node: Node) -> Value:
    """Convert an operator of two tensors, which are broadcast."""
    return node.emit(node.op.lower(), _BINARY[node.op], _two(node))


def _two(node: Node) -> list[Value]:
    return _of_one_type(node, _aligned(node))


def _aligned(node: Node) -> list[Value]:
    a, b = node.input(0), node.input(1)
    if node.version < 7 and "axis" in node.attributes:
        b = placed_at(node, b, a.rank, node.attributes["axis"])
    return [a, b]


def placed_at(node: Node, x: Value, rank: int, axis: int) -> Value:
    """Return a tensor reshaped to broadcast to `rank` axes, with its first axis at `axis`.

    Up to version 6, the attribute `axis` controls broadcasting.
    """
    behind = rank - axis % rank - x.rank if rank else 0
    if behind < 0:
        node.refuse(
            f"its input of {x.rank} axes, placed from axis {axis} on, does not fit {rank} axes"
        )
    if behind == 0:
        return x
    shape = (*x.shape, *[1] * behind)
    if x.array is not None:
        return node.constant(x.array.reshape(shape))
    return node.emit("reshape", movement.reshape, [x], shape=shape)


def _of_one_type(node: Node, inputs: list[Value]) -> list[Value]:
    dtypes = {each.dtype: None for each in inputs}
    if len(dtypes) > 1:  # without this check, expressions would widen them
        node.refuse(f"its inputs are of different types: {', '.join(dtypes)}")
    return inputs


@converts(*_VARIADIC)
def variadic(node: Node) -> Value:
    """Convert an operator of one or more tensors, which are broadcast."""
    inputs = _of_one_type(node, [node.input(i) for i in range(len(node.inputs))])
    if len(inputs) == 1:
        return inputs[0]
    return node.emit(node.op.lower(), _VARIADIC[node.op], inputs)


@converts("BitShift")
def bit_shift(node: Node) -> Value:
    """Convert shifts of integers."""
    direction = node.attributes.get("direction")
    if direction not in ("LEFT", "RIGHT"):
        node.refuse(f"its direction is {direction!r}, neither LEFT nor RIGHT")
    inputs = _two(node)
    function = ops.left_shift if direction == "LEFT" else ops.right_shift
    return node.emit("bitshift", function, inputs)


@converts("Mod")
def mod(node: Node) -> Value:
    """Convert a remainder: it has the sign of the divisor or, with `fmod`, of the dividend."""
    function = ops.truncated_modulo if node.attributes.get("fmod", 0) else ops.floor_modulo
    return node.emit("mod", function, _two(node))


@converts("Pow")
def power(node: Node) -> Value:
    """Convert a power; a small constant exponent becomes a product."""
    base, exponent = _aligned(node)
    factors = _factors(base, exponent)
    if factors == 1:
        return base
    if factors is not None:
        return node.emit("pow", ops.integer_power, [base], exponent=factors)
    return node.emit("pow", ops.power, [base, exponent])


def _factors(base: Value, exponent: Value) -> int | None:
    """Return the exponent if it is one small whole number for all elements, else None."""
    array = exponent.array
    if array is None or array.size != 1 or exponent.rank > base.rank:
        return None
    value = float(array.reshape(-1)[0])
    most = 3 if "float" in base.dtype else 8  # float: as exact as pow; integers: exact
    return int(value) if value in range(1, most + 1) else None


@converts("IsInf")
def is_inf(node: Node) -> Value:
    """Convert a test for infinite elements."""
    return node.emit(
        "isinf",
        ops.is_infinite,
        [node.input(0)],
        positive=bool(node.attributes.get("detect_positive", 1)),
        negative=bool(node.attributes.get("detect_negative", 1)),
    )


@converts("Where")
def where(node: Node) -> Value:
    """Convert an elementwise choice of two tensors; a constant condition may choose one of them."""
    condition = node.input(0)
    choices = _of_one_type(node, [node.input(1), node.input(2)])
    if condition.array is not None and len(np.unique(condition.array)) == 1:
        chosen, other = choices if condition.array.flat[0] else choices[::-1]
        if _covers(chosen, condition) and _covers(chosen, other):
            return chosen
    return node.emit("where", ops.where, [condition, *choices])


def _covers(x: Value, other: Value) -> bool:
    """Whether `x` keeps its shape if `other` is broadcast with it."""
    ends = zip(x.shape[::-1], other.shape[::-1], strict=False)
    return other.rank <= x.rank and all(theirs in (1, own) for own, theirs in ends)


# The defaults of Clip's attributes, up to version 10: the range of finite float32 numbers.
_LIMITS = {"min": -3.4028234663852886e38, "max": 3.4028234663852886e38}


@converts("Clip")
def clip(node: Node) -> Value:
    """Convert Clip, whose limits are attributes up to version 10, and inputs from version 11 on."""
    x, bounds = node.input(0), [_bound(node, 1, "min"), _bound(node, 2, "max")]
    for bound in bounds:
        if bound is not None and prod(bound.shape) != 1:
            node.refuse(f"its limits are not scalars: one has the shape {bound.shape}")
    if all(bound is None or bound.is_constant for bound in bounds):
        low, high = (
            _limit(*each, x.dtype) for each in zip(bounds, _extremes(x.dtype), strict=True)
        )
        if low is None and high is None:
            return x
        return node.emit("clip", ops.clip, [x], low=low, high=high)
    lowest, highest = _extremes(x.dtype)
    least = bounds[0] or node.constant(lowest, x.dtype)
    greatest = bounds[1] or node.constant(highest, x.dtype)
    return node.emit("clip", ops.clip_between, [x, least, greatest])


def _bound(node: Node, index: int, name: str) -> Value | None:
    if node.version >= 11:
        return node.input(index) if node.has(index) else None
    return node.constant(node.attributes.get(name, _LIMITS[name]))


def _limit(bound: Value | None, idle: float, dtype: str) -> float | None:
    """Return a constant limit as a number of the dtype.

    None if every value satisfies it, as it does the limit `idle`, and for NaN.
    """
    if bound is None or bound.array is None:
        return None
    lowest, highest = _extremes(dtype)
    value = bound.array.reshape(-1)[0].item()
    if np.isnan(value):
        return None
    limit = min(max(value, lowest), highest)
    return None if limit == idle else limit


def _extremes(dtype: str) -> tuple[Any, Any]:
    if "float" in dtype:
        return -np.inf, np.inf
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


@converts("Identity")
def identity(node: Node) -> Value:
    """Return the input."""
    return node.value(0)


__all__ = [
    "binary",
    "bit_shift",
    "clip",
    "identity",
    "is_inf",
    "mod",
    "placed_at",
    "power",
    "unary",
    "variadic",
    "where",
]
