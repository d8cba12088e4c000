"""Tiles of sums of products from row-major buffers."""

from __future__ import annotations

from math import prod

from ..._core import Tensor
from ...extents import likely
from ...profiles import DeviceProfile
from ..contraction import Contraction
from .register_tiles import Tile, even_rows, lanes_of


def gpu_tile(sums: Tensor, written: int, profile: DeviceProfile, threads: int) -> Tile:
    """Return the tile for sums of which `written` columns are written.

    A block has at most 128 threads, and at most `threads`. If there would be fewer threads than
    keep the device busy, tiles have fewer rows.
    """
    roles = Contraction.of(sums)
    assert roles is not None
    extents = [likely(extent) for extent in sums.shape]
    rows = extents[roles.rows] if roles.rows is not None else 1
    lanes = lanes_of(extents[-1], 16 // (8 if sums.dtype.endswith("64") else 4))
    own_rows = even_rows(rows, roles.rows_per_group)
    vectors = max(1, min(4 if lanes == 1 else 1, written // lanes))
    while lanes > written:
        lanes //= 2
    across = -(-written // (vectors * lanes))
    tiles = prod(extents[:-1]) // rows * across
    while own_rows > 1 and tiles * (rows // own_rows) < profile.busy_threads:
        own_rows //= 2
    across = min(32, threads, across)
    down = max(1, min(min(128, threads) // across, -(-rows // own_rows)))
    return Tile(own_rows, vectors, lanes, (down, across))


__all__ = ["gpu_tile"]
