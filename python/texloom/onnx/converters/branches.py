"""Branches: one of them is converted if the condition is known, otherwise both are computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from ...extents import are_equal
from ..nodes import Node, Value
from .registry import converts
from .scalars import as_scalar, extent_of


@converts("If")
def choose_branch(node: Node) -> Sequence[Value]:
    """Convert the branch that the condition chooses.

    If only a run knows the condition, both branches are computed, and their outputs are selected.
    """
    condition = node.input(0)
    then, other = (node.attributes[name] for name in ("then_branch", "else_branch"))
    if condition.array is not None:
        return node.subgraph(then if condition.array.reshape(-1)[0] else other, [])
    if node.chooses(condition):
        node.needs(condition, "its condition is an input")
    with node.asking(condition):
        made = [node.subgraph(each, []) for each in (then, other)]
        if len(made[0]) != len(made[1]):
            node.refuse(f"its branches have {len(made[0])} and {len(made[1])} outputs")
        scalar = as_scalar(node, condition)
        return [
            selected(node, scalar, f"the output {name!r} of its branches", *each)
            for name, *each in zip(node.outputs, *made, strict=False)
        ]


def selected(node: Node, condition: Value, what: str, one: Value, other: Value) -> Value:
    """Return `one` if a scalar condition holds, else `other`; `what` they are is for messages."""
    if _are_same(one, other):
        return one
    if not one.is_tensor or not other.is_tensor:
        node.refuse(f"{what} is a sequence or may be absent")
    if one.count is not None or other.count is not None:
        return _selected_rows(node, condition, what, one, other)
    if one.dtype != other.dtype or one.rank != other.rank or not _agree(one, other):
        _refuse_shapes(node, what, one, other)
    return node.convert("Where", [condition, one, other])


def _selected_rows(node: Node, condition: Value, what: str, one: Value, other: Value) -> Value:
    """Return the counted rows of one of two tensors; the other may have no row at all."""
    axis = (one if one.count is not None else other).counted_axis
    tensors = [each.counted_by(None) for each in (one, other)]
    counts = [each.count or extent_of(each, axis) for each in (one, other)]
    if any(each.count is not None and each.counted_axis != axis for each in (one, other)):
        _refuse_shapes(node, what, one, other)
    rows = [each for each in tensors if not each.is_empty]
    agrees = one.dtype == other.dtype and one.rank == other.rank
    agrees = agrees and _agree(*tensors, beside=None if len(rows) == 2 else axis)
    if not agrees:
        _refuse_shapes(node, what, one, other)
    made = rows[0] if len(rows) == 1 else node.convert("Where", [condition, *tensors])
    return made.counted_by(node.convert("Where", [condition, *counts]), axis)


def _agree(one: Value, other: Value, beside: int | None = None) -> bool:
    """Whether all extents are equal in every run, or all except that of one axis.

    A condition on sizes would refuse runs in which the two tensors differ, though a model may
    compute either of them.
    """
    pairs = enumerate(zip(one.shape, other.shape, strict=True))
    return all(are_equal(a, b) for axis, (a, b) in pairs if axis != beside)


def _are_same(one: Value, other: Value) -> bool:
    """Whether two values are certainly equal."""
    if one is other or (one.is_absent and other.is_absent):
        return True
    if one.dtype != other.dtype or one.shape != other.shape or one.count is not other.count:
        return False
    if one.array is not None and other.array is not None:
        return one.array.tobytes() == other.array.tobytes()
    if one.sizes is not None and other.sizes is not None:
        return one.sizes.reshape(-1).tolist() == other.sizes.reshape(-1).tolist()
    return one.tensor is not None and one.tensor is other.tensor


def _refuse_shapes(node: Node, what: str, one: Value, other: Value) -> NoReturn:
    kinds = [
        f"{each.dtype}{list(each.shape)}"
        + (" of a length that depends on data" if each.count is not None else "")
        for each in (one, other)
    ]
    node.refuse(f"{what} is {' or '.join(kinds)}")


__all__ = ["choose_branch", "selected"]
