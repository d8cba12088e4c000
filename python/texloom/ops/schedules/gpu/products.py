"""Schedules of products of matrices for GPUs: tiles in shared memory, and in registers.

A block computes a tile of the product. In each step its threads copy some rows and columns of the
factors into shared memory, those of the next step while they multiply. The terms of a step may be
divided into slices, one for each group of threads of the block, which adds up the slices' sums in
order at the end. If there are few tiles, the steps of the sum are divided into pieces, which blocks
compute. They are added up in order, by the last block of a tile to be done with its piece, or by a
second kernel, where the target has no fence that shows a block what others wrote or where a launch
costs less.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .... import te
from ...._core import IterVar, Schedule, Stage, Tensor
from ....extents import number_of
from ...divisors import vector_lanes
from ..channels_last.axes import in_registers, vectorize
from .product_axes import ProductAxes
from .product_tiles import LANES, PAD, WARP, ProductTile


def schedule_product(s: Schedule, sums: Tensor, root: Tensor, tile: ProductTile) -> IterVar:
    """Schedule a product, and later stages of the same kernel.

    Parameters
    ----------
    s : Schedule
    sums : Tensor
        A product that has a tile.
    root : Tensor
        The stage that the kernel writes; stages between `sums` and `root` must be inlined.
    tile : ProductTile

    Returns
    -------
    IterVar
        The axis of threads.
    """
    factors = list(sums.op.input_tensors)

    def in_shared(reader: Tensor) -> list[Tensor]:
        return [s.cache_read(each, "shared", [reader]) for each in factors]

    return _Product(s, root, tile, _last_axes, in_shared).schedule(sums)


def schedule_matrices(
    s: Schedule, sums: Tensor, root: Tensor, axes: ProductAxes, tile: ProductTile
) -> IterVar:
    """Schedule sums that are a product by their `axes`, as :func:`schedule_product` does.

    Copies of the factors in shared memory are those of whole tiles, with zeros around. Stages that
    the sums read must be inlined.
    """
    left, right, product = s.matrices(
        sums,
        axes.rows,
        axes.columns,
        axes.steps,
        (*tile.block, tile.steps * tile.pieces),
        row_extents=list(axes.row_extents),
        left_transposed=axes.transposed[0],
        right_transposed=axes.transposed[1],
    )
    if sums.op != root.op:
        s[sums].compute_inline()

    def in_shared(reader: Tensor) -> list[Tensor]:
        del reader  # the only one
        for each in (left, right):
            s[each].set_scope("shared")
        return [left, right]

    return _Product(s, root, tile, axes.written, in_shared, is_whole=True).schedule(product)


def _last_axes(stage: Stage) -> tuple[IterVar, IterVar]:
    row, column = stage.op.axis[-2:]
    return row, column


_BindBlocks = Callable[[Stage, list[IterVar], IterVar], None]
"""Binds the axes of blocks: those before the columns, and that of columns."""


@dataclass(frozen=True)
class _Product:
    """The kernel of a product.

    Attributes
    ----------
    s : Schedule
    root : Tensor
        The stage that the kernel writes.
    tile : ProductTile
    written : callable
        Returns the axes of rows and columns of the root's stage.
    in_shared : callable
        Returns the factors in shared memory, for the stage that reads them.
    is_whole : bool
        Whether tiles that end outside of the root are computed as a whole.
    """

    s: Schedule
    root: Tensor
    tile: ProductTile
    written: Callable[[Stage], tuple[IterVar, IterVar]]
    in_shared: Callable[[Tensor], list[Tensor]]
    is_whole: bool = False

    def schedule(self, sums: Tensor) -> IterVar:
        """Schedule the stage of sums; return the axis of threads."""
        s, root, tile = self.s, self.root, self.tile
        if tile.pieces == 1:
            return self._sum_tiles(sums, root, _bind_grid)
        piece, _ = s[sums].split(s[sums].op.reduce_axis[0], nparts=tile.pieces)
        parts = s.rfactor(sums, piece)
        added = in_registers(s, sums, root)
        if tile.has_one_kernel:
            block, thread, turn, lanes = self._bind_blocks(root, _bind_grid)
            s[added].compute_at(s[root], turn)
            _add_up(s[added], lanes)
            s[parts].set_scope("global")
            s[parts].compute_at(s[root], block)
            self._sum_tiles(parts, parts, _bind_pieces)
            return thread
        self._sum_tiles(parts, parts, _bind_grid)
        thread, lanes = self._bind_elements(tile.threads_of_slice)
        s[added].compute_at(s[root], thread)
        _add_up(s[added], lanes)
        return thread

    def _sum_tiles(self, sums: Tensor, written: Tensor, bind_blocks: _BindBlocks) -> IterVar:
        """Compute sums in loops over blocks that write a stage; return the axis of threads."""
        s, tile = self.s, self.tile
        if tile.slices == 1:
            local = in_registers(s, sums, written)
            thread = self._bind_tiles(written, bind_blocks)
            s[local].compute_at(s[written], thread)
            self._accumulate(local)
            return thread
        _, inner = s[sums].split(s[sums].op.reduce_axis[0], tile.steps)
        own, _ = s[sums].split(inner, nparts=tile.slices)
        shared = s.rfactor(sums, own)
        local = s.cache_write(shared, "local")
        added = in_registers(s, sums, written)
        block, thread, turn, lanes = self._bind_blocks(written, bind_blocks)
        s[added].compute_at(s[written], turn)
        _add_up(s[added], lanes)
        s[shared].set_scope("shared")
        s[shared].compute_at(s[written], block)
        s[local].compute_at(s[shared], _bind_slices(s[shared], tile))
        self._accumulate(local)
        return thread

    def _axes(self, written: Tensor) -> tuple[list[IterVar], IterVar, IterVar, bool]:
        """Return the other axes of a stage, those of rows and columns, and if tiles are whole."""
        stage = self.s[written]
        is_root = written.op == self.root.op
        row, column = self.written(stage) if is_root else _last_axes(stage)
        others = [axis for axis in stage.leaf_iter_vars if axis not in (row, column)]
        return others, row, column, self.is_whole and is_root

    def _bind_tiles(self, written: Tensor, bind_blocks: _BindBlocks) -> IterVar:
        """Give each block and thread its tile of a stage; return the axis of threads."""
        stage, tile = self.s[written], self.tile
        others, row, column, is_whole = self._axes(written)
        lanes = _whole_lanes_of(column)
        block_row, row = stage.split(row, tile.block[0], exact=is_whole)
        block_column, column = stage.split(column, tile.block[1], exact=is_whole)
        threads, own = _split_tile(stage, row, column, tile)
        stage.reorder(*others, block_row, block_column, *threads, *own)
        thread = stage.fuse(*threads)
        bind_blocks(stage, [*others, block_row], block_column)
        _bind_thread(stage, thread, own, lanes)
        return thread

    def _bind_blocks(
        self, written: Tensor, bind_blocks: _BindBlocks
    ) -> tuple[IterVar, IterVar, IterVar, int]:
        """Give each block its tile of a stage, and each thread some vectors of the tile.

        Returns the axes of blocks, of threads, and of the vectors of a thread, and their lanes.
        """
        stage, tile = self.s[written], self.tile
        others, row, column, is_whole = self._axes(written)
        lanes = _lanes_of(column, tile.lanes_written)
        block_row, row = stage.split(row, tile.block[0], exact=is_whole)
        block_column, column = stage.split(column, tile.block[1], exact=is_whole)
        column, lane = stage.split(column, lanes)
        turn, row = stage.split(row, tile.threads * lanes // tile.block[1])
        stage.reorder(*others, block_row, block_column, row, column, turn, lane)
        thread = stage.fuse(row, column)
        bind_blocks(stage, [*others, block_row], block_column)
        _bind_thread(stage, thread, [turn, lane], lanes)
        return block_column, thread, turn, lanes

    def _bind_elements(self, threads: int) -> tuple[IterVar, int]:
        """Give each thread a vector of the root; return the axis of threads, and the lanes."""
        stage = self.s[self.root]
        others, row, column, _ = self._axes(self.root)
        lanes = _lanes_of(column, LANES)
        column, lane = stage.split(column, lanes)
        stage.reorder(*others, row, column, lane)
        block, thread = stage.split(stage.fuse(*others, row, column), threads)
        stage.bind(block, te.thread_axis("blockIdx.x"))
        stage.bind(thread, te.thread_axis("threadIdx.x"))
        vectorize(stage, lane, lanes)
        return thread, lanes

    def _accumulate(self, sums: Tensor) -> None:
        """Schedule the steps of a thread: copies to shared memory, to registers, and products."""
        s, tile = self.s, self.tile
        stage = s[sums]
        shared = self.in_shared(sums)
        left, right = (s.cache_read(each, "local", [sums]) for each in shared)
        *others, row, column = stage.op.axis
        if tile.slices == 1:
            outer, inner = stage.split(stage.op.reduce_axis[0], tile.steps)
        else:
            outer, inner = stage.op.reduce_axis
        group, step = stage.split(inner, LANES)
        stage.reorder(outer, group, step, *others, row, column)
        # Each statement of a tile of open rows has a test, and the code would be long.
        is_open = number_of(row.dom.extent) is None
        for axis in (step, row) if is_open else (group, step, row):
            stage.unroll(axis)
        _vectorize(stage, column)
        # Vectors must not end outside of a factor.
        lanes = LANES if _columns_of(shared[0]) % LANES == 0 else 1
        for each, place, own in ((left, group, lanes), (right, step, LANES)):
            s[each].compute_at(stage, place)
            *_, down, across = s[each].op.axis
            s[each].unroll(down)
            if own == 1:
                s[each].unroll(across)
            else:
                _vectorize(s[each], across)
        copied = (lanes, vector_lanes(_columns_of(shared[1]), LANES))
        for each, own in zip(shared, copied, strict=True):
            s[each].compute_at(stage, outer)
            _copy(s[each], tile.threads, own)
            s[each].pipeline(stages=2)
        s[shared[0]].storage_align(s[shared[0]].op.axis[-2], tile.steps, PAD)


def _bind_slices(stage: Stage, tile: ProductTile) -> IterVar:
    """Give each thread its tile of one of the slices of a block; return the axis of threads."""
    part, *others, row, column = stage.op.axis
    # Bounds leave out rows and columns past the end of a matrix; a block has threads for them, too.
    only_row, row = stage.split(row, tile.block[0])
    only_column, column = stage.split(column, tile.block[1])
    threads, own = _split_tile(stage, row, column, tile)
    stage.reorder(*others, only_row, only_column, part, *threads, *own)
    thread = stage.fuse(part, *threads)
    _bind_thread(stage, thread, own, _whole_lanes_of(stage.op.axis[-1]))
    return thread


def _split_tile(
    stage: Stage, row: IterVar, column: IterVar, tile: ProductTile
) -> tuple[list[IterVar], list[IterVar]]:
    """Split the rows and columns of a block; return the axes of threads, and a thread's own."""
    warp_row, row = stage.split(row, WARP[0] * tile.rows)
    own_row, thread_row = stage.split(row, WARP[0])
    warp_column, column = stage.split(column, WARP[1] * LANES)
    thread_column, lane = stage.split(column, LANES)
    return [warp_row, warp_column, thread_row, thread_column], [own_row, lane]


def _bind_grid(stage: Stage, rows: list[IterVar], column: IterVar) -> None:
    """Bind the axes of blocks; only x may have more blocks than MOST_BLOCKS_ALONG_Y."""
    stage.bind(stage.fuse(*rows), te.thread_axis("blockIdx.x"))
    stage.bind(column, te.thread_axis("blockIdx.y"))


def _bind_pieces(stage: Stage, rows: list[IterVar], column: IterVar) -> None:
    """Bind the pieces of a stage that is inside of a loop over tiles."""
    stage.bind(rows[0], te.thread_axis("blockIdx.z"))


def _bind_thread(stage: Stage, thread: IterVar, own: list[IterVar], lanes: int) -> None:
    """Bind the axis of threads; unroll a thread's own vectors."""
    *vectors, lane = own
    stage.bind(thread, te.thread_axis("threadIdx.x"))
    for axis in vectors:
        stage.unroll(axis)
    vectorize(stage, lane, lanes)


def _add_up(stage: Stage, lanes: int) -> None:
    """Let a thread add up the parts of a vector in order."""
    stage.unroll(stage.op.reduce_axis[0])
    _vectorize(stage, stage.op.axis[-1], lanes)


def _copy(stage: Stage, threads: int, lanes: int) -> None:
    """Let the threads of a block copy vectors of a part of a factor."""
    *others, last = stage.op.axis
    last, lane = stage.split(last, lanes)
    turn, thread = stage.split(stage.fuse(*others, last), threads)
    stage.bind(thread, te.thread_axis("threadIdx.x"))
    stage.unroll(turn)
    vectorize(stage, lane, lanes)


def _lanes_of(column: IterVar, most: int) -> int:
    """Return the lanes of the vectors along an axis, none of which ends outside of it."""
    extent = number_of(column.dom.extent)
    assert extent is not None
    return vector_lanes(extent, most)


def _whole_lanes_of(column: IterVar) -> int:
    """Return the lanes of a thread's vector along an axis: all of them, or one."""
    return LANES if _lanes_of(column, LANES) == LANES else 1


def _columns_of(matrix: Tensor) -> int:
    columns = number_of(matrix.shape[-1])
    assert columns is not None
    return columns


def _vectorize(stage: Stage, axis: IterVar, lanes: int = LANES) -> None:
    _, lane = stage.split(axis, lanes)
    vectorize(stage, lane, lanes)


__all__ = ["schedule_matrices", "schedule_product"]
