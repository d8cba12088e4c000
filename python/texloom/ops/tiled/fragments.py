"""Schedules of products whose tiles stay in registers until their epilogue is computed."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from ... import te
from ..._core import Schedule
from ...extents import plain
from ...target import Mmt4dTile
from ..schedules.places import Places
from .epilogues import Epilogue
from .intrinsic import LIBRARY, mmt4d_intrinsic

SCOPE = "fragment"

LANES = 16
"""The most lanes of a vectorized loop."""

# A tile in registers is summed in one call, which reads the whole panels of both sides. Panels
# that the second level of the cache cannot keep are summed in steps, with sums in memory.
_PANELS_BYTES = 384 << 10
# A panel of the right side is read for so many tiles, one after the other.
_ROW_TILES = 32
# And panels of the left side for so many.
_COLUMN_TILES = 4


def fits_in_registers(epilogue: Epilogue, tile: Mmt4dTile, item: int) -> bool:
    """Return whether the tiles need no memory; `item` is the bytes of an element of the sides."""
    left = epilogue.sums.op.input_tensors[0]
    steps = int(left.shape[-3])
    return steps * tile.k0 * (tile.m0 + tile.n0) * item <= _PANELS_BYTES


def compute_row(stage: te.Stage, columns: te.IterVar, extent: int) -> None:
    """Compute a row of a tile by vectors, each of whose places is known."""
    if extent > LANES:
        vectors, columns = stage.split(columns, factor=LANES)
        stage.unroll(vectors)
    stage.vectorize(columns)


def compute_elements(s: Schedule, epilogue: Epilogue, row: te.IterVar) -> None:
    """Compute an epilogue's elements in the loops of its result.

    What is large and read several times is computed once for each row of a tile, in registers.
    """
    places = Places([*epilogue.inner, epilogue.result], [epilogue.result]).place
    for each in epilogue.inner:
        if places[each.op] == "inline":
            s[each].compute_inline()
            continue
        s[each].set_scope(SCOPE)
        s[each].compute_at(s[epilogue.result], row)
        compute_row(s[each], each.op.axis[-1], int(epilogue.sums.shape[-1]))


def schedule_fragments(
    s: Schedule,
    epilogue: Epilogue,
    tile: Mmt4dTile,
    block_of: Callable[[int, int], int],
    blocks: int,
) -> None:
    """Compute blocks of tiles in parallel: sums, epilogue and result of a tile in registers.

    Parameters
    ----------
    block_of : function
        Returns the part of an extent that a block has, given the extent and the most.
    blocks : int
        How many blocks there have to be, so that no thread idles.
    """
    sums, result = epilogue.sums, epilogue.result
    left, right = sums.op.input_tensors[0], sums.op.input_tensors[-1]
    *batch, m1, n1 = (int(plain(n)) for n in sums.shape[:-2])
    m, n = block_of(m1, _ROW_TILES), block_of(n1, _COLUMN_TILES)
    while n > 1 and prod(batch) * -(-m1 // m) * -(-n1 // n) < blocks:
        n = block_of(n1, n // 2)
    while m > 1 and prod(batch) * -(-m1 // m) * -(-n1 // n) < blocks:
        m = block_of(m1, m // 2)
    *outer, row, column = s[result].op.axis
    row_outer, row = s[result].split(row, factor=m * tile.m0)
    row_tile, row = s[result].split(row, factor=tile.m0)
    column_outer, column = s[result].split(column, factor=n * tile.n0)
    column_tile, column = s[result].split(column, factor=tile.n0)
    s[result].reorder(*outer, row_outer, column_outer, column_tile, row_tile, row, column)
    s[result].parallel(s[result].fuse(*outer, row_outer, column_outer))
    s[result].unroll(row)
    compute_row(s[result], column, tile.n0)
    compute_elements(s, epilogue, row)
    s[sums].set_scope(SCOPE)
    s[sums].compute_at(s[result], row_tile)
    *_, n1_axis, m0_axis, _ = s[sums].op.axis
    steps = int(left.shape[-3])
    s[sums].tensorize(m0_axis, mmt4d_intrinsic(tile, steps, left.dtype, right.dtype))
    s[sums].pragma(n1_axis, "import_library", LIBRARY)


__all__ = ["LANES", "compute_elements", "compute_row", "fits_in_registers", "schedule_fragments"]
