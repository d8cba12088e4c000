"""Schedules of products by matrix fragments, which SIMD-groups of a GPU multiply.

A block computes a tile of the product. In each step its threads copy some rows and columns of the
factors into shared memory, those of later steps while its SIMD-groups multiply fragments. Threads
read the sums in shared memory, and write the results. The terms of a step may be divided
into slices, one for each group of SIMD-groups of the block. If there are few tiles, the steps of
the sum are divided into pieces, which blocks compute. They are added up in order, by the last block
of a tile to be done with its piece or by a second kernel, as those of gpu/products.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from .... import te
from ...._core import IterVar, Schedule, Stage, Tensor
from ....tir.fragments import FRAGMENT_SIDE
from ...divisors import vector_lanes
from ..channels_last.axes import vectorize
from .product_axes import ProductAxes

THREADS = 32
"""The threads of a SIMD-group, which hold fragments together."""
_PAD = 8  # elements after a row in shared memory, so that rows are in different banks


@dataclass(frozen=True)
class FragmentTile:
    """How a product is divided among SIMD-groups.

    Attributes
    ----------
    parts : (int, int)
        Fragments of sums of a SIMD-group along rows and columns.
    groups : (int, int)
        SIMD-groups of a block along rows and columns.
    steps : int
        Steps in shared memory.
    slices : int
        Slices of these steps, which groups of SIMD-groups sum up.
    pieces : int
        Pieces of all steps, which blocks sum up.
    stages : int
        Parts of the factors in flight: two by way of registers, more by asynchronous copies.
    has_one_kernel : bool
        Whether the last block of a tile adds up several pieces, not a second kernel.
    """

    parts: tuple[int, int]
    groups: tuple[int, int]
    steps: int
    slices: int = 1
    pieces: int = 1
    stages: int = 2
    has_one_kernel: bool = False

    @property
    def block(self) -> tuple[int, int]:
        """Rows and columns of a block."""
        down, across = (
            FRAGMENT_SIDE * own * count for own, count in zip(self.parts, self.groups, strict=True)
        )
        return down, across

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return THREADS * prod(self.groups) * self.slices

    def lanes_written(self, most: int) -> int:
        """Return the lanes of vectors of a block that divide evenly among its threads."""
        own = FRAGMENT_SIDE**2 * prod(self.parts) // (THREADS * self.slices)
        return vector_lanes(own, most)

    def shared_bytes(self, factor_bytes: int = 2) -> int:
        """Return the bytes of shared memory: some steps of the factors, and all slices' sums.

        `factor_bytes`: of an element of a factor. Four bytes say whether a block is the last.
        """
        down, across = self.block
        factors = max(
            down * (self.steps + _PAD) + self.steps * (across + _PAD),
            # With transposed factors.
            self.steps * (down + _PAD) + across * (self.steps + _PAD),
        )
        sums = down * (across + _PAD) * self.slices if self.pieces == 1 else 0
        return self.stages * factor_bytes * factors + 4 * (sums + self.has_one_kernel)


def schedule_fragments(
    s: Schedule, sums: Tensor, root: Tensor, axes: ProductAxes, tile: FragmentTile
) -> IterVar:
    """Schedule a product, and later stages of the same kernel.

    Parameters
    ----------
    s : Schedule
    sums : Tensor
        Sums in float32 of products of float16, or of float32 if the target multiplies these;
        stages that they read must be inlined.
    root : Tensor
        The stage that the kernel writes; stages between `sums` and `root` must be inlined.
    axes : ProductAxes
    tile : FragmentTile

    Returns
    -------
    IterVar
        The innermost axis of threads.
    """
    down, across = tile.block
    left, right, product = s.matrices(
        sums,
        axes.rows,
        axes.columns,
        axes.steps,
        (down, across, tile.steps * tile.pieces),
        row_extents=list(axes.row_extents),
        left_transposed=axes.transposed[0],
        right_transposed=axes.transposed[1],
    )
    if sums.op != root.op:
        s[sums].compute_inline()
    factors = [left, right]
    if tile.pieces > 1:
        piece, _ = s[product].split(s[product].op.reduce_axis[0], nparts=tile.pieces)
        parts = s.rfactor(product, piece)
        s[product].set_scope("local")
        if tile.has_one_kernel:
            block, thread, turn = _bind_blocks(s[root], axes, tile)
            s[product].compute_at(s[root], turn)
            _add_up(s[product], tile.lanes_written(axes.lanes))
            s[parts].set_scope("global")
            s[parts].compute_at(s[root], block)
            _sum_pieces(s, parts, factors, axes, tile)
            return thread
        _sum_pieces(s, parts, factors, axes, tile)
        thread = _bind_elements(s[root], axes)
        s[product].compute_at(s[root], thread)
        _add_up(s[product], axes.lanes)
        return thread
    block, thread, turn = _bind_blocks(s[root], axes, tile)
    shared = product
    if tile.slices > 1:
        _, inner = s[product].split(s[product].op.reduce_axis[0], tile.steps)
        own, _ = s[product].split(inner, nparts=tile.slices)
        shared = s.rfactor(product, own)
        s[product].set_scope("local")
        s[product].compute_at(s[root], turn)
        _add_up(s[product], tile.lanes_written(axes.lanes))
    local = s.cache_write(shared, "fragment")
    s[shared].set_scope("shared")
    s[shared].storage_align(s[shared].op.axis[-2], 2 * _PAD, _PAD)
    s[shared].compute_at(s[root], block)
    s[local].compute_at(s[shared], _bind_parts(s[shared], tile))
    _accumulate(s, local, factors, axes, tile)
    return thread


def _sum_pieces(
    s: Schedule, parts: Tensor, factors: list[Tensor], axes: ProductAxes, tile: FragmentTile
) -> None:
    """Compute the sums of each piece, of all rows and columns of tiles."""
    local = s.cache_write(parts, "fragment")
    piece, *others, row, column = s[parts].op.axis
    block_row, row = s[parts].split(row, tile.block[0])
    block_column, column = s[parts].split(column, tile.block[1])
    s[parts].reorder(piece, *others, block_row, block_column, row, column)
    if tile.has_one_kernel:  # inside of a loop over tiles
        s[parts].bind(piece, te.thread_axis("blockIdx.z"))
    else:
        s[parts].bind(s[parts].fuse(piece, *others, block_row), te.thread_axis("blockIdx.x"))
        s[parts].bind(block_column, te.thread_axis("blockIdx.y"))
    s[local].compute_at(s[parts], _bind_tile(s[parts], [], row, column, tile))
    _accumulate(s, local, factors, axes, tile)


def _bind_blocks(
    stage: Stage, axes: ProductAxes, tile: FragmentTile
) -> tuple[IterVar, IterVar, IterVar]:
    """Give each block its tile of the written stage, and each thread some vectors of the tile.

    Returns the axes of blocks, of threads, and of the vectors of a thread.
    """
    row, column = axes.written(stage)
    others = [axis for axis in stage.leaf_iter_vars if axis not in (row, column)]
    # Stages attached to the block compute whole tiles.
    block_row, row = stage.split(row, tile.block[0], exact=True)
    block_column, column = stage.split(column, tile.block[1], exact=True)
    lanes = tile.lanes_written(axes.lanes)
    column, lane = stage.split(column, lanes)
    stage.reorder(*others, block_row, block_column, row, column, lane)
    turn, thread = stage.split(stage.fuse(row, column), tile.threads)
    group, thread = stage.split(thread, THREADS)
    stage.reorder(block_column, group, thread, turn, lane)
    stage.bind(stage.fuse(*others, block_row), te.thread_axis("blockIdx.x"))
    stage.bind(block_column, te.thread_axis("blockIdx.y"))
    _bind_threads(stage, group, thread)
    stage.unroll(turn)
    vectorize(stage, lane, lanes)
    return block_column, thread, turn


def _bind_elements(stage: Stage, axes: ProductAxes) -> IterVar:
    """Give each thread a vector of elements; return the axis of threads."""
    row, column = axes.written(stage)
    others = [axis for axis in stage.leaf_iter_vars if axis not in (row, column)]
    column, lane = stage.split(column, axes.lanes)
    stage.reorder(*others, row, column, lane)
    block, thread = stage.split(stage.fuse(*others, row, column), 4 * THREADS)
    stage.bind(block, te.thread_axis("blockIdx.x"))
    stage.bind(thread, te.thread_axis("threadIdx.x"))
    vectorize(stage, lane, axes.lanes)
    return thread


def _bind_threads(stage: Stage, group: IterVar, thread: IterVar) -> None:
    stage.bind(group, te.thread_axis("threadIdx.y"))
    stage.bind(thread, te.thread_axis("threadIdx.x"))


def _bind_parts(stage: Stage, tile: FragmentTile) -> IterVar:
    """Give each SIMD-group its parts of the sums of a block; return the axis of SIMD-groups."""
    *others, row, column = stage.op.axis
    slices = others[:1] if tile.slices > 1 else []
    stage.reorder(*others[len(slices) :], *slices, row, column)
    return _bind_tile(stage, slices, row, column, tile)


def _bind_tile(
    stage: Stage, slices: list[IterVar], row: IterVar, column: IterVar, tile: FragmentTile
) -> IterVar:
    group_row, row = stage.split(row, FRAGMENT_SIDE * tile.parts[0])
    group_column, column = stage.split(column, FRAGMENT_SIDE * tile.parts[1])
    own, (row, column) = _split_parts(stage, row, column)
    stage.reorder(*slices, group_row, group_column, *own, row, column)
    group = stage.fuse(*slices, group_row, group_column)
    stage.bind(group, te.thread_axis((0, tile.threads // THREADS), "threadIdx.y"))
    stage.tensorize(row, "fragment.store")
    return group


def _split_parts(
    stage: Stage, row: IterVar, column: IterVar
) -> tuple[tuple[IterVar, IterVar], tuple[IterVar, IterVar]]:
    """Split rows and columns into parts, which are unrolled; return axes of parts and inside."""
    own_row, row = stage.split(row, FRAGMENT_SIDE)
    own_column, column = stage.split(column, FRAGMENT_SIDE)
    stage.unroll(own_row)
    stage.unroll(own_column)
    return (own_row, own_column), (row, column)


def _accumulate(
    s: Schedule, sums: Tensor, factors: list[Tensor], axes: ProductAxes, tile: FragmentTile
) -> None:
    """Schedule the steps of a SIMD-group: copies to shared memory, to fragments, and products."""
    stage = s[sums]
    fragments = [s.cache_read(each, "fragment", [sums]) for each in factors]
    *others, row, column = stage.op.axis
    if tile.slices > 1:
        outer, inner = stage.op.reduce_axis
    else:
        outer, inner = stage.split(stage.op.reduce_axis[-1], tile.steps)
    inner, step = stage.split(inner, FRAGMENT_SIDE)
    own, (row, column) = _split_parts(stage, row, column)
    stage.reorder(outer, inner, *others, *own, row, column, step)
    stage.unroll(inner)
    stage.tensorize(row, "fragment.mma")
    for each in fragments:
        s[each].compute_at(stage, inner)
        *_, row, column = s[each].op.axis
        own, (row, column) = _split_parts(s[each], row, column)
        s[each].reorder(*own, row, column)
        s[each].tensorize(row, "fragment.load")
    for each, lanes in zip(factors, axes.loaded, strict=True):
        s[each].set_scope("shared")
        s[each].compute_at(stage, outer)
        _copy(s[each], tile, lanes)
        s[each].pipeline(tile.stages, asynchronous=tile.stages > 2)
        s[each].storage_align(s[each].op.axis[-2], 2 * _PAD, _PAD)


def _copy(stage: Stage, tile: FragmentTile, lanes: int) -> None:
    """Let the threads of a block copy vectors of a part of a factor."""
    *others, last = stage.op.axis
    last, lane = stage.split(last, lanes)
    turn, thread = stage.split(stage.fuse(*others, last), tile.threads)
    group, thread = stage.split(thread, THREADS)
    _bind_threads(stage, group, thread)
    stage.unroll(turn)
    vectorize(stage, lane, lanes)


def _add_up(stage: Stage, lanes: int) -> None:
    """Let a thread add up the parts of a vector in order."""
    stage.unroll(stage.op.reduce_axis[0])
    _, lane = stage.split(stage.op.axis[-1], lanes)
    vectorize(stage, lane, lanes)


__all__ = ["THREADS", "FragmentTile", "schedule_fragments"]
