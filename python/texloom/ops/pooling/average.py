"""Means over windows."""

from __future__ import annotations

from math import prod
from typing import Any

from ... import te
from ..._core import Tensor
from ...extents import Extent, is_at_most, shape_of
from ..precision import sum_dtype
from ..windows import Windows


def average_pool(x: Tensor, *, counts_pads: bool = False, **windows: Any) -> Tensor:
    """Return the mean of each window.

    Parameters
    ----------
    x : Tensor
        ``[N, C, *spatial]``, floating-point numbers.
    counts_pads : bool
        Whether zeros of the padding count as elements. Elements beyond the padding, which a last
        window may cover with `ceil`, never count.
    **windows
        As of :meth:`texloom.ops.windows.Windows.of`.

    Returns
    -------
    Tensor
        ``[N, C, *windows]`` of the dtype of `x`; NaN for a window without an element.
    """
    dtype = sum_dtype(x.dtype)
    slid = Windows.of(**windows)
    sums = window_sums(x, slid, lambda value: value.astype(dtype))
    extents, totals = shape_of(x)[2:], shape_of(sums)[2:]

    def element(*i: Any) -> Any:
        counts = [
            _count(slid, axis, extents[axis], totals[axis], place, counts_pads)
            for axis, place in enumerate(i[2:])
        ]
        fixed = prod(each for each in counts if isinstance(each, int))
        count = te.const(fixed, dtype)
        for each in counts:
            if not isinstance(each, int):
                count = count * each.astype(dtype)
        return (sums(*i) / count).astype(x.dtype)

    return te.compute(sums.shape, element, name="mean")


def _count(
    windows: Windows, axis: int, extent: Extent, total: Extent, place: Any, counts_pads: bool
) -> Any:
    """Return how many elements of a window count along an axis.

    The result is a number if it is the same for all `total` windows, else an expression of the
    window's index `place`.
    """
    kernel, dilation = windows.kernel[axis], windows.dilations[axis]
    begin = windows.begins[axis]
    low = -begin if counts_pads else 0
    high = extent + windows.ends[axis] if counts_pads else extent
    last = (total - 1) * windows.strides[axis]
    if is_at_most(low, -begin) and is_at_most(last + windows.reach(axis) - begin, high):
        return kernel
    start = place * windows.strides[axis] - begin
    # The numbers of steps to `low` and to `high`, as quotients of nonnegative numbers.
    skipped = te.max(0, te.indexdiv(te.max(low - start, 0) + dilation - 1, dilation))
    reached = te.indexdiv(te.max(high - start, 0) + dilation - 1, dilation)
    return te.max(te.min(reached, kernel) - skipped, 0)


def window_sums(x: Tensor, windows: Windows, function: Any) -> Tensor:
    """Return the sum of ``function(element)`` over each window; ``function(0)`` must be 0."""
    own = windows.pad(x, 0)
    axes = windows.axes()

    def element(n: Any, c: Any, *window: Any) -> Any:
        return te.sum(function(own(n, c, *windows.positions(window, axes))), axis=axes)

    shape = (*x.shape[:2], *windows.counts(x.shape[2:]))
    return te.compute(shape, element, name="sums")


__all__ = ["average_pool", "window_sums"]
