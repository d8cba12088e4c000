"""The tile of attention in one kernel, for GPUs."""

from __future__ import annotations

from math import prod

from ...._core import TargetValue
from ....profiles import DeviceProfile, profile_of
from ...attention import BlockTile, Sizes
from ...attention.block_kernel import DOWN, THREADS

_TILES = (BlockTile(4, 2), BlockTile(2, 4), BlockTile(2, 2), BlockTile(1, 2), BlockTile(1, 1))
"""Tiles from which the first one is chosen that fits a device, fills it, and has few empty rows."""
_BLOCKS = 1.5
"""The blocks of a processor below which smaller tiles are faster, by nine sizes on an NVIDIA H200:
12 heads of 128 queries take 16 us with 48 blocks of tiles of 4 rows, 10 us with 96 of 2 rows."""
_MOST_SUMS = 32
"""The most sums of a thread, which are in registers."""
_LEAST_ROWS = 4
"""Fewer queries leave over half of the threads of each block without work."""


def block_tile(sizes: Sizes, wide: str, target: TargetValue) -> BlockTile | None:
    """Return the tile; None where separate kernels are faster, or where no tile fits.

    Parameters
    ----------
    sizes : Sizes
    wide : str
        The type of the sums.
    target : TargetValue
    """
    profile = profile_of(target)
    if not profile.has_fast_shared_memory or target.max_threads < THREADS:
        return None
    if wide != "float32" or sizes.rows < _LEAST_ROWS or sizes.keys == 0:
        return None
    tiles = (
        tile
        for tile in _TILES
        if (tile.rows - 1) * DOWN < sizes.rows
        and (tile.rows < _TILES[0].rows or _fills(tile, sizes, profile))
        and tile.shared_bytes(sizes) <= target.local_memory_bytes
        and tile.sums(sizes) <= _MOST_SUMS
    )
    return next(tiles, None)


def _fills(tile: BlockTile, sizes: Sizes, profile: DeviceProfile) -> bool:
    """Whether all processors have enough blocks of a tile."""
    blocks = prod(sizes.batch) * -(-sizes.rows // (tile.rows * DOWN))
    return blocks >= _BLOCKS * profile.processors


__all__ = ["block_tile"]
