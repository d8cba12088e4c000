"""Schedules of convolutions with channels last."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from .... import te
from ...._core import IterVar, Schedule, TargetValue, Tensor
from ...contraction import is_depthwise
from ..channels_last.layouts import weight_layout as outputs_last
from .convolution import ConvolutionTile, schedule_convolution
from .depthwise import schedule_depthwise
from .separable import schedule_separable, separable_sums, separable_tile, taps_of
from .tiles import BlockLimits, ConvolutionShape, tile_for


def schedule_channels_last(
    s: Schedule,
    sums: Tensor,
    root: Tensor,
    target: TargetValue,
    scopes: Mapping[te.Operation, str],
) -> tuple[IterVar, list[Tensor]]:
    """Schedule a convolution whose weights have a layout.

    `scopes` are where inputs and outputs are stored, which makes no difference here. Returns the
    axis of threads, and the stages that are scheduled.
    """
    del scopes
    pixels = sums.op.input_tensors[0]
    tile = tile_for(ConvolutionShape.of(sums, root), BlockLimits.of(target))
    assert tile is not None
    thread = schedule_with(s, sums, root, tile)
    return thread, [sums, root, pixels]


def weight_layout(sums: Tensor, output: Tensor, target: TargetValue) -> str | None:
    """Return the layout of the weights of a convolution whose sums have channels last.

    None if no tile exists.
    """
    weight = sums.op.input_tensors[1]
    if tile_for(ConvolutionShape.of(sums, output), BlockLimits.of(target)) is None:
        return None
    return outputs_last(len(weight.shape))


def schedule_joined(
    s: Schedule, stages: Sequence[Tensor], root: Tensor, target: TargetValue
) -> IterVar | None:
    """Schedule a depthwise convolution and its reader as one kernel, if the stages match.

    All other stages than the sums, the stages that sums read, and `root` must be inlined.
    """
    found = separable_sums(stages)
    if found is None:
        return None
    depthwise, sums = found
    shape, limits = ConvolutionShape.of(sums, root), BlockLimits.of(target)
    tile = separable_tile(taps_of(depthwise), shape, limits)
    return None if tile is None else schedule_separable(s, depthwise, sums, root, tile)


def schedule_with(s: Schedule, sums: Tensor, root: Tensor, tile: ConvolutionTile) -> IterVar:
    """Schedule a convolution with channels last and a given tile."""
    schedule: Callable[..., IterVar]
    schedule = schedule_depthwise if is_depthwise(sums) else schedule_convolution
    return schedule(s, sums, root, tile)


__all__ = ["schedule_channels_last", "schedule_joined", "schedule_with", "weight_layout"]
