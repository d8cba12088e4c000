"""Axes and stages of kernels with channels last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from ...._core import IterVar, Schedule, Stage, Tensor
from .layouts import aligned_channels_last, channels_last

_T = TypeVar("_T")


def kept_sums(s: Schedule, sums: Tensor, root: Tensor, lanes: int = 1) -> Tensor:
    """Return the stage of sums in the registers of a thread, channels last.

    With `lanes`, the channels of a pixel are vectors of so many, the last of which may have fewer:
    each pixel begins a vector, because OpenCL accesses others by their elements.
    """
    rank = len(sums.shape)
    layout = channels_last("n", rank) if lanes == 1 else aligned_channels_last("n", rank, lanes)
    return in_registers(s, sums, root, layout=layout)


def in_registers(s: Schedule, sums: Tensor, root: Tensor, **options: str) -> Tensor:
    """Return the stage of sums in the registers of a thread, which writes `root`.

    `options` may be a `layout`; by default, sums are row-major.
    """
    if root.op == sums.op:
        return s.cache_write(sums, "local", **options)
    s[sums].set_scope("local", **options)
    return sums


def pixel_axes(axes: list[IterVar]) -> tuple[list[IterVar], IterVar | None, IterVar]:
    """Return the outer axes, the axis of rows and the axis of columns of ``[n, o, *spatial]``."""
    n, _, *spatial = axes
    columns = spatial.pop()
    rows = spatial.pop() if spatial else None
    return [n, *spatial], rows, columns


def along_columns(axes: Sequence[_T], extents: Sequence[Any]) -> list[_T]:
    """Return spatial axes so that the last one has several elements, if one has, given extents.

    Windows that slide along rows only have a single column.
    """
    place = next((i for i in reversed(range(len(axes))) if extents[i] != 1), len(axes) - 1)
    return [*axes[:place], *axes[place + 1 :], axes[place]]


def vectorize(stage: Stage, axis: IterVar, lanes: int) -> None:
    """Vectorize an axis of `lanes` iterations, unless there is only one."""
    if lanes > 1:
        stage.vectorize(axis)
    else:
        stage.unroll(axis)


__all__ = ["along_columns", "in_registers", "kept_sums", "pixel_axes", "vectorize"]
