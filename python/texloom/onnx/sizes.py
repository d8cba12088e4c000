"""Nodes that compute with extents that are known only at a run.

The elements of their outputs are expressions, so that readers, such as a Reshape, get expressions
as extents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import te
from ..extents import at_least, is_at_most, number_of, plain, product, quotient
from .nodes import Quotient, Value, constant, of_sizes
from .nodes.types import dtype_name

Sizes = NDArray[Any]
"""An array of objects: numbers and expressions."""


def _quotient(above: Any, below: Any) -> Any:
    """Return a quotient: an extent if it is certainly whole, else a :class:`Quotient`."""
    whole = quotient([above], [below])
    if whole is not None:
        return whole
    if not at_least(below, 1) or not at_least(above, 0):
        raise ValueError
    return Quotient(plain(above), plain(below))


def _cut(above: Any, below: Any) -> Any:
    """Return a quotient of integers, which is rounded toward zero."""
    if number_of(above) is not None and number_of(below) is not None:
        rounded = abs(int(above)) // abs(int(below))
        return rounded if (int(above) < 0) == (int(below) < 0) else -rounded
    if not at_least(above, 0) or not at_least(below, 1):
        raise ValueError
    return above // below


def _rest(above: Any, below: Any) -> Any:
    """Return the remainder of :func:`_cut`, which has the sign of the dividend."""
    return above - _cut(above, below) * below


def _parts(number: Any) -> tuple[Any, Any]:
    return (number.above, number.below) if isinstance(number, Quotient) else (number, 1)


def _multiplied(a: Any, b: Any) -> Any:
    (above, below), (other, divisor) = _parts(a), _parts(b)
    return _quotient(above * other, below * divisor)


def _divided(a: Any, b: Any) -> Any:
    (above, below), (divisor, other) = _parts(a), _parts(b)
    return _quotient(above * other, below * divisor)


def _rounded_down(number: Any) -> Any:
    above, below = _parts(number)
    return above // below


def _rounded_up(number: Any) -> Any:
    above, below = _parts(number)
    return (above + (below - 1)) // below


def _decided(first: Any, second: Any) -> int | None:
    """Return -1, 0 or 1 if `first` is less than, equal to or above `second`; None if unknown."""
    difference = plain(first - second)
    if isinstance(difference, int):
        return (difference > 0) - (difference < 0)
    if is_at_most(first + 1, second):
        return -1
    return 1 if is_at_most(second + 1, first) else None


class _UndecidedError(Exception):
    """A comparison whose result depends on the sizes of a run."""


def _comparison(holds: Callable[[int], bool]) -> Callable[[Any, Any], bool]:
    def compare(a: Any, b: Any) -> bool:
        order = _decided(a, b)
        if order is None:
            raise _UndecidedError
        return holds(order)

    return compare


_BINARY: Mapping[str, Callable[[Any, Any], Any]] = {
    "Add": lambda a, b: a + b,
    "Sub": lambda a, b: a - b,
    "Mul": _multiplied,
    "Mod": lambda a, b: a % b,
    "Max": te.max,
    "Min": te.min,
    "Equal": _comparison(lambda order: order == 0),
    "Greater": _comparison(lambda order: order > 0),
    "GreaterOrEqual": _comparison(lambda order: order >= 0),
    "Less": _comparison(lambda order: order < 0),
    "LessOrEqual": _comparison(lambda order: order <= 0),
}
_BOOLEAN = ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual")
_FRACTIONAL: Mapping[str, Callable[..., Any]] = {  # functions that accept fractions
    "Mul": _multiplied,
    "Div": _divided,
    "Floor": _rounded_down,
    "Ceil": _rounded_up,
}
_MOVEMENT = ("Cast", "Concat", "Gather", "Identity", "Reshape", "Slice", "Squeeze", "Transpose")
_MOVEMENT += ("Unsqueeze",)
_TAKE_ALL = (*_BINARY, "Div", "Where", "Concat")  # operators without optional inputs
_MOST_PARTS = 4096  # the largest denominator of a constant
_REDUCTIONS: Mapping[str, Callable[[Sequence[Any]], Any]] = {
    "ReduceProd": product,
    "ReduceSum": lambda values: reduce(lambda a, b: a + b, values),
    "ReduceMax": lambda values: reduce(te.max, values),
    "ReduceMin": lambda values: reduce(te.min, values),
}


def computed_sizes(
    op: str, inputs: Sequence[Value | None], attributes: Mapping[str, Any], version: int
) -> Value | None:
    """Return the output of a node whose inputs have open extents as elements, or None.

    Parameters
    ----------
    op : str
        The operator's type.
    inputs : sequence of Value or None
    attributes : mapping of str to Any
    version : int
        The version of the operator set.
    """
    arrays = [None if each is None else _objects(each) for each in inputs]
    dtype = next(each.dtype for each in inputs if each is not None and each.sizes is not None)
    if any(
        given is not None and array is None for given, array in zip(inputs, arrays, strict=True)
    ):
        return None
    if any(each is None for each in (arrays if op in _TAKE_ALL else arrays[:1])):
        return None  # the node lacks an input: its converter refuses it
    is_float = dtype.startswith("float")
    if op == "Cast":
        dtype = dtype_name(attributes["to"])
        if dtype not in ("int64", "int32", "float32", "float64"):
            return None
    try:
        made = _computed(op, arrays, attributes, is_float, dtype.startswith("float"))
    except (_UndecidedError, IndexError, KeyError, ValueError, ZeroDivisionError):
        return None
    return None if made is None else _value(made, "bool" if op in _BOOLEAN else dtype)


def _computed(
    op: str,
    arrays: Sequence[Sizes | None],
    attributes: Mapping[str, Any],
    is_float: bool,
    becomes_float: bool,
) -> Sizes | None:
    x = arrays[0]
    has_fractions = any(
        isinstance(each, Quotient) for a in arrays if a is not None for each in a.reshape(-1)
    )
    if has_fractions and op not in (*_FRACTIONAL, *_MOVEMENT):
        return None
    if op == "Cast":
        return x if becomes_float or not has_fractions else _each(_rounded_down, x)
    if op in ("Identity", "Round"):
        return x
    if op == "Neg":
        return _each(lambda each: -1 * each, x)
    if op in ("Ceil", "Floor"):
        return _each(_FRACTIONAL[op], x)
    if op in _BINARY or op == "Div":
        if op == "Mod" and attributes.get("fmod", 0):
            return _each(_rest, *arrays)
        return _each(_BINARY.get(op, _divided if is_float else _cut), *arrays)
    if op == "Where":
        return np.where(x.astype(bool), *arrays[1:])  # type: ignore[union-attr, arg-type]
    if op == "Concat":
        return np.concatenate(arrays, attributes["axis"])  # type: ignore[arg-type]
    assert x is not None
    if op in _REDUCTIONS:
        return _reduced(op, x, arrays, attributes)
    return _moved(op, x, arrays, attributes)


def _each(function: Callable[..., Any], *arrays: Sizes | None) -> Sizes:
    """Apply a function to the elements of an array, or to those of several arrays."""
    if len(arrays) == 1:
        return np.asarray(np.frompyfunc(function, 1, 1)(arrays[0]), object)
    return np.asarray(reduce(np.frompyfunc(function, 2, 1), arrays), object)


def _moved(
    op: str, x: Sizes, arrays: Sequence[Sizes | None], attributes: Mapping[str, Any]
) -> Sizes | None:
    if op == "Gather":
        return np.asarray(x.take(_ints(arrays[1]), attributes.get("axis", 0)), object)
    if op == "Squeeze":
        axes = _axes(arrays, attributes)
        return x.squeeze(axes)
    if op == "Unsqueeze":
        return np.expand_dims(x, _axes(arrays, attributes) or ())
    if op == "Reshape":
        return x.reshape(_list(arrays[1]))
    if op == "Transpose":
        return x.transpose(attributes.get("perm"))
    if op == "Slice":
        return _sliced(x, arrays, attributes)
    return None


def _reduced(
    op: str, x: Sizes, arrays: Sequence[Sizes | None], attributes: Mapping[str, Any]
) -> Sizes | None:
    """Return the reduction of a list of sizes."""
    if x.ndim != 1 or _axes(arrays, attributes) not in (None, (0,), (-1,)):
        return None
    whole = np.asarray(_REDUCTIONS[op](list(x)), object)
    return whole.reshape(1) if attributes.get("keepdims", 1) else whole


def _sliced(
    x: Sizes, arrays: Sequence[Sizes | None], attributes: Mapping[str, Any]
) -> Sizes | None:
    given = [attributes.get("starts"), attributes.get("ends"), attributes.get("axes"), None]
    parts = [
        _list(arrays[i + 1]) if i + 1 < len(arrays) and arrays[i + 1] is not None else given[i]
        for i in range(4)
    ]
    starts, ends = parts[0], parts[1]
    axes = parts[2] if parts[2] is not None else range(len(starts))
    steps = parts[3] if parts[3] is not None else [1] * len(starts)
    index = [slice(None)] * x.ndim
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        index[axis] = slice(start, end if end > -(1 << 31) else None, step)
    return x[tuple(index)]


def _axes(arrays: Sequence[Sizes | None], attributes: Mapping[str, Any]) -> tuple[int, ...] | None:
    if len(arrays) > 1 and arrays[1] is not None:
        return tuple(np.reshape(_ints(arrays[1]), -1))
    given = attributes.get("axes")
    return None if given is None else tuple(given)


def _ints(array: Sizes | None) -> Any:
    """Return elements, which must be numbers, as a nested list; for a scalar, the number."""
    if array is None or any(number_of(each) is None for each in array.reshape(-1)):
        raise ValueError
    return array.astype(np.int64).tolist()


def _list(array: Sizes | None) -> Any:
    """Return the elements of an array of one axis, which must be numbers."""
    if array is not None and array.ndim != 1:
        raise ValueError
    return _ints(array)


def _objects(value: Value) -> Sizes | None:
    """Return the elements, if they are extents, or constants with small denominators; else None."""
    if value.sizes is not None:
        return value.sizes
    array = value.array
    if array is None or array.dtype.kind not in "iufb":
        return None
    if array.dtype.kind in "iub":
        return np.asarray(array.tolist(), object).reshape(array.shape)
    if not np.isfinite(array).all():
        return None
    made = np.empty(array.shape, object)
    for index, number in np.ndenumerate(array):
        above, below = float(number).as_integer_ratio()
        if below > _MOST_PARTS or (below > 1 and above < 0):
            return None
        made[index] = above if below == 1 else Quotient(above, below)
    return made


def _value(made: Sizes, dtype: str) -> Value:
    elements = [
        each if isinstance(each, (bool, Quotient)) else plain(each) for each in made.reshape(-1)
    ]
    if all(isinstance(each, (int, bool)) for each in elements):
        return constant(np.array(elements, dtype).reshape(made.shape))
    sizes = np.empty(len(elements), object)
    sizes[:] = elements
    return of_sizes(sizes.reshape(made.shape), dtype)


__all__ = ["computed_sizes"]
