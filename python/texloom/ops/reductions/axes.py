"""Axes of reductions, and the indices of elements along them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ... import te
from ..._core import Tensor
from ...extents import Extent, shape_of
from ...tir import PrimExpr


def is_float(dtype: str) -> bool:
    """Whether a type is a floating-point type."""
    return "float" in dtype


def extents(x: Tensor) -> tuple[Extent, ...]:
    """Return the shape of a tensor."""
    return shape_of(x)


def normalized(axes: Sequence[int] | None, rank: int) -> tuple[int, ...]:
    """Return axes as nonnegative numbers in ascending order; all axes for None.

    Raises
    ------
    ValueError
        For an axis that the rank does not have, or that is given twice.
    """
    if axes is None:
        return tuple(range(rank))
    for each in axes:
        if not -rank <= each < rank:
            raise ValueError(f"axis {each} is out of range for a tensor of rank {rank}")
    made = sorted(each % rank for each in axes)
    if len(set(made)) != len(made):
        raise ValueError(f"an axis is given twice: {list(axes)}")
    return tuple(made)


def reduced_shape(shape: Sequence[int], axes: Sequence[int], keepdims: bool) -> tuple[int, ...]:
    """Return the shape after a reduction over normalized `axes`."""
    if keepdims:
        return tuple(1 if a in axes else extent for a, extent in enumerate(shape))
    return tuple(extent for a, extent in enumerate(shape) if a not in axes)


def reduce_over(
    x: Tensor,
    axes: Sequence[int],
    reducer: Callable[..., Any],
    term: Callable[..., Any],
    keepdims: bool = True,
    name: str = "reduce",
) -> Any:
    """Return a reduction of terms, which are computed from the elements of a tensor.

    Parameters
    ----------
    x : Tensor
    axes : sequence of int
        Normalized; at least one.
    reducer : callable
        Such as ``te.sum``.
    term : callable
        ``term(value, *indices)`` for each element of `x` and its indices; it returns a tuple for a
        reducer of several values.
    keepdims : bool
        Whether the reduced axes stay, with extent 1.
    name : str
        The name of the stage.
    """
    shape = extents(x)

    def body(*i: Any) -> Any:
        inner = [te.reduce_axis((0, shape[a]), name=f"k{a}") for a in axes]
        where = merged(i, [k.var for k in inner], axes, len(shape), keepdims)
        return reducer(term(x(*where), *where), axis=inner)

    return te.compute(reduced_shape(shape, axes, keepdims), body, name=name)


def merged(
    outer: Sequence[Any], inner: Sequence[Any], axes: Sequence[int], rank: int, keepdims: bool
) -> list[PrimExpr]:
    """Return the indices of an element: `inner` along `axes`, the result's indices elsewhere."""
    if keepdims:
        outer = [each for a, each in enumerate(outer) if a not in axes]
    rest, reduced = iter(outer), iter(inner)
    return [next(reduced) if a in axes else next(rest) for a in range(rank)]


def kept(indices: Sequence[Any], axes: Sequence[int]) -> list[Any]:
    """Return the indices in the result of a reduction that kept `axes`."""
    return [0 if a in axes else each for a, each in enumerate(indices)]


__all__ = [
    "extents",
    "is_float",
    "kept",
    "merged",
    "normalized",
    "reduce_over",
    "reduced_shape",
]
