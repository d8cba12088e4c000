"""The result of a concatenation, as its inputs determine it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral

from .. import extents
from ..errors import refuse
from ..extents import Condition, Extent
from .tensor import GraphTensor

_BAD = "BadGraph"


@dataclass(frozen=True)
class Concatenation:
    """The result of joining tensors along an axis.

    Attributes
    ----------
    axis : int
        Not negative.
    shape : list of int or Extent
    conditions : list of Condition
        On the sizes of the inputs.
    """

    axis: int
    shape: list[Extent]
    conditions: list[Condition]

    @classmethod
    def of(cls, name: str, inputs: Sequence[GraphTensor], axis: int) -> Concatenation:
        """Return the result of the concatenation `name`; refuse tensors that do not fit."""
        if not inputs:
            refuse(_BAD, f"the concatenation {name!r} has no inputs", "give it tensors to join")
        shape = list(inputs[0].shape)
        if not isinstance(axis, Integral) or not -len(shape) <= axis < len(shape):
            refuse(
                _BAD,
                f"the concatenation {name!r} is along axis {axis!r}, but its inputs have rank "
                f"{len(shape)}",
                f"give an axis from {-len(shape)} to {len(shape) - 1}"
                if shape
                else "join tensors that have an axis",
            )
        axis %= len(shape)
        same_types = len({each.dtype for each in inputs}) == 1
        conditions = _conditions(axis, inputs)
        if not same_types or conditions is None:
            refuse(
                _BAD,
                f"the concatenation {name!r} cannot join "
                f"{', '.join(each.described() for each in inputs)} along axis {axis}: they differ "
                "in another extent or in dtype",
                "join tensors that differ only along that axis",
            )
        shape[axis] = extents.plain(sum(each.shape[axis] for each in inputs))
        return cls(axis, shape, conditions)


def _conditions(axis: int, tensors: Sequence[GraphTensor]) -> list[Condition] | None:
    """Return conditions under which shapes agree except along `axis`; None if they never do."""
    first = tensors[0].shape
    if any(len(each.shape) != len(first) for each in tensors):
        return None
    with extents.collected() as conditions:
        agrees = all(
            extents.agree(extent, first[i])
            for each in tensors
            for i, extent in enumerate(each.shape)
            if i != axis
        )
    return list(conditions) if agrees else None


__all__ = ["Concatenation"]
