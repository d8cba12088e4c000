"""Schedules of sums of products: convolutions and products of matrices, from buffers.

A thread computes a tile of rows (output channels) and columns (neighbors in memory) in registers. A
row's factor is one number for all columns of the tile, and the columns' factors are vectors that
all rows of the tile share, so that each element that is loaded is used many times.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from math import prod

from ... import te
from ..._core import IterVar, Schedule, Stage, Tensor
from ...target import Target
from ..contraction import PADDED, Contraction

ROWS = 8
"""Rows of a tile at most: with two vectors of columns they fill half of 32 vector registers.

Tiles of few rows have more vectors instead.
"""
UNROLLED = 128
"""Statements of unrolled taps of a window at most: more take long to compile."""
BUSY_THREADS = 1 << 14
"""Threads that keep a device busy that is no processor: with fewer, tiles have fewer rows."""
VECTOR_BYTES = 32
"""Bytes of a vector at most: processors with wider registers still compute best with these."""


@dataclass(frozen=True)
class _Tile:
    """What a thread computes, and how many threads a block has.

    Attributes
    ----------
    rows : int
    vectors : int
        Vectors along the columns.
    lanes : int
        Columns of a vector.
    threads : (int, int)
        Threads of a block along rows and columns.
    """

    rows: int
    vectors: int
    lanes: int
    threads: tuple[int, int]


def contraction_kernels(
    stages: Sequence[Tensor], outputs: Sequence[Tensor]
) -> dict[Tensor, Tensor]:
    """Return the sums of products among stages, and for each the stage that its kernel writes.

    That is the output for which the sums are computed, if all between both is computed element by
    element, and read by nothing else; else the last stage that is computed from them one after the
    other, and that no other sums have.
    """
    readers: dict[te.Operation, list[Tensor]] = {}
    for stage in stages:
        for op in {each.op for each in stage.op.input_tensors}:
            readers.setdefault(op, []).append(stage)
    last = {each.op for each in outputs}
    made: dict[Tensor, Tensor] = {}
    for sums in stages:
        if Contraction.of(sums) is None:
            continue
        root = _output_of(sums, readers, last)
        if root is None or root in made.values():
            root = sums
            while root.op not in last and len(readers[root.op]) == 1:
                (reader,) = readers[root.op]
                if reader in made.values() or not _is_element_by_element(reader, sums):
                    break
                root = reader
        made[sums] = root
    return made


def _output_of(
    sums: Tensor, readers: Mapping[te.Operation, Sequence[Tensor]], last: Set[te.Operation]
) -> Tensor | None:
    """Return the only output that sums are computed for, element by element; None if there is none.

    Stages between both may read the sums and each other several times.
    """
    found, pending = {sums.op: sums}, [sums]
    while pending:
        for reader in readers.get(pending.pop().op, []):
            if not _is_element_by_element(reader, sums):
                return None
            if reader.op not in found:
                found[reader.op] = reader
                pending.append(reader)
    outputs = [tensor for op, tensor in found.items() if op in last]
    is_last = len(outputs) == 1 and not readers.get(outputs[0].op)
    return outputs[0] if is_last else None


def _is_element_by_element(reader: Tensor, sums: Tensor) -> bool:
    """Whether a stage has the axes of sums.

    The last one may stand for several, or have columns beyond those that are read.
    """
    rank = len(sums.shape) - 1
    shape, own = ([int(extent) for extent in each.shape] for each in (reader, sums))
    columns = shape[rank:]
    has_columns = prod(columns) == own[rank] or (len(columns) == 1 and columns[0] < own[rank])
    fits = shape[:rank] == own[:rank] and has_columns
    return fits and not reader.op.reduce_axis and reader.op.num_outputs == 1


def stored_inputs(sums: Tensor) -> list[Tensor]:
    """Return the inputs that have kernels of their own: those with a border.

    The border's conditions in the sums would keep them from being computed as vectors.
    """
    return [each for each in sums.op.input_tensors if each.op.tag == PADDED]


def schedule_contraction(s: Schedule, sums: Tensor, root: Tensor, target: str) -> IterVar:
    """Schedule a sum of products, and what is computed from it in the same kernel.

    Extents need not be divisible by anything.

    Parameters
    ----------
    s : Schedule
    sums : Tensor
        A reduction with a :class:`texloom.ops.contraction.Contraction`.
    root : Tensor
        The stage that the kernel writes: `sums`, or one that reads it element by element, with the
        axes of `sums`; a single axis of columns may stand for several. Stages between both must
        be inlined.
    target : str

    Returns
    -------
    IterVar
        The innermost axis of threads.
    """
    roles = Contraction.of(sums)
    assert roles is not None
    for each in stored_inputs(sums):
        _schedule_elements(s, each)
    if root.op == sums.op:
        local = s.cache_write(sums, "local")
    else:
        local = sums
        s[sums].set_scope("local")
    rank = len(sums.shape)
    written = prod(int(extent) for extent in root.shape[rank - 1 :])
    tile = _tile_of(sums, roles, written, target)
    thread = _bind_tiles(s, root, rank, roles, tile, written)
    s[local].compute_at(s[root], thread)
    _schedule_sums(s[local], tile)
    return thread


def _tile_of(sums: Tensor, roles: Contraction, written: int, target: str) -> _Tile:
    """Return the tile for sums of which so many columns are written."""
    is_processor = bool(Target(target).attrs.get("block_stack", True))
    extents = [int(extent) for extent in sums.shape]
    rows = extents[roles.rows] if roles.rows is not None else 1
    size = 8 if sums.dtype.endswith("64") else 4
    most = VECTOR_BYTES if is_processor else 16
    lanes = _lanes(extents[-1], most // size)
    own_rows = _even_rows(rows, roles.rows_per_group)
    if lanes == 1:  # elements one by one, which compilers may join to vectors
        vectors = 16 if is_processor else 4
    else:
        vectors = max(2, ROWS // own_rows) if is_processor else 1
    # A tile that is wider than what is written would be cut to it, and its vectors with it.
    vectors = max(1, min(vectors, written // lanes))
    while lanes > written:
        lanes //= 2
    if is_processor:
        return _Tile(own_rows, vectors, lanes, (1, 1))
    across = -(-written // (vectors * lanes))
    tiles = prod(extents[:-1]) // rows * across
    while own_rows > 1 and tiles * (rows // own_rows) < BUSY_THREADS:
        own_rows //= 2
    across = min(32, across)
    down = max(1, min(128 // across, -(-rows // own_rows)))
    return _Tile(own_rows, vectors, lanes, (down, across))


def _lanes(columns: int, most: int) -> int:
    """Return the lanes of a vector: the greatest power of two that divides the columns.

    Less than four lanes are not worth a vector.
    """
    lanes = most
    while columns % lanes:
        lanes //= 2
    return lanes if lanes >= 4 else 1


def _even_rows(rows: int, per_group: int) -> int:
    """Return how many rows a tile has, so that few are beyond the last, or of another group."""
    within = rows if per_group >= rows else per_group
    if within <= ROWS:
        return within
    if within < rows:
        return max(n for n in range(1, ROWS + 1) if within % n == 0)
    return min(range(ROWS, ROWS // 2, -1), key=lambda n: -rows % n)


def _bind_tiles(
    s: Schedule, root: Tensor, rank: int, roles: Contraction, tile: _Tile, written: int
) -> IterVar:
    """Bind the tiles of what a kernel writes to threads; return the innermost thread axis."""
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
    # is provably small. Devices have at most 65,535 blocks along y, which gets the fewer ones.
    across = -(-written // (tile.vectors * tile.lanes * tile.threads[1]))
    others = prod(int(extent) for extent in root.shape[: rank - 1]) // (tile.rows * tile.threads[0])
    x, y = te.thread_axis("blockIdx.x"), te.thread_axis("blockIdx.y")
    stage.bind(columns, x if across >= others else y)
    if rest:
        stage.bind(stage.fuse(*rest), y if across >= others else x)
    stage.bind(thread_x, te.thread_axis("threadIdx.x"))
    _unroll(stage, inner[:-1])
    _vectorize(stage, lane, tile.lanes if written % tile.lanes == 0 else 1)
    return thread_x


def _schedule_sums(stage: Stage, tile: _Tile) -> None:
    """Order the loops of the sums in a thread: reductions, rows, columns."""
    axes = list(stage.op.axis)
    reduced = list(stage.op.reduce_axis)
    vector, lane = stage.split(axes.pop(), tile.lanes)
    stage.reorder(*reduced, *axes, vector, lane)
    _unroll(stage, [*axes, vector])
    _vectorize(stage, lane, tile.lanes)
    taps = [_extent(axis) for axis in reduced]
    statements = tile.rows * tile.vectors
    for count, loop in zip(reversed(taps[1:]), reversed(reduced[1:]), strict=True):
        statements *= count
        if statements > UNROLLED:
            break
        stage.unroll(loop)


def _schedule_elements(s: Schedule, tensor: Tensor) -> None:
    """Compute a tensor in a kernel of its own, with a thread for each element."""
    block, thread = s[tensor].split(s[tensor].fuse(*s[tensor].op.axis), 64)
    s[tensor].bind(block, te.thread_axis("blockIdx.x"))
    s[tensor].bind(thread, te.thread_axis("threadIdx.x"))


def _extent(axis: IterVar) -> int:
    return int(axis.dom.extent)


def _unroll(stage: Stage, axes: Sequence[IterVar]) -> None:
    for axis in axes:
        stage.unroll(axis)


def _vectorize(stage: Stage, axis: IterVar, lanes: int) -> None:
    if lanes > 1:
        stage.vectorize(axis)
    else:
        stage.unroll(axis)


__all__ = ["contraction_kernels", "schedule_contraction", "stored_inputs"]
