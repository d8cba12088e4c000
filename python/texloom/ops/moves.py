"""Stages that only move elements, and where they move them from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .. import _core, te
from .._core import Tensor
from ..extents import Extent, shape_of

Place = Callable[[Sequence[Any]], tuple[Any, ...]]
"""A function from the indices of an element to its indices in another tensor."""


@dataclass(frozen=True)
class Moved:
    """A tensor, as the elements of another one.

    Attributes
    ----------
    source : Tensor
        The tensor that has the elements.
    shape : tuple
        The shape of the tensor whose elements these are.
    at : function
        Returns where an element of that tensor is in `source`.
    """

    source: Tensor
    shape: tuple[Extent, ...]
    at: Place

    @classmethod
    def of(cls, tensor: Tensor) -> Moved:
        """Look through the stages that compute a tensor as long as they only move elements."""
        source, places = tensor, []
        while (load := _moved(source)) is not None:
            places.append(_place(source, list(load.indices)))
            source = load.producer

        def at(index: Sequence[Any]) -> tuple[Any, ...]:
            for each in places:
                index = each(index)
            return tuple(index)

        return cls(source, shape_of(tensor), at)


def _moved(tensor: Tensor) -> Any:
    """Return the element that each element of a stage is; None if the stage computes anything."""
    op = tensor.op  # of one output, so that the operation stands for the tensor
    if not isinstance(op, te.ComputeOp) or op.num_outputs != 1 or op.reduce_axis:
        return None
    return op.body[0] if op.body[0]._class == "ProducerLoad" else None


def _place(tensor: Tensor, indices: Sequence[Any]) -> Place:
    variables = [axis.var for axis in tensor.op.axis]

    def at(index: Sequence[Any]) -> tuple[Any, ...]:
        values = [_core.to_expr(each) for each in index]
        return tuple(_core.substituted(each, variables, values) for each in indices)

    return at


__all__ = ["Moved"]
