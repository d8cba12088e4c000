"""Schedules of depthwise convolutions with channels last: each channel has its own filter."""

from __future__ import annotations

from ...._core import IterVar, Schedule, Stage, Tensor
from ..channels_last.axes import kept_sums, vectorize
from ..channels_last.layouts import channels_last
from .convolution import ConvolutionTile, bind_pixels, weight_layout_of


def schedule_depthwise(s: Schedule, sums: Tensor, root: Tensor, tile: ConvolutionTile) -> IterVar:
    """Schedule the sums of a depthwise convolution, and the stages computed from them.

    A thread keeps the pixels and the filters of its tile in registers. The parameters and the
    result are those of :func:`.convolution.schedule_convolution`; the tile has no slices.
    """
    local = kept_sums(s, sums, root)
    _, thread = bind_pixels(s[root], tile, is_flat=False)
    s[local].compute_at(s[root], thread)
    keep_in_thread(s, local, s[root], thread, tile.lanes)
    return thread


def keep_in_thread(s: Schedule, sums: Tensor, reader: Stage, thread: IterVar, lanes: int) -> None:
    """Keep the pixels and the filters of depthwise sums in the registers of a thread.

    Parameters
    ----------
    s : Schedule
    sums : Tensor
        A stage in the registers of a thread.
    reader : Stage
        The stage that is computed from the sums.
    thread : IterVar
        The thread axis of `reader`.
    lanes : int
        Neighboring channels that are computed as a vector.
    """
    pixels, weight = sums.op.input_tensors
    s[pixels].set_scope("local", layout=channels_last("n", len(pixels.shape)))
    weights = s.cache_read(weight, "local", [sums], layout=weight_layout_of(len(weight.shape)))
    for each, channel in ((pixels, 1), (weights, 0), (sums, 1)):
        stage = s[each]
        stage.compute_at(reader, thread)
        axes = list(stage.op.axis)
        group, lane = stage.split(axes.pop(channel), lanes)
        reduced = list(stage.op.reduce_axis)
        stage.reorder(*reduced, *axes, group, lane)
        for axis in (*reduced, *axes, group):
            stage.unroll(axis)
        vectorize(stage, lane, lanes)


__all__ = ["keep_in_thread", "schedule_depthwise"]
