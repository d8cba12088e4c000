"""The kernel of attention for GPUs, and its tile."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf, prod

from ...._core import TargetValue
from ....profiles import DeviceProfile, profile_of
from ...attention import BlockTile, FragmentBlock, Heads, KeySlices, Sizes
from ...attention.block_kernel import ACROSS, DOWN, THREADS
from ...precision import sum_dtype
from ..family import Spaces
from .fragment_attention import FRAGMENTS, FragmentAttention
from .slice_attention import SLICES, SliceAttention

_TILES = (BlockTile(4, 2), BlockTile(2, 4), BlockTile(2, 2), BlockTile(1, 2), BlockTile(1, 1))
"""Tiles from which the first one is chosen that fits a device, fills it, and has few empty rows."""
_BLOCKS = 1.5
"""The blocks of a processor below which smaller tiles are faster, by nine sizes on an NVIDIA H200:
12 heads of 128 queries take 16 us with 48 blocks of tiles of 4 rows, 10 us with 96 of 2 rows."""
_MOST_SUMS = 32
"""The most sums of a thread, which are in registers."""
_LEAST_ROWS = 4
"""Fewer queries leave over half of the threads of each block without work."""
_PRODUCT = 2.0
"""Latencies of a fused product in which a thread makes one, with its loads, if other threads do not
delay it: 12 heads of 197 queries of 64 elements take 21.5 us on an NVIDIA H200."""
_REGISTERS = 80  # of a thread, next to its sums


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

    def seconds(self, facts: Attention, knobs: BlockTile, profile: DeviceProfile) -> float:
        """Return the time of all blocks, to be compared with other kernels."""
        sizes = facts.sizes
        blocks = prod(sizes.batch) * -(-sizes.rows // (knobs.rows * DOWN))
        held = profile.held_blocks(
            THREADS, knobs.shared_bytes(sizes), _REGISTERS + knobs.sums(sizes)
        )
        own = -(-blocks // profile.processors)
        keys = -(-sizes.keys // (knobs.keys * ACROSS)) * knobs.keys * ACROSS
        products = knobs.rows * DOWN * keys * (sizes.depth + sizes.width)
        alone = -(-own // held) * products / THREADS * profile.fma_seconds
        busy = own * products * profile.processors / profile.fma_rate
        return float(profile.launch_seconds + _PRODUCT * max(alone, busy))


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


def tile_for(
    sizes: Sizes, dtypes: Sequence[str], target: TargetValue, heads: Heads | None = None
) -> BlockTile | FragmentBlock | KeySlices | None:
    """Return the tile of the kernel that is estimated to be the fastest.

    Parameters
    ----------
    sizes : Sizes
    dtypes : sequence of str
        The types of queries, keys and values.
    target : TargetValue
    heads : Heads, optional
        Heads of queries that share keys.

    Returns
    -------
    BlockTile, FragmentBlock, KeySlices or None
        None where separate kernels are faster.
    """
    profile = profile_of(target)
    blocks = Attention.of(sizes, sum_dtype(dtypes[0]), target)
    tile: BlockTile | FragmentBlock | KeySlices | None
    tile = None if blocks is None else ATTENTION.best(blocks, profile)
    limit = inf if blocks is None or tile is None else ATTENTION.seconds(blocks, tile, profile)
    is_half = all(each == "float16" for each in dtypes)
    fragments = FragmentAttention.of(sizes, target) if is_half else None
    slices = SliceAttention.of(sizes, heads, dtypes[1], target)
    for spaces, facts in ((FRAGMENTS, fragments), (SLICES, slices)):
        if facts is None:
            continue
        seconds = spaces.least_seconds(facts, profile)
        if seconds < limit:
            tile, limit = spaces.best(facts, profile), seconds
    return tile


__all__ = ["ATTENTION", "Attention", "BlockTiles", "tile_for"]
