"""Convolutions with channels last, with the tile for their shape."""

from __future__ import annotations

from math import prod

from ...._core import IterVar, Schedule, TargetValue, Tensor
from ...contraction import Contraction
from ..channels_last.layouts import blocked_weight_layout
from .convolution import copies_pixels, schedule_convolution
from .registers import Registers
from .tiles import PixelBlock, PixelTile


def schedule_channels_last(
    s: Schedule, sums: Tensor, root: Tensor, target: TargetValue, is_row_major: bool
) -> tuple[IterVar, list[Tensor]]:
    """Schedule a convolution that has a tile, of pixels with channels last or row-major ones.

    See :func:`.convolution.schedule_convolution`.
    """
    tile = PixelTile.of(sums, root, Registers.of(target, sums.dtype))
    assert tile is not None
    block = PixelBlock.of(sums, root, tile) if target.kind == "llvm" else None
    return schedule_convolution(s, sums, root, tile, block, is_row_major)


def suits_row_major(sums: Tensor, root: Tensor, target: TargetValue) -> bool:
    """Whether a convolution of row-major pixels to row-major pixels had better copy them.

    Vectors of pixels are those of a row, or of all pixels if windows are single elements. If they
    do not divide them, tiles of vectors of channels are faster, and pay for the copy.
    """
    roles = Contraction.of(sums)
    if target.kind != "llvm" or roles is None or roles.rows_per_group == 1:
        return False
    lanes = Registers.of(target, sums.dtype).bytes // 4
    is_flat = len(sums.shape) < len(root.shape)
    columns = prod(map(int, root.shape[2 if is_flat else -1 :]))
    return copies_pixels(sums) and columns % lanes != 0


def weight_layout(sums: Tensor, output: Tensor, target: TargetValue) -> str | None:
    """Return the layout of the weights of a convolution; None if it has no tile."""
    tile = PixelTile.of(sums, output, Registers.of(target, sums.dtype))
    rank = len(sums.op.input_tensors[1].shape)
    return None if tile is None else blocked_weight_layout(rank, tile.channels)


__all__ = ["schedule_channels_last", "suits_row_major", "weight_layout"]
