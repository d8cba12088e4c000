"""Checks of names, shapes and scopes in a graph."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import prod
from numbers import Real
from typing import Any

import numpy as np

from .. import extents as open_extents
from ..checks.argument_kinds import shown
from ..errors import refuse
from ..extents import Extent

_BAD = "BadGraph"
_MOST_ELEMENTS = 1 << 40


def check_name(kind: str, name: str) -> None:
    """Refuse a name that is not a non-empty string."""
    if not isinstance(name, str) or not name:
        refuse(
            "BadArgument",
            f"the name of the {kind} is {shown(name)}",
            'give a string that is not empty, as "x"',
        )


def checked_extents(name: str, shape: Any) -> tuple[Extent, ...]:
    """Return the shape of a tensor, with strings parsed to expressions."""
    extents = [_checked(name, extent) for extent in _extents(name, shape)]
    least = prod(extent for extent in extents if isinstance(extent, int))
    if least > _MOST_ELEMENTS:
        refuse(
            _BAD,
            f"the tensor {name!r} has {least:,} elements, more than {_MOST_ELEMENTS:,}",
            "use smaller extents, or divide the tensor",
        )
    return tuple(extents)


def _checked(name: str, extent: Any) -> Extent:
    """Return an extent; refuse an extent that is known to be less than 1."""
    made = extent
    if isinstance(extent, str):
        try:
            made = open_extents.plain(_parsed(ast.parse(extent.strip(), mode="eval").body))
        except (SyntaxError, ValueError, RecursionError, ZeroDivisionError):
            made = None
    elif isinstance(extent, np.integer):
        made = int(extent)
    elif type(extent) is not int and open_extents.is_extent(extent):
        named = open_extents.with_names(extent)
        made = named if all(map(_is_name, open_extents.symbols_of(named))) else None
    if isinstance(made, int) and made >= 1:
        return made
    if isinstance(made, int) or not open_extents.is_extent(made):
        refuse(
            _BAD,
            f"the tensor {name!r} has the extent {shown(extent)}, which is neither a positive "
            "number nor an expression of symbols",
            "give a positive number, or an expression such as 'h' or '2 * h' for an extent that "
            "the arrays of each run determine",
        )
    return made


_OPERATIONS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
}


def _is_name(name: str) -> bool:
    """Whether a symbol of a graph may have this name; a leading _ marks a symbol of one node."""
    return name.isascii() and not name.startswith("_")


def _parsed(node: ast.expr) -> Any:
    """Return the extent of a syntax tree of Python."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.Name) and _is_name(node.id):
        return open_extents.symbol(node.id)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        left, right = _parsed(node.left), _parsed(node.right)
        return _OPERATIONS[type(node.op)](left, right)
    raise ValueError(ast.dump(node))


def _extents(name: str, shape: Any) -> Iterable[Any]:
    if isinstance(shape, str) or not isinstance(shape, Iterable):
        refuse(
            _BAD,
            f"the shape of the tensor {name!r} is {shown(shape)}, not a list",
            "write it in brackets, also if there is one extent: (8,)",
        )
    return shape


def check_scopes(
    name: str, scopes: Mapping[str, Sequence[str]], tensors: int, costs: Mapping[str, float] | None
) -> None:
    """Refuse combinations of scopes that do not fit a node of `tensors` tensors."""
    if not isinstance(scopes, Mapping) or not scopes:
        refuse(
            _BAD,
            f"the node {name!r} has no named combinations of scopes",
            f"give at least one, such as {{'global': ('global',) * {tensors}}}",
        )
    for label, each in scopes.items():
        if not isinstance(each, (list, tuple)) or len(each) != tensors:
            refuse(
                _BAD,
                f"the scopes {label!r} of the node {name!r} are {each!r}, not {tensors} scopes",
                "give a list: one scope for each input, then one for each output",
            )
    for label, cost in (costs or {}).items():
        if not isinstance(cost, Real):
            refuse(
                _BAD,
                f"the node {name!r} has the cost {shown(cost)} for {label!r}",
                "give nanoseconds, as a number",
            )
        if label not in scopes:
            refuse(
                _BAD,
                f"the node {name!r} has a cost for {label!r}, but no combination of scopes "
                "with this name",
                f"its combinations are {', '.join(scopes)}",
            )


__all__ = ["check_name", "check_scopes", "checked_extents"]
