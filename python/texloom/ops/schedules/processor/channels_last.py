"""Convolutions with channels last, with the tile for their shape."""

from __future__ import annotations

from collections.abc import Mapping

from .... import te
from ...._core import IterVar, Schedule, TargetValue, Tensor
from ...contraction import Contraction
from ..channels_last.layouts import blocked_weight_layout
from .convolution import has_vectors_of_channels, schedule_convolution, source_of
from .registers import Registers
from .tiles import PixelBlock, PixelTile, columns_of


def schedule_channels_last(
    s: Schedule,
    sums: Tensor,
    root: Tensor,
    target: TargetValue,
    scopes: Mapping[te.Operation, str],
) -> tuple[IterVar, list[Tensor]]:
    """Schedule a convolution that has a tile; see :func:`.convolution.schedule_convolution`.

    `scopes` are where inputs and outputs are stored: pixels have channels last or are row-major.
    """
    tile = PixelTile.of(sums, root, Registers.of(target, sums.dtype))
    assert tile is not None
    block = PixelBlock.of(sums, root, tile) if target.kind == "llvm" else None
    is_row_major = scopes.get(source_of(sums).op, "global") == "global"
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
    return has_vectors_of_channels(sums.op.input_tensors[0]) and columns_of(sums, root) % lanes != 0


def weight_layout(sums: Tensor, output: Tensor, target: TargetValue) -> str | None:
    """Return the layout of the weights of a convolution; None if it has no tile."""
    tile = PixelTile.of(sums, output, Registers.of(target, sums.dtype))
    rank = len(sums.op.input_tensors[1].shape)
    return None if tile is None else blocked_weight_layout(rank, tile.channels)


__all__ = ["schedule_channels_last", "suits_row_major", "weight_layout"]
