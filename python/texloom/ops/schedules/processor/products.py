"""Schedules of products of matrices for processors whose vector registers are known.

A thread computes a panel of consecutive columns for a block of rows, in tiles whose sums are in
registers. A constant right side is stored panel by panel, so that it is read consecutively; it is
packed at compile time. Later stages of the kernel are computed of a block's sums, which are in
registers or in the first level of the cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod

from .... import te
from ...._core import IterVar, Schedule, Stage, TargetValue, Tensor
from ....extents import Extent, are_known, likely, number_of, plain
from ...contraction import Contraction
from ...divisors import largest_divisor
from ..channels_last.axes import in_registers
from .panels import block_of, bytes_of, panel_bytes, part_of, rows_of, stall_cycles
from .registers import Registers

# The fewest vectors of columns that are worth a tail of single elements.
_VECTORS_BEFORE_TAIL = 16


@dataclass(frozen=True)
class ProductTile:
    """The knobs of a product's schedule.

    Attributes
    ----------
    rows : int
        Rows of a tile.
    vectors, lanes : int
        The number and size of the vectors of columns of a tile: its panel.
    tiles : int
        Tiles along the rows of a block.
    steps : int or None
        Steps of the sum for which a panel stays in the cache while the tiles of a block read it:
        the sums of a block are in memory between. None if sums are in registers for all steps.
    matrices : int
        Matrices of a block, all of whose rows read the same panel; then `tiles` are those of one.
    """

    rows: int
    vectors: int
    lanes: int
    tiles: int
    steps: int | None = None
    matrices: int = 1

    @property
    def columns(self) -> int:
        """Columns of a panel."""
        return self.vectors * self.lanes

    @classmethod
    def of(cls, sums: Tensor, root: Tensor, target: TargetValue) -> ProductTile | None:
        """Return the tile for sums from which `root` is computed.

        None if the target's registers are not known, or the sums are not those of matrices with so
        many columns that vectors suit them.
        """
        roles = Contraction.of(sums)
        if target.kind != "llvm" or roles is None or roles.is_convolution:
            return None
        row = _row_axis(sums, roles)
        columns, written = (number_of(each.shape[-1]) for each in (sums, root))
        is_matrix = row is not None and len(root.shape) == len(sums.shape)
        if not is_matrix or columns is None or columns != written:
            return None
        rows = plain(sums.shape[row])
        if isinstance(rows, int) and roles.rows_per_group < rows:
            return None
        item = 8 if sums.dtype.endswith("64") else 4
        steps = likely(sums.op.reduce_axis[0].dom.extent)
        registers = Registers.of(target, sums.dtype)
        pitch = steps * bytes_of(sums.op.input_tensors[0].dtype)
        tile = tile_for(rows, columns, steps, item, registers, pitch)
        others = [plain(n) for n in sums.shape[:row]]
        if tile is None or not _is_shared(sums) or not are_known([rows, *others]):
            return tile
        return tile.for_matrices(prod(others), rows, columns, steps, item, registers)

    def for_matrices(
        self,
        count: int,
        rows: int,
        columns: int,
        steps: int,
        item: int,
        registers: Registers,
    ) -> ProductTile:
        """Return the tile for several matrices, given that for one; see :func:`tile_for`."""
        part = self.steps or part_of(steps, panel_bytes(registers) // (self.columns * item))
        most = rows_of(registers, steps, columns, item, part or steps) // rows
        matrices = largest_divisor(count, most)
        if self.rows * self.tiles < rows or matrices is None or matrices == 1:
            return self
        return replace(self, matrices=matrices, steps=part)


def _is_shared(sums: Tensor) -> bool:
    """Whether all matrices of the left side are multiplied by the same one."""
    return len(sums.op.input_tensors) == 2 and len(sums.op.input_tensors[1].shape) == 2


def _row_axis(sums: Tensor, roles: Contraction) -> int | None:
    """Return the axis of the rows of products of matrices; None for other sums.

    Matrices of one row, which are multiplied by the same matrix, are the rows of one.
    """
    row = len(sums.shape) - 2
    if roles.rows != row or len(sums.op.reduce_axis) != 1:
        return None
    while _is_shared(sums) and row > 0 and number_of(sums.shape[row]) == 1:
        row -= 1
    return row


@lru_cache(maxsize=1024)
def tile_for(
    rows: Extent,
    columns: int,
    steps: int,
    item: int,
    registers: Registers,
    pitch: int | None = None,
) -> ProductTile | None:
    """Return the tile for a product of matrices; None if it has too few columns for vectors.

    Parameters
    ----------
    rows, columns, steps : int
        Extents of the product; those of open rows are a guess.
    item : int
        The bytes of a sum.
    registers : Registers
    pitch : int, optional
        Bytes from one row of the left side to the next; by default, its elements are like sums.
    """
    lanes = _lanes(columns, registers.bytes // item)
    if lanes is None:
        return None
    count, width = likely(rows), -(-columns // lanes)
    candidates = list(_candidates(min(count, registers.count), width, registers))
    apart = steps * item if pitch is None else pitch
    own, vectors = min(candidates, key=lambda tile: _cycles(*tile, count, width, apart))
    if not isinstance(rows, int):
        return ProductTile(own, vectors, lanes, 1)
    panel = panel_bytes(registers) // (vectors * lanes * item)
    part = part_of(steps, panel) if rows > own else None
    most = max(1, rows_of(registers, steps, columns, item, part or steps) // own)
    if -(-rows // own) <= most:
        return ProductTile(own, vectors, lanes, -(-rows // own), part)
    # In one of several blocks, each tile would test for the end of the rows.
    even = [n for n in range(own, 2, -1) if rows % n == 0 and (n, vectors) in candidates]
    own = even[0] if even else own
    tiles = -(-rows // own)
    return ProductTile(own, vectors, lanes, block_of(tiles, most) if even else tiles, part)


def _lanes(columns: int, most: int) -> int | None:
    """Return the lanes of vectors of columns."""
    for lanes in (most, most // 2):
        if columns % lanes == 0 and lanes >= 4:
            return lanes
    return most if columns >= _VECTORS_BEFORE_TAIL * most else None


def _candidates(
    most_rows: int, most_vectors: int, registers: Registers
) -> Iterator[tuple[int, int]]:
    """Return rows and vectors of tiles whose sums are in registers."""
    if most_rows == 1:  # each vector of columns is used once, so none is kept in a register
        yield 1, min(most_vectors, registers.count // 2)
    for vectors in range(1, min(4, most_vectors) + 1):
        for rows in range(1, most_rows + 1):
            if registers.hold(rows, vectors):
                yield rows, vectors


def _cycles(rows: int, vectors: int, all_rows: int, all_vectors: int, pitch: int) -> float:
    """Return the cycles of a step of all tiles, given the bytes from one row to the next.

    Two products or loads in a cycle; a sum is ready for the next product after four cycles.
    """
    step = max(rows * vectors / 2, (rows + vectors) / 2, 4) + 2 + stall_cycles(rows, pitch)
    return -(-all_rows // rows) * -(-all_vectors // vectors) * step


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
    local = in_registers(s, sums, root)
    roles = Contraction.of(sums)
    assert roles is not None
    place = _row_axis(sums, roles)
    assert place is not None
    stage = s[root]
    *batch, column = stage.op.axis
    row = batch.pop(place)
    tiles, row = stage.split(row, tile.rows)
    blocks, tiles = stage.split(tiles, tile.tiles)
    panels, column = stage.split(column, tile.columns)
    vector, lane = stage.split(column, tile.lanes)
    inner: list[IterVar] = []
    if tile.matrices > 1:
        matrices, own = stage.split(stage.fuse(*batch[:place]), tile.matrices)
        batch, inner = [matrices, *batch[place:]], [own]
    # Rows are the fastest axis: a panel is in the cache while the tiles of all rows read it.
    outer = [*batch, panels, blocks] if tile.tiles == 1 else [*batch, blocks, panels]
    stage.reorder(*outer, *inner, tiles, row, vector, lane)
    thread = stage.fuse(*outer)
    stage.bind(thread, te.thread_axis("blockIdx.x"))
    _unroll_tile(stage, [row, vector], lane)
    s[local].compute_at(stage, thread if tile.steps else tiles)
    _order_sums(s[local], tile, place)
    return thread


def _order_sums(stage: Stage, tile: ProductTile, place: int) -> None:
    """Order the steps of a block, or of a tile if sums are in registers for all steps.

    The rows are the axis at `place`.
    """
    *batch, column = stage.op.axis
    row = batch.pop(place)
    (step,) = stage.op.reduce_axis
    vector, lane = stage.split(column, tile.lanes)
    order = [*batch, step]
    if tile.steps:
        tiles, row = stage.split(row, tile.rows)
        parts, step = stage.split(step, tile.steps)
        order = [parts, *batch, tiles, step]
    stage.reorder(*order, row, vector, lane)
    _unroll_tile(stage, [row, vector], lane)


def _unroll_tile(stage: Stage, axes: list[IterVar], lane: IterVar) -> None:
    for axis in axes:
        stage.unroll(axis)
    stage.vectorize(lane)


def panel_layout(rank: int, columns: int) -> str:
    """Return the layout of matrices ``[..., K, N]`` in panels of columns."""
    axes = [f"b{i}" for i in range(rank - 2)]
    given = ", ".join([*axes, "k", "n"])
    stored = ", ".join([*axes, f"n/{columns}", "k", f"n%{columns}"])
    return f"buffer[({given}) -> cols=({stored})]"


__all__ = ["ProductTile", "panel_layout", "schedule_product", "tile_for"]
