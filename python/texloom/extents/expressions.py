"""Numbers, and expressions of symbols, in a normal form.

Expressions are normalized, and equal expressions are one object, so that shapes can be compared and
used as keys. The value of a symbol is at least 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias

from .. import te, tir
from ..tvm.arith import Analyzer
from ..tvm.ir import Range

Extent: TypeAlias = "int | tir.PrimExpr"

LARGEST = 1 << 30
"""The largest value of a symbol."""

_LARGE = 10_007  # a prime, because an open extent may have no divisors

_OPERATORS: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "Add": ("add", lambda a, b: a + b),
    "Sub": ("sub", lambda a, b: a - b),
    "Mul": ("mul", lambda a, b: a * b),
    "FloorDiv": ("floordiv", te.floordiv),
    "FloorMod": ("floormod", te.floormod),
    "Min": ("min", te.min),
    "Max": ("max", te.max),
}
_BY_WORD = dict(_OPERATORS.values())

_KNOWN: dict[Any, tir.PrimExpr] = {}  # the one object for each structure of an expression


@cache
def symbol(name: str) -> tir.PrimExpr:
    """Return the symbol with this name; all graphs share it."""
    made = te.var(name)
    return _KNOWN.setdefault(made, made)


def number_of(extent: Any) -> int | None:
    """Return the value of a constant extent; None for an expression of symbols."""
    if type(extent) is int:
        return extent
    return extent._integer if isinstance(extent, tir.PrimExpr) else int(extent)


def are_known(extents: Iterable[Any]) -> bool:
    """Whether all extents are numbers."""
    return all(number_of(each) is not None for each in extents)


def plain(extent: Any) -> Extent:
    """Return an extent as a number, or as an expression in the normal form."""
    if isinstance(extent, int):
        return extent
    number = number_of(extent)
    if number is None:
        extent = analyzer_of(extent).simplify(extent)
        number = number_of(extent)
    return _KNOWN.setdefault(_structure(extent), extent) if number is None else number


def shape_of(tensor: Any) -> tuple[Extent, ...]:
    """Return the extents of a tensor of :mod:`texloom.te`."""
    return tuple(plain(each) for each in tensor.shape)


def value_of(extent: Any, dtype: str) -> tir.PrimExpr:
    """Return an extent as an operand of dtype `dtype`."""
    number = number_of(extent)
    return plain(extent).astype(dtype) if number is None else te.const(number, dtype)


def likely(extent: Any) -> int:
    """Return a number from which schedules choose tile sizes; open extents count as large.

    The result has only divisors that the extent has at every run.
    """
    number, rest = _factors([extent])
    return number * _LARGE if rest else number


def symbols_of(extent: Any) -> dict[str, tir.PrimExpr]:
    """Return the symbols in an extent, by name."""
    if number_of(extent) is not None:
        return {}
    if extent._class == "Var":
        return {extent.name: extent}
    return {**symbols_of(extent.a), **symbols_of(extent.b)}


def is_extent(expr: Any) -> bool:
    """Whether an expression is made of numbers, symbols and the operators of extents."""
    if not isinstance(expr, tir.PrimExpr):
        return type(expr) is int
    if expr._class in ("IntImm", "Var"):
        return bool(expr.dtype == "int32")
    return expr._class in _OPERATORS and is_extent(expr.a) and is_extent(expr.b)


def rewritten(extent: Extent, replacements: Mapping[tir.PrimExpr, Any]) -> Extent:
    """Return an extent with some of its parts replaced; larger parts are replaced first."""
    if number_of(extent) is not None:
        return int(extent)
    assert not isinstance(extent, int)
    if extent in replacements:
        return plain(replacements[extent])
    if extent._class == "Var":
        return extent
    a, b = (
        rewritten(_interned(extent.a), replacements),
        rewritten(_interned(extent.b), replacements),
    )
    return plain(_OPERATORS[extent._class][1](te.const(a) if isinstance(a, int) else a, b))


def with_names(extent: Any) -> Extent:
    """Return an extent with each variable replaced by the symbol of the same name."""
    named = {each: symbol(name) for name, each in symbols_of(extent).items()}
    return rewritten(plain(extent), named)


def product(extents: Iterable[Any]) -> Extent:
    """Return the product; the result does not depend on the order of the factors."""
    number, rest = _factors(extents)
    made: Any = number
    for each in sorted(rest, key=str):
        made = each if isinstance(made, int) and made == 1 else made * each
    return plain(made)


def quotient(extents: Iterable[Any], divisors: Iterable[Any]) -> Extent | None:
    """Return the quotient of two products if it is certainly a whole extent, else None."""
    above, factors = _factors(extents)
    below, rest = _factors(divisors)
    for each in rest:
        if each not in factors:
            return None
        factors.remove(each)
    if below == 0 or above % below:
        return None
    return product([above // below, *factors])


def is_at_most(a: Any, b: Any) -> bool:
    """Whether it is certain that ``a <= b``."""
    difference = plain(a - b)
    if isinstance(difference, int):
        return difference <= 0
    high = analyzer_of(difference)._bounds(difference)[1]
    return high is not None and high <= 0


def steps_of(extent: Extent, symbols: Sequence[str]) -> Any:
    """Return an extent as the core reads it: a number, or steps in postfix order."""
    if number_of(extent) is not None:
        return int(extent)
    assert not isinstance(extent, int)
    if extent._class == "Var":
        return [("symbol", symbols.index(extent.name))]
    sides = []
    for each in (extent.a, extent.b):
        steps = steps_of(each, symbols)
        sides += [("constant", steps)] if isinstance(steps, int) else steps
    return [*sides, (_OPERATORS[extent._class][0], 0)]


def of_steps(steps: Any, symbols: Sequence[str]) -> Extent:
    """Return the extent that :func:`steps_of` turned into steps."""
    if isinstance(steps, int):
        return steps
    stack: list[Any] = []
    for word, value in steps:
        if word == "constant":
            stack.append(te.const(value))
        elif word == "symbol":
            stack.append(symbol(symbols[value]))
        else:
            right = stack.pop()
            stack[-1] = _BY_WORD[word](stack[-1], right)
    return plain(stack[0])


def _structure(expr: tir.PrimExpr) -> Any:
    if expr._class == "IntImm":
        return int(expr)
    return expr if expr._class == "Var" else (expr._class, _structure(expr.a), _structure(expr.b))


def _interned(expr: Any) -> Any:
    """Return the object that :func:`plain` returns for an equal expression."""
    return expr if expr._class == "IntImm" else _KNOWN.get(_structure(expr), expr)


def analyzer_of(expr: Any) -> Analyzer:
    """Return a simplifier that also finds bounds, given the ranges of symbols."""
    made = Analyzer()
    for each in symbols_of(expr).values():
        made.bind(each, Range(1, LARGEST + 1))
    return made


def _factors(extents: Iterable[Any]) -> tuple[int, list[Any]]:
    """Return the product of the numbers among factors, and the other factors."""
    number, rest = 1, []
    pending = [plain(each) for each in extents]
    while pending:
        each = pending.pop()
        if isinstance(each, int):
            number *= each
        elif each._class == "Mul":
            pending += [plain(each.a), plain(each.b)]
        else:
            rest.append(each)
    return number, rest


__all__ = [
    "LARGEST",
    "Extent",
    "analyzer_of",
    "are_known",
    "is_at_most",
    "is_extent",
    "likely",
    "number_of",
    "of_steps",
    "plain",
    "product",
    "quotient",
    "rewritten",
    "shape_of",
    "steps_of",
    "symbol",
    "symbols_of",
    "value_of",
    "with_names",
]
