"""Broadcasting as in NumPy and ONNX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import te
from .._core import Tensor
from ..extents import Extent, agreed, number_of
from ..tir import PrimExpr


def broadcast_shape(*shapes: Sequence[Extent]) -> tuple[Extent, ...]:
    """Return the shape of an element-wise operation over tensors of these shapes.

    An extent that is known only at a run is assumed not to be broadcast.
    """
    rank = max(map(len, shapes))
    padded = [(1,) * (rank - len(shape)) + tuple(shape) for shape in shapes]
    made = []
    for extents in zip(*padded, strict=True):
        wide = [extent for extent in extents if number_of(extent) != 1]
        extent = agreed(wide) if wide else 1
        if extent is None:
            raise ValueError(f"shapes {', '.join(map(str, shapes))} do not broadcast")
        made.append(extent)
    return tuple(made)


def element(x: Tensor, indices: Sequence[Any]) -> PrimExpr:
    """Return the element of `x` that belongs to `indices` of the broadcast shape."""
    own = indices[len(indices) - len(x.shape) :]
    return x(*(0 if number_of(extent) == 1 else i for i, extent in zip(own, x.shape, strict=True)))


def elementwise(function: Callable[..., Any], *inputs: Tensor, name: str = "elementwise") -> Tensor:
    """Return ``function`` of the inputs, element by element, with broadcasting."""
    shape = broadcast_shape(*(x.shape for x in inputs))
    return te.compute(shape, lambda *i: function(*(element(x, i) for x in inputs)), name=name)


__all__ = ["broadcast_shape", "element", "elementwise"]
