"""The family that computes any sums of products, from buffers: by tiles in registers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ..._core import Schedule, Tensor
from ...extents import likely, number_of, product
from ..contraction import Contraction
from .family import Family, KernelTask, Scheduled
from .gpu_tiles import gpu_tile
from .processor.registers import Registers
from .register_tiles import ROWS, Tile, even_rows, lanes_of, schedule_tiles

_VECTORS = (1, 2, 3, 4, 8, 16)
_MOST_SUMS = 64
"""The most sums of a thread, where the number of registers is not known."""


@dataclass(frozen=True)
class Sums:
    """The facts of sums of products.

    Attributes
    ----------
    tile : Tile
        The preferred tile.
    written : int
        Columns that the kernel writes: the sums may have more.
    rows : int
        The most rows of a tile.
    group : int
        Rows of a group, which read the same elements of the column factor: tiles divide them. 0 if
        all rows do, or if there are no rows.
    registers : Registers or None
        Of a processor; None on GPUs.
    """

    tile: Tile
    written: int
    rows: int
    group: int
    registers: Registers | None


class RegisterTiles(Family[Sums, Tile]):
    """Sums of products whose extents need not be divisible by those of tiles.

    `root` has the axes of the sums; a single axis of columns of the sums may stand for several of
    its axes.
    """

    name = "tiles in registers"

    def facts_of(self, task: KernelTask) -> Sums:
        """Return the tile of a processor's registers, or the one that fills a GPU."""
        sums, target = task.sums, task.target
        assert sums is not None
        roles = Contraction.of(sums)
        assert roles is not None
        written = _written_columns(task)
        rows = 1 if roles.rows is None else likely(sums.shape[roles.rows])
        group = roles.rows_per_group if roles.rows_per_group < rows else 0
        if target.is_cpu:
            registers = Registers.of(target)
            tile = _processor_tile(sums, written, registers)
        else:
            registers, tile = None, gpu_tile(sums, written, task.profile, target.max_threads)
        return Sums(tile, written, min(rows, ROWS), group, registers)

    def points(self, facts: Sums) -> Iterator[tuple[Tile, str | None]]:
        """Yield the preferred tile first, then others with its lanes and threads."""
        tile = facts.tile
        yield tile, None
        if not tile.is_unrolled:
            return
        most = facts.written // tile.lanes
        for vectors in (n for n in _VECTORS if n <= most):
            for rows in (n for n in range(1, facts.rows + 1) if facts.group % n == 0):
                holds = rows * vectors * tile.lanes <= _MOST_SUMS
                if facts.registers is not None and tile.lanes > 1:
                    holds = facts.registers.hold(rows, vectors)
                yield replace(tile, rows=rows, vectors=vectors), None if holds else "registers"

    def apply(self, s: Schedule, task: KernelTask, knobs: Tile) -> Scheduled:
        """Schedule sums of products, and later stages of the same kernel."""
        assert task.sums is not None
        thread = schedule_tiles(s, task.sums, task.root, knobs, _written_columns(task))
        return Scheduled(task.root, thread, {task.sums.op, task.root.op})


def _written_columns(task: KernelTask) -> int:
    """Return how many columns the kernel writes."""
    assert task.sums is not None
    return likely(product(task.root.shape[len(task.sums.shape) - 1 :]))


def _processor_tile(sums: Tensor, written: int, registers: Registers) -> Tile:
    """Return the tile for sums of which `written` columns are written."""
    roles = Contraction.of(sums)
    assert roles is not None
    extents = [likely(extent) for extent in sums.shape]
    rows = extents[roles.rows] if roles.rows is not None else 1
    lanes = lanes_of(extents[-1], registers.bytes // (8 if sums.dtype.endswith("64") else 4))
    most_rows = registers.most_rows(2)
    own_rows = even_rows(rows, roles.rows_per_group, most_rows)
    # The device's compiler may combine scalar elements into vectors.
    vectors = 16 if lanes == 1 else max(2, most_rows // own_rows)
    # A tile that is wider than the written stage would be cut, and so would its vectors.
    vectors = max(1, min(vectors, written // lanes))
    while lanes > written:
        lanes //= 2
    has_any_end = lanes == 1 and number_of(sums.shape[-1]) is None
    return Tile(own_rows, vectors, lanes, (1, 1), is_unrolled=not has_any_end)


REGISTER_TILES = RegisterTiles()

__all__ = ["REGISTER_TILES", "RegisterTiles", "Sums"]
