"""Diagnostics for functions of Python and NumPy that take numbers, but are called with expressions.

The tables say which function or operator of expressions to use instead. Constants, such as most
extents, are numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from .._core import Expr, IterVar, Tensor, TensorSlice
from ..errors import refuse

_POWER = "x * x for a square, or te.power(x, y), whose operands are floating point"
_ROUND = "te.nearbyint(x), which rounds halves to even too, or te.round(x)"
_DIVMOD = "x // y and x % y"
_SUM_OF_PRODUCTS = "te.sum(a[i, k] * b[k, j], axis=k), with k = te.reduce_axis((0, n))"

# For each special method: the user's expression that calls it, and a replacement for this
# expression.
_PYTHON = {
    "__pow__": ("x ** y", _POWER),
    "__rpow__": ("x ** y", _POWER),
    "__abs__": ("abs(x)", "te.abs(x)"),
    "__round__": ("round(x)", _ROUND),
    "__floor__": ("math.floor(x)", "te.floor(x)"),
    "__ceil__": ("math.ceil(x)", "te.ceil(x)"),
    "__trunc__": ("math.trunc(x)", "te.trunc(x)"),
    "__divmod__": ("divmod(x, y)", _DIVMOD),
    "__rdivmod__": ("divmod(x, y)", _DIVMOD),
    "__matmul__": ("a @ b", _SUM_OF_PRODUCTS),
    "__rmatmul__": ("a @ b", _SUM_OF_PRODUCTS),
    "__pos__": ("+x", "x"),
    "__complex__": ("complex(x)", "two tensors, of the real and the imaginary parts"),
}
# float(x), which functions of the module math call, and int(x). Expr has these methods already,
# because constants are numbers.
_CONVERSIONS = ("__float__", "__int__")

# NumPy functions of one and of two operands that te or tir has under the same name.
_TE_UNARY = (
    "exp exp2 log log2 log10 sqrt sin cos tan sinh cosh tanh floor ceil trunc isnan isinf isfinite"
)
_TE_BINARY = "power fmod"
_TIR_BINARY = "hypot copysign nextafter ldexp"
# Functions that are called by their OpenCL names.
_OPENCL_UNARY = "cbrt expm1"
_NUMPY = {
    **{name: f"te.{name}(x)" for name in _TE_UNARY.split()},
    **{name: f"te.{name}(x, y)" for name in _TE_BINARY.split()},
    **{name: f"tir.{name}(x, y)" for name in _TIR_BINARY.split()},
    **{name: f'tir.call_pure_extern(x.dtype, "{name}", x)' for name in _OPENCL_UNARY.split()},
    "log1p": "tir.log1p(x)",
    "absolute": "te.abs(x)",
    "fabs": "te.abs(x)",
    "rint": _ROUND,
    "arcsin": "te.asin(x)",
    "arccos": "te.acos(x)",
    "arctan": "te.atan(x)",
    "arctan2": "tir.atan2(x, y)",
    "arcsinh": "te.asinh(x)",
    "arccosh": "te.acosh(x)",
    "arctanh": "te.atanh(x)",
    "sign": "te.if_then_else(x > 0, 1, te.if_then_else(x < 0, -1, 0))",
    # NaN: NumPy's maximum keeps it, and fmax drops it.
    "maximum": "ops.maximum(x, y), with from texloom import ops",
    "minimum": "ops.minimum(x, y), with from texloom import ops",
    "fmax": "te.max(x, y)",
    "fmin": "te.min(x, y)",
    "divmod": _DIVMOD,
    "float_power": _POWER,
    "logical_and": "te.all(x, y)",
    "logical_or": "te.any(x, y)",
    "logical_not": "tir.Not(x)",
    "matmul": _SUM_OF_PRODUCTS,
}

_REDUCTION = "te.{}(a[i, k], axis=k), with k = te.reduce_axis((0, n))"
_SELECTION = "te.if_then_else(c, x, y)"
# NumPy functions that are not ufuncs, as the user writes them, and their replacements.
_OTHER_NUMPY = {
    "round": ("np.round(x)", _ROUND),
    "around": ("np.around(x)", _ROUND),
    "clip": (
        "np.clip(x, low, high)",
        "ops.minimum(ops.maximum(x, low), high), with from texloom import ops",
    ),
    "where": ("np.where(c, x, y)", _SELECTION),
    "select": ("np.select(conditions, choices)", _SELECTION),
    "mean": ("np.mean(x)", _REDUCTION.format("sum") + ", and divide it by n"),
    **{name: (f"np.{name}(x)", _REDUCTION.format(name)) for name in ("sum", "max", "min")},
    # The names of np.max and np.min before NumPy 2.
    **{f"a{name}": (f"np.{name}(x)", _REDUCTION.format(name)) for name in ("max", "min")},
}


def _refuse(written: str, instead: str) -> NoReturn:
    refuse("BadArgument", f"{written} takes numbers, not expressions", f"write {instead}")


def _number(value: Any) -> Any:
    """Return the value of a constant expression; return other values unchanged."""
    kind = value._class if isinstance(value, Expr) else ""
    return {"IntImm": int, "FloatImm": float}.get(kind, _itself)(value)


def _itself(value: Any) -> Any:
    return value


def _is_operand(value: Any) -> bool:
    return isinstance(value, _OPERANDS)


def _python_method(name: str, written: str, instead: str) -> Callable[..., Any]:
    def method(self: Any, *others: Any) -> Any:
        number, *rest = map(_number, (self, *others))
        if any(map(_is_operand, (number, *rest))):
            _refuse(written, instead)
        function = getattr(number, name, None)
        return NotImplemented if function is None else function(*rest)

    return method


def _conversion(self: Any) -> NoReturn:
    refuse(
        "BadArgument",
        f"expected a number, but {self!r} is an expression",
        "compute with operators and with te's functions, such as te.exp(x) for math.exp(x)",
    )


def _array_ufunc(self: Any, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
    """Refuse functions of NumPy that te has, too; apply operators to the elements of arrays."""
    del self
    numbers = [_number(value) for value in inputs]
    instead = _NUMPY.get(ufunc.__name__)
    if instead is not None and any(map(_is_operand, numbers)):
        _refuse(f"np.{ufunc.__name__}({'x' if ufunc.nin == 1 else 'x, y'})", instead)
    operands = numbers if instead is not None else map(_as_object, inputs)
    return getattr(ufunc, method)(*operands, **options)


def _array_function(
    self: Any, function: Callable[..., Any], types: Any, args: Any, options: dict[str, Any]
) -> Any:
    """Refuse functions of NumPy with a replacement in te; run others as NumPy defines them."""
    del self, types
    row = _OTHER_NUMPY.get(function.__name__)
    numbers = [_number(value) for value in args]
    if row is not None and any(map(_has_operand, (*numbers, *options.values()))):
        _refuse(*row)
    # Without types that override `function`, the call runs NumPy's own implementation.
    return np.ndarray.__array_function__(np.empty(0), function, (), tuple(numbers), options)


def _has_operand(value: Any) -> bool:
    several = isinstance(value, (list, tuple))
    return any(map(_is_operand, value)) if several else _is_operand(value)


def _as_object(value: Any) -> Any:
    """Return an expression as an array of one object, so that NumPy calls its operators."""
    if not _is_operand(value):
        return value
    array = np.empty((), object)
    array[()] = value
    return array


_OPERANDS = (Expr, IterVar, Tensor, TensorSlice)
for _class in _OPERANDS:
    for _name, _words in _PYTHON.items():
        setattr(_class, _name, _python_method(_name, *_words))
    if _class is not Expr:
        for _name in _CONVERSIONS:
            setattr(_class, _name, _conversion)
    _class.__array_ufunc__ = _array_ufunc
    _class.__array_function__ = _array_function

__all__: list[str] = []
