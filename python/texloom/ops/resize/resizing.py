"""Tensors resized by the tables of :func:`table`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import te
from ..._core import Tensor
from ...extents import Extent, shape_of

_UNROLLED_TAPS = 2  # up to this number, sums of taps are inlined


def repeat(x: Tensor, factors: Sequence[int]) -> Tensor:
    """Repeat each element along each axis, as ``np.repeat``."""
    shape = tuple(extent * factor for extent, factor in zip(shape_of(x), factors, strict=True))

    def at(*i: Any) -> Any:
        return x(
            *(te.floordiv(each, f) if f > 1 else each for each, f in zip(i, factors, strict=True))
        )

    return te.compute(shape, at, name="repeated")


def take_positions(x: Tensor, *positions: Tensor, axes: Sequence[int]) -> Tensor:
    """Return the elements at positions along axes.

    Parameters
    ----------
    x : Tensor
    positions : Tensor
        For each of the axes, ``[size]``: integer positions inside of the tensor.
    axes : sequence of int
    """
    named = dict(zip(axes, positions, strict=True))
    shape = [named[axis].shape[0] if axis in named else n for axis, n in enumerate(x.shape)]

    def at(*i: Any) -> Any:
        return x(*(named[axis](each) if axis in named else each for axis, each in enumerate(i)))

    return te.compute(tuple(shape), at, name="taken")


def interpolate(x: Tensor, *tables: Tensor, axes: Sequence[int]) -> Tensor:
    """Return weighted sums of elements along axes, one axis after the other.

    Parameters
    ----------
    x : Tensor
    tables : Tensor
        For each of the axes: the positions, ``[size, taps]`` integers inside of the tensor, then
        their weights, ``[size, taps]``. Sums have the dtype of the weights.
    axes : sequence of int

    Returns
    -------
    Tensor
        Of the dtype of `x`; integers are truncated.
    """
    made = x
    for axis, positions, weights in zip(axes, tables[::2], tables[1::2], strict=True):
        made = _weighted(made, axis, positions, weights)
    if made.dtype == x.dtype:
        return made
    return te.compute(tuple(made.shape), lambda *i: made(*i).astype(x.dtype), name="resized")


def interpolate_open(
    x: Tensor,
    *tables: Tensor,
    axes: Sequence[int],
    sizes: Sequence[Extent],
    steps: Sequence[int],
    is_weighted: bool,
) -> Tensor:
    """Resize axes whose extents are known only at a run, by the taps of :class:`Phases`.

    Parameters
    ----------
    x : Tensor
    tables : Tensor
        For each of the axes: the offsets, ``[phases, taps]``, then their weights if there are any.
    axes, sizes : sequence of int or Expr
        The axes, and their extents in the result.
    steps : sequence of int
        How far the taps move from one period of phases to the next.
    is_weighted : bool
        Whether elements are weighted sums of taps; otherwise each element has one tap.

    Returns
    -------
    Tensor
        Of the dtype of `x`; integers are truncated.
    """
    made = x
    for number, (axis, size, step) in enumerate(zip(axes, sizes, steps, strict=True)):
        own = tables[2 * number : 2 * number + 2] if is_weighted else tables[number : number + 1]
        made = _periodic(made, axis, size, step, *own)
    if made.dtype == x.dtype:
        return made
    return te.compute(shape_of(made), lambda *i: made(*i).astype(x.dtype), name="resized")


def _periodic(
    x: Tensor, axis: int, size: Extent, step: int, offsets: Tensor, weights: Tensor | None = None
) -> Tensor:
    phases, taps = (int(n) for n in offsets.shape)
    extents = shape_of(x)
    shape = (*extents[:axis], size, *extents[axis + 1 :])

    def element(i: Sequence[Any], tap: Any) -> Any:
        phase = i[axis] % phases if phases > 1 else 0
        place = i[axis] // phases * step + offsets[phase, tap]
        inside = te.max(te.min(place, extents[axis] - 1), 0)
        value = x(*i[:axis], inside, *i[axis + 1 :])
        return value if weights is None else value.astype(weights.dtype) * weights[phase, tap]

    if weights is None:
        return te.compute(shape, lambda *i: element(i, 0), name="taken")
    if taps <= _UNROLLED_TAPS:
        return te.compute(
            shape, lambda *i: sum(element(i, t) for t in range(taps)), name="weighted"
        )
    tap = te.reduce_axis((0, taps), name="tap")
    return te.compute(shape, lambda *i: te.sum(element(i, tap.var), axis=[tap]), name="weighted")


def _weighted(x: Tensor, axis: int, positions: Tensor, weights: Tensor) -> Tensor:
    taps = int(positions.shape[1])
    shape = (*x.shape[:axis], positions.shape[0], *x.shape[axis + 1 :])

    def term(i: Sequence[Any], tap: Any) -> Any:
        own = i[axis]
        value = x(*i[:axis], positions[own, tap], *i[axis + 1 :])
        return value.astype(weights.dtype) * weights[own, tap]

    if taps <= _UNROLLED_TAPS:
        return te.compute(shape, lambda *i: sum(term(i, t) for t in range(taps)), name="weighted")
    tap = te.reduce_axis((0, taps), name="tap")
    return te.compute(shape, lambda *i: te.sum(term(i, tap), axis=[tap]), name="weighted")


def fill_outside(x: Tensor, *inside: Tensor, axes: Sequence[int], value: float) -> Tensor:
    """Replace the elements whose position along one of the axes is outside of the tensor.

    Parameters
    ----------
    x : Tensor
    inside : Tensor
        For each of the axes, ``[size]``: zero for positions that are outside.
    axes : sequence of int
    value : float
    """

    def at(*i: Any) -> Any:
        is_inside = te.all(*(t(i[axis]) != 0 for axis, t in zip(axes, inside, strict=True)))
        return te.if_then_else(is_inside, x(*i), te.const(value, x.dtype))

    return te.compute(tuple(x.shape), at, name="filled")


__all__ = ["fill_outside", "interpolate", "interpolate_open", "repeat", "take_positions"]
