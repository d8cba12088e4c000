"""Axes and stages of kernels with channels last."""

from __future__ import annotations

from ...._core import IterVar, Schedule, Stage, Tensor
from .layouts import channels_last


def kept_sums(s: Schedule, sums: Tensor, root: Tensor) -> Tensor:
    """Return the stage of sums in the registers of a thread, channels last."""
    layout = channels_last("n", len(sums.shape))
    if root.op == sums.op:
        return s.cache_write(sums, "local", layout=layout)
    s[sums].set_scope("local", layout=layout)
    return sums


def pixel_axes(axes: list[IterVar]) -> tuple[list[IterVar], IterVar | None, IterVar]:
    """Return the outer axes, the axis of rows and the axis of columns of ``[n, o, *spatial]``."""
    n, _, *spatial = axes
    columns = spatial.pop()
    rows = spatial.pop() if spatial else None
    return [n, *spatial], rows, columns


def vectorize(stage: Stage, axis: IterVar, lanes: int) -> None:
    """Vectorize an axis of `lanes` iterations, unless there is only one."""
    if lanes > 1:
        stage.vectorize(axis)
    else:
        stage.unroll(axis)


__all__ = ["kept_sums", "pixel_axes", "vectorize"]
