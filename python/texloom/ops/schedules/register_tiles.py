"""Sums of products by register tiles: a thread computes some rows and columns.

The factor of a row is one number for all columns of the tile, and the factors of the columns are
vectors that all rows share, so that each loaded element is used many times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ... import te
from ..._core import IterVar, Schedule, Stage, Tensor
from ...extents import likely, product
from ..contraction import Contraction
from .channels_last.axes import in_registers

ROWS = 8
"""The most rows of a tile: with two vectors of columns they fill half of 32 vector registers.

Tiles of few rows have more vectors instead.
"""
UNROLLED = 128
"""The most statements of unrolled taps of a window: more take long to compile."""


@dataclass(frozen=True)
class Tile:
    """The elements that a thread computes, and the number of threads of a block.

    Attributes
    ----------
    rows : int
    vectors : int
        Vectors along the columns.
    lanes : int
        Columns of a vector.
    threads : (int, int)
        Threads of a block along rows and columns.
    is_unrolled : bool, optional
        Whether each element of the tile has statements of its own. If not, rows and stores are
        loops: where each statement has bounds tests, because columns may end anywhere in the tile,
        the code is then a ninth, and as fast on processors.
    """

    rows: int
    vectors: int
    lanes: int
    threads: tuple[int, int]
    is_unrolled: bool = True


def schedule_tiles(s: Schedule, sums: Tensor, root: Tensor, tile: Tile, written: int) -> IterVar:
    """Give each tile a thread; return the innermost axis of threads.

    Parameters
    ----------
    s : Schedule
    sums : Tensor
        A reduction with a :class:`texloom.ops.contraction.Contraction`.
    root : Tensor
        The stage that the kernel writes, as for :class:`.contraction.RegisterTiles`.
    tile : Tile
    written : int
        Columns of `root`; `sums` may have more columns, which are computed but not written.
    """
    roles = Contraction.of(sums)
    assert roles is not None
    local = in_registers(s, sums, root)
    thread = _bind_tiles(s, root, len(sums.shape), roles, tile, written)
    s[local].compute_at(s[root], thread)
    _schedule_sums(s[local], tile)
    return thread


def lanes_of(columns: int, most: int) -> int:
    """Return the lanes of a vector: the greatest power of two that divides the columns.

    Vectors of fewer than four lanes are not faster.
    """
    lanes = most
    while columns % lanes:
        lanes //= 2
    return lanes if lanes >= 4 else 1


def even_rows(rows: int, per_group: int, most: int = ROWS) -> int:
    """Return the number of rows of a tile, so that few are beyond the last row or their group."""
    within = rows if per_group >= rows else per_group
    if within <= most:
        return within
    if within < rows:
        return max(n for n in range(1, most + 1) if within % n == 0)
    return min(range(most, most // 2, -1), key=lambda n: -rows % n)


def _bind_tiles(
    s: Schedule, root: Tensor, rank: int, roles: Contraction, tile: Tile, written: int
) -> IterVar:
    """Bind the tiles of the written stage to threads; return the innermost thread axis."""
    stage = s[root]
    axes = list(stage.op.axis)
    columns, rest = stage.fuse(*axes[rank - 1 :]), axes[: rank - 1]
    rows = None
    if roles.rows is not None:
        rows, row = stage.split(rest.pop(roles.rows), tile.rows)
        rows, thread_y = stage.split(rows, tile.threads[0])
    columns, column = stage.split(columns, tile.vectors * tile.lanes)
    vector, lane = stage.split(column, tile.lanes)
    columns, thread_x = stage.split(columns, tile.threads[1])
    inner = [vector, lane]
    threads = [thread_x]
    if rows is not None:
        inner.insert(0, row)
        threads.insert(0, thread_y)
        stage.bind(thread_y, te.thread_axis("threadIdx.y"))
        rest.append(rows)
    stage.reorder(*rest, columns, *threads, *inner)
    # Columns are not fused with other axes, so that a tile that crosses the end of an image's row
    # is provably small. Devices have at most 65,535 blocks along y, so the axis with fewer blocks
    # is bound to y.
    across = -(-written // (tile.vectors * tile.lanes * tile.threads[1]))
    others = likely(product(root.shape[: rank - 1])) // (tile.rows * tile.threads[0])
    x, y = te.thread_axis("blockIdx.x"), te.thread_axis("blockIdx.y")
    stage.bind(columns, x if across >= others else y)
    if rest:
        stage.bind(stage.fuse(*rest), y if across >= others else x)
    stage.bind(thread_x, te.thread_axis("threadIdx.x"))
    if tile.is_unrolled:
        _unroll(stage, inner[:-1])
        _vectorize(stage, lane, tile.lanes if written % tile.lanes == 0 else 1)
    return thread_x


def _schedule_sums(stage: Stage, tile: Tile) -> None:
    """Order the loops of the sums in a thread: reductions, rows, columns."""
    axes = list(stage.op.axis)
    reduced = list(stage.op.reduce_axis)
    vector, lane = stage.split(axes.pop(), tile.lanes)
    stage.reorder(*reduced, *axes, vector, lane)
    if not tile.is_unrolled:
        stage.unroll(vector)
        return
    _unroll(stage, [*axes, vector])
    _vectorize(stage, lane, tile.lanes)
    taps = [_extent(axis) for axis in reduced]
    statements = tile.rows * tile.vectors
    for count, loop in zip(reversed(taps[1:]), reversed(reduced[1:]), strict=True):
        statements *= count
        if statements > UNROLLED:
            break
        stage.unroll(loop)


def _extent(axis: IterVar) -> int:
    return likely(axis.dom.extent)


def _unroll(stage: Stage, axes: Sequence[IterVar]) -> None:
    for axis in axes:
        stage.unroll(axis)


def _vectorize(stage: Stage, axis: IterVar, lanes: int) -> None:
    if lanes > 1:
        stage.vectorize(axis)
    else:
        stage.unroll(axis)


__all__ = ["ROWS", "Tile", "even_rows", "lanes_of", "schedule_tiles"]
