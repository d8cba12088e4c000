"""Functions of OpenCL C that are written as expressions of other functions, by OpenCL name.

All operands and the result have one type, that of the call. Functions whose precision no expression
achieves (``cbrt``, ``expm1``, ...) are element functions instead.
"""

from __future__ import annotations

from collections.abc import Callable
from math import pi

from .. import _core
from .._core import Expr
from ..errors import refuse
from . import op

Function = Callable[..., Expr]


def _clamp(x: Expr, low: Expr, high: Expr) -> Expr:
    return _core.min(_core.max(x, low), high)


def _sign(x: Expr) -> Expr:
    zero, one = op.const(0, x.dtype), op.const(1, x.dtype)
    nan_or_zero = op.if_then_else(op.isnan(x), zero, x)
    return op.if_then_else(x > zero, one, op.if_then_else(x < zero, -one, nan_or_zero))


def _step(edge: Expr, x: Expr) -> Expr:
    return op.if_then_else(x < edge, op.const(0, x.dtype), op.const(1, x.dtype))


def _smoothstep(low: Expr, high: Expr, x: Expr) -> Expr:
    zero, one = op.const(0, x.dtype), op.const(1, x.dtype)
    t = _clamp((x - low) / (high - low), zero, one)
    return t * t * (op.const(3, x.dtype) - op.const(2, x.dtype) * t)


def _fdim(x: Expr, y: Expr) -> Expr:
    return op.if_then_else(x <= y, op.const(0, x.dtype), x - y)


def _select(otherwise: Expr, then: Expr, condition: Expr) -> Expr:
    return op.if_then_else(condition != op.const(0, condition.dtype), then, otherwise)


def _wide(x: Expr) -> Expr:
    """Widen an integer to a type that holds sums and products of two such integers."""
    if _bits(x) > 32:
        refuse(
            "BadOperandType",
            f"the function takes integers of at most 32 bits, not {x.dtype}",
            "write the computation as an expression, with operators",
        )
    return x.astype("uint64" if x.dtype == "uint32" else "int64")


def _bits(x: Expr) -> int:
    return int(x.dtype.lstrip("uint"))


def _saturated(operator: Function) -> Function:
    def function(x: Expr, y: Expr) -> Expr:
        low, high = (op.const(int(f(x.dtype)), "int64") for f in (op.min_value, op.max_value))
        _wide(x)  # refuses more than 32 bits
        return _clamp(operator(x.astype("int64"), y.astype("int64")), low, high).astype(x.dtype)

    return function


def _mul_hi(x: Expr, y: Expr) -> Expr:
    return ((_wide(x) * _wide(y)) >> _bits(x)).astype(x.dtype)


def _hadd(x: Expr, y: Expr) -> Expr:
    return ((_wide(x) + _wide(y)) >> 1).astype(x.dtype)


def _rhadd(x: Expr, y: Expr) -> Expr:
    return ((_wide(x) + _wide(y) + 1) >> 1).astype(x.dtype)


def _rotate(x: Expr, count: Expr) -> Expr:
    bits = _bits(x)
    own, wide = f"uint{bits}", f"uint{max(bits, 32)}"
    value, mask = x.astype(own).astype(wide), op.const(bits - 1, wide)
    left = count.astype(own).astype(wide) & mask
    right = (op.const(bits, wide) - left) & mask
    return ((value << left) | (value >> right)).astype(own).astype(x.dtype)


FLOAT_FUNCTIONS: dict[str, tuple[int, Function]] = {
    "fma": (3, _core.fma),
    "mad": (3, lambda a, b, c: a * b + c),  # with implementation-defined rounding
    "mix": (3, lambda x, y, a: x + (y - x) * a),
    "step": (2, _step),
    "smoothstep": (3, _smoothstep),
    "sign": (1, _sign),
    "fdim": (2, _fdim),
    "degrees": (1, lambda x: x * op.const(180 / pi, x.dtype)),
    "radians": (1, lambda x: x * op.const(pi / 180, x.dtype)),
    "powr": (2, op.power),
    # These functions have implementation-defined precision, at least 11 bits.
    **{
        f"half_{name}": (1, getattr(op, name))
        for name in "cos exp exp2 exp10 log log2 log10 rsqrt sin sqrt tan".split()
    },
    "half_divide": (2, lambda x, y: x / y),
    "half_powr": (2, op.power),
    "half_recip": (1, lambda x: op.const(1, x.dtype) / x),
}
INTEGER_FUNCTIONS: dict[str, tuple[int, Function]] = {
    "mul24": (2, lambda x, y: x * y),  # the operands have 24 bits
    "mad24": (3, lambda x, y, z: x * y + z),
    "mul_hi": (2, _mul_hi),
    "add_sat": (2, _saturated(lambda x, y: x + y)),
    "sub_sat": (2, _saturated(lambda x, y: x - y)),
    "hadd": (2, _hadd),
    "rhadd": (2, _rhadd),
    "rotate": (2, _rotate),
}
ANY_FUNCTIONS: dict[str, tuple[int, Function]] = {"clamp": (3, _clamp), "select": (3, _select)}
FUNCTIONS = {**FLOAT_FUNCTIONS, **INTEGER_FUNCTIONS, **ANY_FUNCTIONS}


def call(name: str, dtype: str, operands: list[Expr]) -> Expr:
    """Return the function of this name, applied to operands converted to the type.

    Raises
    ------
    TVMError
        For a wrong number of operands, or a type that the function does not support.
    """
    count, function = FUNCTIONS[name]
    if len(operands) != count:
        refuse(
            "BadOperandType",
            f"{name} is called with {len(operands)} arguments",
            f"give it {count} arguments",
        )
    takes_floats, takes_integers = name not in INTEGER_FUNCTIONS, name not in FLOAT_FUNCTIONS
    is_float = "float" in dtype
    if dtype == "bool" or not (takes_floats if is_float else takes_integers):
        kind = "integers" if not takes_floats else "numbers" if takes_integers else "floats"
        refuse("BadOperandType", f"{name} is called for {dtype}", f"it is a function of {kind}")
    return function(*(x.astype(dtype) for x in operands))


__all__ = ["FUNCTIONS", "call"]
