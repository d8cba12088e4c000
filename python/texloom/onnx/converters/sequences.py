"""Sequences and optional values, which exist only while a model is imported.

Positions in sequences must be constants. A sequence is then a list of values, and only operators
that join or split tensors compute anything.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..nodes import ABSENT, Node, Value, sequence
from ..nodes.types import dtype_name
from .axes import normal_axis
from .movement import concatenated, parts_of, split_sizes
from .registry import converts


def _items(node: Node, index: int = 0) -> tuple[Value, ...]:
    """Return the values of an input that must be a sequence."""
    items = node.value(index).items
    if items is None:
        node.refuse(f"its input {index} is not a sequence")
    return items


def _position(node: Node, index: int, length: int, default: int) -> int:
    """Return a nonnegative position in a sequence of `length` values."""
    position = node.ints(index)[0] if node.has(index) else default
    if not -length <= position < length:
        node.refuse(f"the position {position} is not in a sequence of length {length}")
    return position % length


@converts("SequenceConstruct")
def construct(node: Node) -> Value:
    """Make a sequence of the inputs."""
    items = [node.input(index) for index in range(len(node.inputs))]
    return sequence(items, items[0].dtype)


@converts("SequenceEmpty")
def empty_sequence(node: Node) -> Value:
    """Make an empty sequence."""
    return sequence([], dtype_name(node.attributes.get("dtype", 1)))


@converts("SequenceLength")
def length(node: Node) -> Value:
    """Return the number of values."""
    return node.constant(len(_items(node)), "int64")


@converts("SequenceAt")
def at(node: Node) -> Value:
    """Return the value at a position."""
    items = _items(node)
    return items[_position(node, 1, len(items), 0)]


@converts("SequenceInsert")
def insert(node: Node) -> Value:
    """Insert a value before a position or at the end."""
    items, new = _items(node), node.input(1)
    position = node.ints(2)[0] if node.has(2) else len(items)
    if not -len(items) <= position <= len(items):
        node.refuse(f"the position {position} is not in a sequence of length {len(items)}")
    position += len(items) if position < 0 else 0
    return sequence([*items[:position], new, *items[position:]], new.dtype)


@converts("SequenceErase")
def erase(node: Node) -> Value:
    """Remove the value at a position, or the last one."""
    items = _items(node)
    position = _position(node, 1, len(items), -1)
    return sequence([*items[:position], *items[position + 1 :]], node.value(0).dtype)


@converts("ConcatFromSequence")
def concat_from_sequence(node: Node) -> Value:
    """Concatenate the values along an axis, or along a new one."""
    items: Sequence[Value] = _items(node)
    if not items:
        node.refuse("its sequence is empty, so there is nothing to concatenate")
    is_new = bool(node.attributes.get("new_axis", 0))
    axis = normal_axis(node, int(node.attributes["axis"]), items[0].rank + is_new)
    if is_new:
        where = node.constant([axis], "int64")
        items = [node.convert("Unsqueeze", [each, where]) for each in items]
    return concatenated(node, items, axis)


@converts("SplitToSequence")
def split_to_sequence(node: Node) -> Value:
    """Split along an axis; without sizes, into parts of extent 1, whose axis `keepdims` keeps."""
    x = node.input(0)
    axis = normal_axis(node, int(node.attributes.get("axis", 0)), x.rank)
    extent = x.shape[axis]
    if node.has(1) and node.input(1).rank:
        sizes = split_sizes(node, extent, 0, node.ints(1))
        return sequence(parts_of(node, x, axis, sizes), x.dtype)
    if not isinstance(extent, int):
        node.refuse(
            f"the axis {axis} has the open extent {extent}, but a sequence has a known length"
        )
    size = node.ints(1)[0] if node.has(1) else 1
    if size <= 0:
        node.refuse(f"its parts would have the extent {size}, which is not positive")
    sizes = [min(size, extent - begin) for begin in range(0, extent, size)]
    parts = parts_of(node, x, axis, sizes)
    if not node.has(1) and not node.attributes.get("keepdims", 1):
        where = node.constant([axis], "int64")
        parts = [node.convert("Squeeze", [each, where]) for each in parts]
    return sequence(parts, x.dtype)


@converts("SequenceMap")
def sequence_map(node: Node) -> list[Value]:
    """Convert the body once for each value; return sequences of its outputs."""
    steps = len(_items(node))
    inputs = [node.value(index) for index in range(len(node.inputs))]
    rows: list[list[Value]] = []
    for step in range(steps):
        given = []
        for value in inputs:
            items = value.items
            if items is not None and len(items) != steps:
                node.refuse(f"its sequences have different lengths, {steps} and {len(items)}")
            given.append(value if items is None else items[step])
        rows.append(node.subgraph(node.attributes["body"], given))
    kinds = [each.type.tensor_type.elem_type for each in node.attributes["body"].output]
    return [
        sequence([row[i] for row in rows], rows[0][i].dtype if rows else dtype_name(kind))
        for i, kind in enumerate(kinds)
    ]


@converts("Optional")
def optional(node: Node) -> Value:
    """Return the input; without an input, an absent optional value."""
    return node.value(0) if node.has(0) else ABSENT


@converts("OptionalHasElement")
def has_element(node: Node) -> Value:
    """Return whether a value is present."""
    return node.constant(node.has(0) and not node.value(0).is_absent, "bool")


@converts("OptionalGetElement")
def get_element(node: Node) -> Value:
    """Return the value, which must be present."""
    value = node.value(0)
    if value.is_absent:
        node.refuse("its input is an absent optional value")
    return value


__all__ = ["at", "concat_from_sequence", "construct", "empty_sequence", "erase", "get_element"]
__all__ += ["has_element", "insert", "length", "optional", "sequence_map", "split_to_sequence"]
