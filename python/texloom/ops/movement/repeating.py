"""Tensors with repeated elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import te
from ..._core import Tensor
from ..broadcast import element


def expand(x: Tensor, shape: Sequence[int]) -> Tensor:
    """Broadcast `x` to a shape, as ``np.broadcast_to``."""
    return te.compute(tuple(shape), lambda *i: element(x, i), name="expanded")


def tile(x: Tensor, repeats: Sequence[int]) -> Tensor:
    """Repeat `x` along its axes, as ``np.tile``; there is a number for each axis."""
    extents = [int(extent) for extent in x.shape]

    def at(*index: Any) -> Any:
        return x(
            *(
                i if times == 1 else te.floormod(i, extent)
                for i, times, extent in zip(index, repeats, extents, strict=True)
            )
        )

    shape = tuple(extent * times for extent, times in zip(extents, repeats, strict=True))
    return te.compute(shape, at, name="tiled")


__all__ = ["expand", "tile"]
