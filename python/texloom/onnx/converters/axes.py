"""Axes and shapes as ONNX gives them, and tensors without elements."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod

from ..nodes import Node


def normal_axis(node: Node, axis: int, rank: int) -> int:
    """Return a nonnegative axis, given one that may count from the last axis."""
    if not -rank <= axis < rank:
        node.refuse(f"its axis is {axis}, but a tensor of {rank} axes has {-rank} to {rank - 1}")
    return axis % rank


def normal_axes(node: Node, axes: Iterable[int], rank: int) -> list[int]:
    """Return nonnegative axes; refuse an axis that is named twice."""
    made = [normal_axis(node, int(axis), rank) for axis in axes]
    if len(set(made)) != len(made):
        node.refuse(f"an axis occurs twice in {made}")
    return made


_MOST_ELEMENTS = 1 << 28


def check_extent(node: Node, shape: Sequence[int]) -> None:
    """Refuse the shape of a constant if an extent is negative or the constant takes gigabytes."""
    if min(shape, default=1) < 0 or prod(shape) > _MOST_ELEMENTS:
        node.refuse(
            f"its output would be a constant of the shape {tuple(shape)}: an extent is negative, "
            f"or it has more than {_MOST_ELEMENTS:,} elements"
        )


__all__ = ["check_extent", "normal_axes", "normal_axis"]
