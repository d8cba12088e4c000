"""The tile of attention in one kernel, for GPUs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from ...._core import TargetValue
from ....profiles import profile_of
from ...attention import BlockTile, Sizes
from ...attention.block_kernel import DOWN, THREADS
from ..family import Spaces

_TILES = (BlockTile(4, 2), BlockTile(2, 4), BlockTile(2, 2), BlockTile(1, 2), BlockTile(1, 1))
"""Tiles from which the first one is chosen that fits a device, fills it, and has few empty rows."""
_BLOCKS = 1.5
"""The blocks of a processor below which smaller tiles are faster, by nine sizes on an NVIDIA H200:
12 heads of 128 queries take 16 us with 48 blocks of tiles of 4 rows, 10 us with 96 of 2 rows."""
_MOST_SUMS = 32
"""The most sums of a thread, which are in registers."""
_LEAST_ROWS = 4
"""Fewer queries leave over half of the threads of each block without work."""


@dataclass(frozen=True)
class Attention:
    """The facts of attention in one kernel.

    Attributes
    ----------
    sizes : Sizes
    shared_bytes : int
        The most shared memory of a block.
    processors : int
    """

    sizes: Sizes
    shared_bytes: int
    processors: int

    @classmethod
    def of(cls, sizes: Sizes, wide: str, target: TargetValue) -> Attention | None:
        """Return the facts, given the type of the sums; None where separate kernels are faster."""
        profile = profile_of(target)
        if not profile.has_fast_shared_memory or target.max_threads < THREADS:
            return None
        if wide != "float32" or sizes.rows < _LEAST_ROWS or sizes.keys == 0:
            return None
        return cls(sizes, target.local_memory_bytes, profile.processors)


class BlockTiles(Spaces[Attention, BlockTile]):
    """Tiles of attention, the largest first."""

    name = "attention in blocks"

    def points(self, facts: Attention) -> Iterator[tuple[BlockTile, str | None]]:
        """Yield all tiles."""
        for tile in _TILES:
            yield tile, _broken_by(tile, facts)


def _broken_by(tile: BlockTile, facts: Attention) -> str | None:
    """Return the rule that a tile breaks, or None."""
    sizes = facts.sizes
    if (tile.rows - 1) * DOWN >= sizes.rows:
        return "empty rows"
    # All processors should have enough blocks of the largest tiles.
    blocks = prod(sizes.batch) * -(-sizes.rows // (tile.rows * DOWN))
    if tile.rows == _TILES[0].rows and blocks < _BLOCKS * facts.processors:
        return "few blocks"
    if tile.shared_bytes(sizes) > facts.shared_bytes:
        return "shared memory"
    return "registers" if tile.sums(sizes) > _MOST_SUMS else None


ATTENTION = BlockTiles()

__all__ = ["ATTENTION", "Attention", "BlockTiles"]
