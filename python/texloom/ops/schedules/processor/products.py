"""Schedules of products of matrices for processors.

A thread computes a panel of consecutive columns for a block of rows, in tiles whose sums are in
registers. A constant right side is stored panel by panel, so that it is read consecutively; it is
packed at compile time. Later stages of the kernel are computed of a block's sums, which are in
registers or in the first level of the cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod

from .... import te
from ...._core import IterVar, Schedule, Stage, Tensor
from ....dtypes import bytes_of
from ....extents import are_known, likely, number_of, plain
from ....profiles import DeviceProfile
from ...contraction import Contraction
from ...divisors import largest_divisor
from ..channels_last.axes import in_registers
from ..family import Family, KernelTask, Scheduled
from .panels import block_of, panel_bytes, part_of, rows_of, stall_cycles
from .registers import Registers, cycle_seconds

# The fewest vectors of columns that are worth a tail of single elements.
_VECTORS_BEFORE_TAIL = 16


@dataclass(frozen=True)
class Tile:
    """The knobs of a product's schedule.

    Attributes
    ----------
    rows : int
        The most rows of a tile: tiles have fewer if those divide the rows of several blocks.
    vectors, lanes : int
        The number and size of the vectors of columns of a tile: its panel.
    """

    rows: int
    vectors: int
    lanes: int


@dataclass(frozen=True)
class ProductTile:
    """The tiles and the blocks of a product's schedule.

    Attributes
    ----------
    rows : int
        Rows of a tile.
    vectors, lanes : int
        As of :class:`Tile`.
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


@dataclass(frozen=True)
class Product:
    """The facts of a product of matrices.

    Attributes
    ----------
    rows, columns, steps : int
        Extents; those of open rows are a guess.
    item : int
        The bytes of a sum.
    registers : Registers
    pitch : int
        Bytes from one row of the left side to the next.
    batch : int, optional
        Products side by side, as far as they are known.
    matrices : int, optional
        Matrices of the left side that are multiplied by the same one, if there are several.
    is_open : bool, optional
        Whether the rows are known only at a run.
    """

    rows: int
    columns: int
    steps: int
    item: int
    registers: Registers
    pitch: int
    batch: int = 1
    matrices: int = 1
    is_open: bool = False

    @property
    def lanes(self) -> int | None:
        """The lanes of vectors of columns; None if there are too few columns."""
        return _lanes(self.columns, self.registers.bytes // self.item, self.registers.has_tails)


class Products(Family[Product, Tile]):
    """Products of matrices on processors."""

    name = "products in panels"
    is_estimated = True

    def facts_of(self, task: KernelTask) -> Product | None:
        """Return the extents; None for other sums, and for too few columns for vectors."""
        sums, root, target = task.sums, task.root, task.target
        assert sums is not None
        roles = Contraction.of(sums)
        if not target.is_cpu or roles is None or roles.is_convolution:
            return None
        row = _row_axis(sums, roles)
        columns, written = (number_of(each.shape[-1]) for each in (sums, root))
        is_matrix = row is not None and len(root.shape) == len(sums.shape)
        if not is_matrix or columns is None or columns != written:
            return None
        rows = plain(sums.shape[row])
        if isinstance(rows, int) and roles.rows_per_group < rows:
            return None
        steps = likely(sums.op.reduce_axis[0].dom.extent)
        others = [plain(n) for n in sums.shape[:row]]
        is_several = _is_shared(sums) and are_known([rows, *others])
        facts = Product(
            likely(rows),
            columns,
            steps,
            8 if sums.dtype.endswith("64") else 4,
            Registers.of(target, sums.dtype),
            steps * bytes_of(sums.op.input_tensors[0].dtype),
            prod(map(likely, others)),
            prod(others) if is_several else 1,
            not isinstance(rows, int),
        )
        return None if facts.lanes is None else facts

    def points(self, facts: Product) -> Iterator[tuple[Tile, str | None]]:
        """Yield tiles whose sums are in registers."""
        assert facts.lanes is not None
        width = -(-facts.columns // facts.lanes)
        most_rows = min(facts.rows, facts.registers.count)
        for rows, vectors, broken in _candidates(most_rows, width, facts.registers):
            yield Tile(rows, vectors, facts.lanes), broken

    def seconds(self, facts: Product, knobs: Tile, profile: DeviceProfile) -> float:
        """Return the time of the products, with panels that stay in the cache."""
        width = -(-facts.columns // knobs.lanes)
        cycles = _cycles(knobs.rows, knobs.vectors, facts.rows, width, facts.pitch)
        return profile.launch_seconds + facts.batch * facts.steps * cycles * cycle_seconds(profile)

    def apply(self, s: Schedule, task: KernelTask, knobs: Tile) -> Scheduled:
        """Schedule a product, and later stages of the same kernel."""
        facts = self.facts(task)
        assert task.sums is not None and facts is not None
        thread = schedule_product(s, task.sums, task.root, with_block(knobs, facts))
        return Scheduled(task.root, thread, {task.sums.op, task.root.op})

    def weight_layout(self, task: KernelTask, knobs: Tile) -> str | None:
        """Return the layout of the right side in panels."""
        assert task.sums is not None
        rank = len(task.sums.op.input_tensors[-1].shape)
        return panel_layout(rank, knobs.vectors * knobs.lanes) if rank > 1 else None


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


def with_block(knobs: Tile, facts: Product) -> ProductTile:
    """Return the tiles and the block that suits them."""
    tile = ProductTile(knobs.rows, knobs.vectors, knobs.lanes, 1)
    if facts.is_open:
        return tile
    rows, registers = facts.rows, facts.registers
    panel = panel_bytes(registers) // (tile.columns * facts.item)
    part = part_of(facts.steps, panel) if rows > tile.rows else None
    most_rows = rows_of(registers, facts.steps, facts.columns, facts.item, part or facts.steps)
    most = max(1, most_rows // tile.rows)
    tiles = -(-rows // tile.rows)
    if tiles <= most:
        return _for_matrices(replace(tile, tiles=tiles, steps=part), facts)
    # In one of several blocks, each tile would test for the end of the rows.
    even = (n for n in range(tile.rows, 2, -1) if rows % n == 0)
    own = next(even, None)
    if own is None:
        return _for_matrices(replace(tile, tiles=tiles, steps=part), facts)
    made = replace(tile, rows=own, tiles=block_of(rows // own, most), steps=part)
    return _for_matrices(made, facts)


def _for_matrices(tile: ProductTile, facts: Product) -> ProductTile:
    """Return the tile for several matrices, given that for one."""
    item, steps, registers = facts.item, facts.steps, facts.registers
    part = tile.steps or part_of(steps, panel_bytes(registers) // (tile.columns * item))
    most = rows_of(registers, steps, facts.columns, item, part or steps) // facts.rows
    matrices = largest_divisor(facts.matrices, most)
    if tile.rows * tile.tiles < facts.rows or matrices is None or matrices == 1:
        return tile
    return replace(tile, matrices=matrices, steps=part)


def _lanes(columns: int, most: int, has_tails: bool) -> int | None:
    """Return the lanes of vectors of columns, the last of which may be shorter with tails."""
    for lanes in (most, most // 2):
        if columns % lanes == 0 and lanes >= 4:
            return lanes
    return most if has_tails and columns >= _VECTORS_BEFORE_TAIL * most else None


def _candidates(
    most_rows: int, most_vectors: int, registers: Registers
) -> Iterator[tuple[int, int, str | None]]:
    """Yield rows and vectors of tiles, and the rule that sums are in registers if it is broken."""
    if most_rows == 1:  # each vector of columns is used once, so none is kept in a register
        yield 1, min(most_vectors, registers.count // 2), None
    for vectors in range(1, min(4, most_vectors) + 1):
        for rows in range(1, most_rows + 1):
            yield rows, vectors, None if registers.hold(rows, vectors) else "registers"


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


PRODUCTS = Products()

__all__ = [
    "PRODUCTS",
    "Product",
    "ProductTile",
    "Products",
    "Tile",
    "panel_layout",
    "schedule_product",
    "with_block",
]
