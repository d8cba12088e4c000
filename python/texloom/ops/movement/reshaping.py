"""Other shapes for the same elements in the same order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import te
from ..._core import Tensor
from ...extents import agree, is_at_most, number_of, product, shape_of

VIEW = "view"
"""The tag of a stage that has the elements of its one input in the same row-major order."""


def _matches(old: Sequence[int], new: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """Divide the axes of two shapes into the shortest runs with equal numbers of elements.

    A run of axes is extended if its end would depend on extents that are known only when the kernel
    executes.
    """
    runs, i, j = [], 0, 0
    while i < len(old) or j < len(new):
        left, right = [], []
        while not (left or right) or (
            product(old[a] for a in left) != product(new[a] for a in right)
        ):
            if i == len(old) and j == len(new):
                break
            of_left = product(old[a] for a in left)
            of_right = product(new[a] for a in right)
            if i < len(old) and (j == len(new) or is_at_most(of_left, of_right)):
                left.append(i)
                i += 1
            else:
                right.append(j)
                j += 1
        runs.append((left, right))
    return runs


def index_in(old: Sequence[int], new: Sequence[int], index: Sequence[Any]) -> list[Any]:
    """Return the index, in an array of shape `old`, of the element at `index` after a reshape.

    Parameters
    ----------
    old, new : sequence of int
        Shapes with equal numbers of elements.
    index : sequence of expressions
        An index in the shape `new`.
    """
    found: list[Any] = [0] * len(old)
    for left, right in _matches(old, new):
        wide = [axis for axis in left if number_of(old[axis]) != 1]
        position: Any = 0
        for axis in right:
            if number_of(new[axis]) != 1:
                position = position * new[axis] + index[axis]
        for axis in reversed(wide):
            is_first = axis == wide[0]
            found[axis] = position if is_first else te.floormod(position, old[axis])
            position = te.floordiv(position, old[axis])
    return found


def reshape(x: Tensor, shape: Sequence[int]) -> Tensor:
    """Return the elements of `x`, in row-major order, with another shape.

    Raises
    ------
    ValueError
        If the shape has another number of elements.
    """
    old = shape_of(x)
    if not agree(product(old), product(shape)):
        raise ValueError(f"{product(old)} elements cannot be reshaped to {tuple(shape)}")
    return te.compute(
        tuple(shape), lambda *i: x(*index_in(old, shape, i)), name="reshaped", tag=VIEW
    )


__all__ = ["VIEW", "index_in", "reshape"]
