"""Schedules of depthwise convolutions with channels last: each channel has its own filter."""

from __future__ import annotations

from ...._core import IterVar, Schedule, Tensor
from .convolution import ConvolutionTile, bind_pixels, kept_sums, vectorize, weight_layout_of
from .layouts import channels_last


def schedule_depthwise(s: Schedule, sums: Tensor, root: Tensor, tile: ConvolutionTile) -> IterVar:
    """Schedule the sums of a depthwise convolution, and what is computed from them.

    A thread keeps the pixels and the filters of its tile in registers. The parameters and the
    result are those of :func:`.convolution.schedule_convolution`; the tile has no slices.
    """
    local = kept_sums(s, sums, root)
    thread = bind_pixels(s[root], tile, is_flat=False)
    s[local].compute_at(s[root], thread)
    pixels, weight = local.op.input_tensors
    rank = len(root.shape)
    s[pixels].set_scope("local", layout=channels_last("n", len(pixels.shape)))
    weights = s.cache_read(weight, "local", [local], layout=weight_layout_of(rank))
    for each, channel in ((pixels, 1), (weights, 0), (local, 1)):
        stage = s[each]
        stage.compute_at(s[root], thread)
        axes = list(stage.op.axis)
        group, lane = stage.split(axes.pop(channel), tile.lanes)
        reduced = list(stage.op.reduce_axis)
        stage.reorder(*reduced, *axes, group, lane)
        for axis in (*reduced, *axes, group):
            stage.unroll(axis)
        vectorize(stage, lane, tile.lanes)
    return thread


__all__ = ["schedule_depthwise"]
