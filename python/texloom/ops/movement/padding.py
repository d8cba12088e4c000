"""Padding and cropping."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from ... import te
from ..._core import Tensor
from ...extents import Extent, is_at_most, number_of, plain, shape_of

PadMode = Literal["constant", "edge", "reflect", "wrap"]


def _source(position: Any, extent: Extent, mode: PadMode) -> Any:
    """Return the position in the tensor whose element is copied to `position` of the result."""
    if number_of(extent) == 1:
        return 0
    if mode == "edge":
        return te.if_then_else(
            position < 0, 0, te.if_then_else(position >= extent, extent - 1, position)
        )
    if mode == "wrap":
        return te.floormod(position, extent)
    period = te.max(2 * (extent - 1), 1)  # at least 1, also for an axis of one element
    turned = te.floormod(position, period)
    return te.if_then_else(turned < extent, turned, period - turned)


def _removed(pad: Extent) -> int:
    """Return how many elements a pad removes; pads that only a run knows remove none."""
    return max(-pad, 0) if isinstance(pad, int) else 0


def pad(
    x: Tensor,
    *value: Tensor,
    before: Sequence[Extent],
    after: Sequence[Extent],
    mode: PadMode = "constant",
    fill: float | int | bool = 0,
) -> Tensor:
    """Add elements around a tensor; negative numbers remove some.

    Parameters
    ----------
    x : Tensor
    value : Tensor, optional
        One element that fills the new places in mode "constant", instead of `fill`.
    before, after : sequence of int or Expr
        Elements to add along each axis. Elements are removed before others are added. Expressions
        must not be negative, except in mode "constant".
    mode : "constant", "edge", "reflect" or "wrap"
        As for ``np.pad``.
    fill : number
    """
    extents = shape_of(x)
    shape = tuple(plain(b + n + a) for b, n, a in zip(before, extents, after, strict=True))

    def filled(*index: Any) -> Any:
        inside = []
        for i, b, n, a in zip(index, before, extents, after, strict=True):
            inside += [] if is_at_most(b, 0) else [i >= b]
            inside += [] if is_at_most(a, 0) and not is_at_most(b + n, 0) else [i < b + n]
        source = x(*(i - b for i, b in zip(index, before, strict=True)))
        if not inside:
            return source
        other = value[0](*(0 for _ in value[0].shape)) if value else te.const(fill, x.dtype)
        return te.if_then_else(te.all(*inside), source, other)

    def continued(*index: Any) -> Any:
        sources = []
        for i, b, n, a in zip(index, before, extents, after, strict=True):
            first, kept = _removed(b), n - _removed(b) - _removed(a)
            is_plain = is_at_most(b, 0) and is_at_most(a, 0)
            sources.append(
                i - b if is_plain else first + _source(i - (b + _removed(b)), kept, mode)
            )
        return x(*sources)

    return te.compute(shape, filled if mode == "constant" else continued, name="padded")


__all__ = ["PadMode", "pad"]
