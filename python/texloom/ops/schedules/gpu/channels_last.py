"""Schedules of convolutions with channels last."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...._core import IterVar, Schedule, TargetValue, Tensor
from ...contraction import Contraction, is_depthwise
from ..channels_last.layouts import weight_layout as outputs_last
from .convolution import ConvolutionTile, schedule_convolution
from .depthwise import schedule_depthwise
from .separable import schedule_separable, separable_sums, separable_tile, taps_of
from .tiles import BlockLimits, ConvolutionShape, tile_for


def schedule_channels_last(
    s: Schedule, sums: Tensor, root: Tensor, target: TargetValue
) -> tuple[IterVar, list[Tensor]]:
    """Schedule a convolution whose weights have a layout.

    Returns the axis of threads, and the stages that are scheduled.
    """
    pixels = sums.op.input_tensors[0]
    tile = tile_for(ConvolutionShape.of(sums, root), BlockLimits.of(target))
    assert tile is not None
    thread = schedule_with(s, sums, root, tile)
    return thread, [sums, root, pixels]


def weight_layout(sums: Tensor, output: Tensor, target: TargetValue) -> str | None:
    """Return the layout of the weights of a convolution whose sums have channels last.

    None if it must not have them: each of several groups has to have one channel, and there has to
    be a tile.
    """
    roles = Contraction.of(sums)
    assert roles is not None
    weight = sums.op.input_tensors[1]
    if roles.rows_per_group != int(weight.shape[0]) and not is_depthwise(sums):
        return None
    if tile_for(ConvolutionShape.of(sums, output), BlockLimits.of(target)) is None:
        return None
    return outputs_last(len(weight.shape))


def schedule_joined(
    s: Schedule, stages: Sequence[Tensor], root: Tensor, target: TargetValue
) -> IterVar | None:
    """Schedule a depthwise and another convolution as one kernel, if this is what stages compute.

    Stages that are neither sums nor read by sums must be inlined, except `root`, which is written.
    """
    found = separable_sums(stages)
    if found is None:
        return None
    depthwise, sums = found
    shape, limits = ConvolutionShape.of(sums, root), BlockLimits.of(target)
    tile = separable_tile(taps_of(depthwise), shape, limits)
    return None if tile is None else schedule_separable(s, depthwise, sums, root, tile)


def schedule_with(s: Schedule, sums: Tensor, root: Tensor, tile: ConvolutionTile) -> IterVar:
    """Schedule such a convolution with a given tile."""
    schedule: Callable[..., IterVar]
    schedule = schedule_depthwise if is_depthwise(sums) else schedule_convolution
    return schedule(s, sums, root, tile)


__all__ = ["schedule_channels_last", "schedule_joined", "schedule_with", "weight_layout"]
