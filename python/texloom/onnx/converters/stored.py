"""Operators that move elements of types that graphs store, but do not compute with."""

from __future__ import annotations

from ..nodes import Node, Value, as_stored, of_stored
from ..nodes.types import STORED
from .registry import Converter

_MOVES = frozenset(
    [
        "Concat",
        "Dropout",
        "Expand",
        "Flatten",
        "Gather",
        "Pad",
        "Reshape",
        "Slice",
        "Squeeze",
        "TensorScatter",
        "Tile",
        "Transpose",
        "Unsqueeze",
        "Where",
    ]
)
"""Operators whose first output has elements of inputs, also where the standard lacks the type."""


def on_stored(converter: Converter, domain: str, op: str) -> Converter:
    """Return the converter of an operator; if it moves elements, for stored types, too."""
    if domain or op not in _MOVES:
        return converter

    def moved(node: Node) -> Value | list[Value]:
        kinds = {each.dtype for each in node.inputs if each is not None} & STORED.keys()
        if not kinds:
            return converter(node)  # type: ignore[return-value]
        (kind,) = kinds  # the standard has one type for all of them
        node.inputs = [each if each is None else as_stored(each) for each in node.inputs]
        made = converter(node)
        first, *others = [made] if isinstance(made, Value) else made
        return [of_stored(first, kind), *others]

    return moved


__all__ = ["on_stored"]
