"""Elements that are selected by indices.

Indices are signed integers. Negative indices count from the end. Indices out of range, which are
errors of the caller, read the first or last element.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import te
from ..._core import Tensor
from ..raveling import raveled
from .positions import inside


def gather(x: Tensor, indices: Tensor, axis: int) -> Tensor:
    """Return the slices of `x` at indices along an axis, as ``np.take``.

    The result has the shape ``x.shape[:axis] + indices.shape + x.shape[axis + 1:]``.
    """
    rank = len(indices.shape)
    shape = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])

    def at(*i: Any) -> Any:
        position = inside(indices(*i[axis : axis + rank]), x.shape[axis])
        return x(*i[:axis], position, *i[axis + rank :])

    return te.compute(shape, at, name="gathered")


def gather_series(x: Tensor, axis: int, start: int, step: int, shape: Sequence[int]) -> Tensor:
    """Return :func:`gather` at the indices ``start + step * i``, where ``i`` counts `shape`."""

    def at(*i: Any) -> Any:
        position = start + step * raveled(i[axis : axis + len(shape)], shape)
        return x(*i[:axis], position, *i[axis + len(shape) :])

    return te.compute((*x.shape[:axis], *shape, *x.shape[axis + 1 :]), at, name="gathered")


def gather_elements(x: Tensor, indices: Tensor, axis: int) -> Tensor:
    """Return elements of `x` at the index of the result, with `indices` as the index along `axis`.

    As ``np.take_along_axis``, but `indices` may be smaller than `x` along other axes.
    """

    def at(*i: Any) -> Any:
        return x(*i[:axis], inside(indices(*i), x.shape[axis]), *i[axis + 1 :])

    return te.compute(tuple(indices.shape), at, name="gathered")


def gather_nd(x: Tensor, indices: Tensor, batch_axes: int = 0) -> Tensor:
    """Return the slices of `x` that tuples of indices select.

    Parameters
    ----------
    x : Tensor
        ``[*batch, *named, *rest]``.
    indices : Tensor
        ``[*batch, *many, number of named axes]``.
    batch_axes : int

    Returns
    -------
    Tensor
        ``[*batch, *many, *rest]``.
    """
    named = int(indices.shape[-1])
    outer = len(indices.shape) - 1
    first_rest = batch_axes + named

    def at(*i: Any) -> Any:
        positions = [inside(indices(*i[:outer], k), x.shape[batch_axes + k]) for k in range(named)]
        return x(*i[:batch_axes], *positions, *i[outer:])

    shape = (*indices.shape[:outer], *x.shape[first_rest:])
    return te.compute(shape, at, name="gathered")


__all__ = ["gather", "gather_elements", "gather_nd", "gather_series"]
