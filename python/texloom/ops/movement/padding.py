"""Padding and cropping."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from ... import te
from ..._core import Tensor
from ...extents import Extent, is_at_most, number_of, shape_of

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


def pad(
    x: Tensor,
    *value: Tensor,
    before: Sequence[int],
    after: Sequence[int],
    mode: PadMode = "constant",
    fill: float | int | bool = 0,
) -> Tensor:
    """Add elements around a tensor; negative numbers remove some.

    Parameters
    ----------
    x : Tensor
    value : Tensor, optional
        One element that fills the new places in mode "constant", instead of `fill`.
    before, after : sequence of int
        Elements to add along each axis. Elements are removed before others are added.
    mode : "constant", "edge", "reflect" or "wrap"
        As for ``np.pad``.
    fill : number
    """
    extents = shape_of(x)
    shape = tuple(b + n + a for b, n, a in zip(before, extents, after, strict=True))

    def filled(*index: Any) -> Any:
        inside = []
        for i, b, n, a in zip(index, before, extents, after, strict=True):
            inside += [i >= b] if b > 0 else []
            inside += [i < b + n] if a > 0 or is_at_most(b + n, 0) else []
        source = x(*(i - b for i, b in zip(index, before, strict=True)))
        if not inside:
            return source
        other = value[0](*(0 for _ in value[0].shape)) if value else te.const(fill, x.dtype)
        return te.if_then_else(te.all(*inside), source, other)

    def continued(*index: Any) -> Any:
        sources = []
        for i, b, n, a in zip(index, before, extents, after, strict=True):
            first, kept = max(-b, 0), n - max(-b, 0) - max(-a, 0)
            is_plain = b <= 0 and a <= 0
            sources.append(i - b if is_plain else first + _source(i - max(b, 0), kept, mode))
        return x(*sources)

    return te.compute(shape, filled if mode == "constant" else continued, name="padded")


__all__ = ["PadMode", "pad"]
