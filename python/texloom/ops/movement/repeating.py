"""Tensors with repeated elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import te
from ..._core import Tensor
from ...extents import Extent, number_of, shape_of, value_of
from ..broadcast import element
from ..raveling import raveled


def expand(x: Tensor, shape: Sequence[int]) -> Tensor:
    """Broadcast `x` to a shape, as ``np.broadcast_to``."""
    return te.compute(tuple(shape), lambda *i: element(x, i), name="expanded")


def tile(x: Tensor, repeats: Sequence[int]) -> Tensor:
    """Repeat `x` along its axes, as ``np.tile``; there is a number for each axis."""
    extents = shape_of(x)

    def at(*index: Any) -> Any:
        return x(
            *(
                i if number_of(times) == 1 else te.floormod(i, extent)
                for i, times, extent in zip(index, repeats, extents, strict=True)
            )
        )

    shape = tuple(extent * times for extent, times in zip(extents, repeats, strict=True))
    return te.compute(shape, at, name="tiled")


def filled(shape: Sequence[Extent], value: float, dtype: str) -> Tensor:
    """Return a tensor whose elements are all equal."""
    return te.compute(tuple(shape), lambda *_: te.const(value, dtype), name="filled")


def counted(start: Extent, number: Extent, dtype: str) -> Tensor:
    """Return `number` consecutive integers from `start` on."""
    first = value_of(start, dtype)
    return te.compute((number,), lambda i: first + i.astype(dtype), name="counted")


def listed(sizes: Sequence[Extent], shape: Sequence[int], dtype: str) -> Tensor:
    """Return a tensor of a few numbers, which are extents, in row-major order."""

    def at(*index: Any) -> Any:
        place, made = raveled(index, shape), value_of(sizes[0], dtype)
        for number, size in enumerate(sizes[1:], 1):
            made = te.if_then_else(place == number, value_of(size, dtype), made)
        return made

    return te.compute(tuple(shape), at, name="listed")


__all__ = ["counted", "expand", "filled", "listed", "tile"]
