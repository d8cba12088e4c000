"""What is refused of names, shapes and scopes in a graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from ..argument_kinds import shown
from ..errors import refuse

_BAD = "BadGraph"
_MOST_ELEMENTS = 1 << 40


def check_name(kind: str, name: str) -> None:
    """Refuse what is no name."""
    if not isinstance(name, str) or not name:
        refuse(
            "BadDirectiveArgument",
            f"the name of a {kind} is {shown(name)}",
            'give a string that is not empty, as "x"',
        )


def checked_extents(name: str, shape: Any) -> tuple[int, ...]:
    """Return the shape of a tensor as numbers."""
    extents = []
    for extent in _extents(name, shape):
        if not isinstance(extent, (int, np.integer)) or extent < 1:
            refuse(
                _BAD,
                f"the tensor {name!r} has the extent {extent}",
                "give positive numbers: the sizes of a graph are fixed when it is compiled",
            )
        extents.append(int(extent))
    if prod(extents) > _MOST_ELEMENTS:
        refuse(
            _BAD,
            f"the tensor {name!r} has {prod(extents):,} elements",
            f"{_MOST_ELEMENTS:,} is the most",
        )
    return tuple(extents)


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
    """Refuse combinations of scopes that do not fit a node of so many tensors."""
    if not isinstance(scopes, Mapping) or not scopes:
        refuse(
            _BAD,
            f"the node {name!r} has no combinations of scopes by name",
            f"give at least one, such as {{'global': ('global',) * {tensors}}}",
        )
    for label, each in scopes.items():
        if not isinstance(each, (list, tuple)) or len(each) != tensors:
            refuse(
                _BAD,
                f"the scopes {label!r} of the node {name!r} are {each!r}",
                f"give {tensors}: one for each input, then one for each output",
            )
    for label in costs or {}:
        if label not in scopes:
            refuse(
                _BAD,
                f"the node {name!r} has a cost for {label!r}, but no such scopes",
                f"its combinations are {', '.join(scopes)}",
            )


__all__ = ["check_name", "check_scopes", "checked_extents"]
