"""Maxima of windows, and their positions."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ... import te, tir
from ..._core import Tensor
from ...extents import shape_of
from ..extrema import lowest, maximum
from ..raveling import unraveled
from ..windows import Windows


def max_pool(x: Tensor, **windows: Any) -> Tensor:
    """Return the maximum of each window.

    Parameters
    ----------
    x : Tensor
        ``[N, C, *spatial]``.
    **windows
        As of :meth:`texloom.ops.windows.Windows.of`. Padding is never the maximum.

    Returns
    -------
    Tensor
        ``[N, C, *windows]`` of the dtype of `x`. The maximum of a window with a NaN is NaN.
    """
    slid = Windows.of(**windows)
    own = slid.pad(x, lowest(x.dtype))
    axes = slid.axes()

    def element(n: Any, c: Any, *window: Any) -> Any:
        return maximum(own(n, c, *slid.positions(window, axes)), axis=axes)

    shape = (*x.shape[:2], *slid.counts(x.shape[2:]))
    return te.compute(shape, element, name="maximum")


def max_pool_with_indices(
    x: Tensor, *, column_major: bool = False, **windows: Any
) -> tuple[Tensor, Tensor]:
    """Return the maximum of each window, and its index.

    Parameters
    ----------
    x : Tensor
        ``[N, C, *spatial]``.
    column_major : bool
        Whether indices count the spatial axes of a channel from the first to the last, instead of
        from the last to the first.
    **windows
        As of :func:`max_pool`.

    Returns
    -------
    (Tensor, Tensor)
        The maxima, and their int64 indices among all elements of `x`; of equal elements, the first
        index.
    """
    slid = Windows.of(**windows)
    spatial = shape_of(x)[2:]
    own = slid.pad(x, lowest(x.dtype))
    axes = slid.axes()
    nowhere = (1 << 63) - 1

    def first(a: Any, b: Any) -> Any:
        (where_a, value_a), (where_b, value_b) = a, b
        wins = te.any(value_a > value_b, te.all(value_a == value_b, where_a < where_b))
        if "float" in x.dtype:
            wins = te.any(wins, te.isnan(value_a))
        return tir.Select(wins, where_a, where_b), tir.Select(wins, value_a, value_b)

    largest = te.comm_reducer(
        first, lambda i, v: (te.const(nowhere, "int64"), lowest(v)), name="first_maximum"
    )

    def element(n: Any, c: Any, *window: Any) -> Any:
        places = slid.positions(window, axes)
        index = (n * x.shape[1] + c).astype("int64")
        order = reversed(range(len(spatial))) if column_major else range(len(spatial))
        inside = []
        for axis in order:
            place = places[axis] - slid.begins[axis]
            inside += [place >= 0, place < spatial[axis]]
            index = index * spatial[axis] + place.astype("int64")
        index = te.if_then_else(te.all(*inside), index, te.const(nowhere, "int64"))
        return largest((index, own(n, c, *places)), axis=axes)

    shape = (*x.shape[:2], *slid.counts(spatial))
    indices, values = te.compute(shape, element, name="maximum")
    return values, indices


def max_unpool(
    x: Tensor, indices: Tensor, *, extents: Sequence[int], shape: Sequence[int]
) -> Tensor:
    """Write elements to the positions in `indices`; all other elements are zero.

    Parameters
    ----------
    x : Tensor
    indices : Tensor
        int64, of the shape of `x`: positions among the elements of a tensor ``[N, C, *extents]``.
        Elements whose position is out of range are dropped; if several have one position, an
        arbitrary one of them remains.
    extents : sequence of int
    shape : sequence of int
        ``[N, C, *spatial]``: elements within this shape are kept, and all others are zero.

    Returns
    -------
    Tensor
        Of shape `shape`, and of the dtype of `x`.
    """
    whole = [*(int(extent) for extent in x.shape[:2]), *extents]

    def body(inputs: Sequence[Any], outputs: Sequence[Any]) -> Any:
        ib = tir.ir_builder.create()
        source, where, result = (ib.buffer_ptr(each) for each in (*inputs, *outputs))
        with ib.new_scope():
            place = _thread(ib, shape)
            result[tuple(place)] = te.const(0, x.dtype)
        with ib.new_scope():
            place = _thread(ib, [int(extent) for extent in x.shape])
            index = where[tuple(place)]
            target, rest = [], index
            for extent in reversed(whole):
                target.insert(0, te.truncmod(rest, extent))
                rest = te.truncdiv(rest, extent)
            inside = [index >= 0, rest == 0]
            inside += [at < extent for at, extent in zip(target, shape, strict=True)]
            with ib.if_scope(te.all(*inside)):
                result[tuple(at.astype("int32") for at in target)] = source[tuple(place)]
        return ib.get()

    return te.extern(tuple(shape), [x, indices], body, name="unpooled", dtype=x.dtype)


def _thread(ib: Any, extents: Sequence[int]) -> list[Any]:
    """Bind a thread to each element of a tensor; return its indices."""
    thread = te.thread_axis("blockIdx.x")
    ib.scope_attr(thread, "thread_extent", prod(extents))
    return unraveled(thread, extents)


__all__ = ["max_pool", "max_pool_with_indices", "max_unpool"]
