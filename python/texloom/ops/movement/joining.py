"""Tensors joined and divided along an axis."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

from ... import te
from ..._core import Tensor
from ...extents import Extent, plain

JOINED = "joined"
"""The tag of a tensor that joins others along an axis."""


def concatenate(*parts: Tensor, axis: int) -> Tensor:
    """Join tensors along an axis; their other extents are equal."""
    ends = [plain(end) for end in accumulate(part.shape[axis] for part in parts)]
    shape = list(parts[0].shape)
    shape[axis] = ends[-1]

    def at(*index: Any) -> Any:
        def element(number: int) -> Any:
            begin = ends[number - 1] if number else 0
            return parts[number](*index[:axis], index[axis] - begin, *index[axis + 1 :])

        value = element(len(parts) - 1)
        for number in reversed(range(len(parts) - 1)):
            value = te.if_then_else(index[axis] < ends[number], element(number), value)
        return value

    return te.compute(tuple(shape), at, name="joined", tag=JOINED)


def part(x: Tensor, axis: int, begin: Extent, size: Extent) -> Tensor:
    """Return the part of `x` from `begin` on, with this extent along an axis."""
    shape = list(x.shape)
    shape[axis] = size

    def element(*index: Any) -> Any:
        return x(*index[:axis], index[axis] + begin, *index[axis + 1 :])

    return te.compute(tuple(shape), element, name="part")


__all__ = ["JOINED", "concatenate", "part"]
