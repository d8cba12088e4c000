"""Convolutions with channels last, with the tile for their shape."""

from __future__ import annotations

from ...._core import IterVar, Schedule, TargetValue, Tensor
from ..channels_last.layouts import blocked_weight_layout
from .convolution import schedule_convolution
from .registers import Registers
from .tiles import PixelBlock, PixelTile


def schedule_channels_last(
    s: Schedule, sums: Tensor, root: Tensor, target: TargetValue
) -> tuple[IterVar, list[Tensor]]:
    """Schedule a convolution that has a tile; see :func:`.convolution.schedule_convolution`."""
    tile = PixelTile.of(sums, root, Registers.of(target, sums.dtype))
    assert tile is not None
    block = PixelBlock.of(sums, root, tile) if target.kind == "llvm" else None
    return schedule_convolution(s, sums, root, tile, block)


def weight_layout(sums: Tensor, output: Tensor, target: TargetValue) -> str | None:
    """Return the layout of the weights of a convolution; None if it has no tile."""
    tile = PixelTile.of(sums, output, Registers.of(target, sums.dtype))
    rank = len(sums.op.input_tensors[1].shape)
    return None if tile is None else blocked_weight_layout(rank, tile.channels)


__all__ = ["schedule_channels_last", "weight_layout"]
