"""The matrix product ``C[m, n] = sum_k A[k, m] * B[k, n]``, with fast schedules for GPUs.

The reduction axis is the first axis of both inputs, so that both are read along rows, four elements
at a time: from buffers, or from textures with four elements in a texel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from .. import te
from .._core import Buffer, IterVar, Schedule, Stage, Tensor
from ..tir.buffer import decl_buffer

LANES = 4
"""Elements that are read, computed and written together."""


@dataclass(frozen=True)
class Tiles:
    """How the product is tiled.

    Attributes
    ----------
    block : (int, int, int)
        Rows, columns and steps of k of a block's tile; if k is 0, threads read memory directly and
        share nothing.
    thread : (int, int)
        Rows and columns of one thread, in groups of four.
    lanes : (int, int)
        Threads of a warp along rows and columns, to which groups of elements are dealt in turn.
    swizzle : int
        Rows of blocks that run together, column by column, so that they share reads of both inputs
        in the device's cache. Must divide the number of rows of blocks.
    fetch_ahead : int
        How many tiles before its use a tile is fetched into registers: 0, 1 or 2.
    fragments_ahead : bool
        Whether a thread loads its part of the next step of k during the current one.
    """

    block: tuple[int, int, int] = (128, 128, 8)
    thread: tuple[int, int] = (16, 8)
    lanes: tuple[int, int] = (4, 8)
    swizzle: int = 1
    fetch_ahead: int = 1
    fragments_ahead: bool = True

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return (self.block[0] // self.thread[0]) * (self.block[1] // self.thread[1])


DIRECT = Tiles((128, 128, 0), (8, 8), (16, 16), 1, 0, False)
"""Registers only: each thread reads its own inputs."""
SHARED = replace(DIRECT, block=(128, 128, 8), fetch_ahead=1)
"""Tiles in shared memory, with the next tile fetched ahead."""
WARPS = Tiles(swizzle=8)
"""As SHARED, with warp tiles, fragments loaded ahead, and a block order for the cache."""


def matmul(m: int, n: int, k: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return the inputs ``A[k, m]`` and ``B[k, n]``, and the output ``C[m, n]``."""
    a = te.placeholder((k, m), name="A")
    b = te.placeholder((k, n), name="B")
    step = te.reduce_axis((0, k), name="k")
    c = te.compute((m, n), lambda i, j: te.sum(a[step, i] * b[step, j], axis=step), name="C")
    return a, b, c


def _unroll(stage: Stage, *axes: IterVar) -> None:
    for axis in axes:
        stage.unroll(axis)


def schedule_matmul(a: Tensor, b: Tensor, c: Tensor, tiles: Tiles = WARPS) -> Schedule:
    """Schedule :func:`matmul`; the tiles must divide the extents."""
    s = te.create_schedule(c.op)
    sums = s.cache_write(c, "local")
    shared = [s.cache_read(t, "shared", [sums]) for t in (a, b)] if tiles.block[2] else []
    fragments = [s.cache_read(t, "local", [sums]) for t in shared or (a, b)]

    thread = _schedule_output(s[c], c, tiles)
    s[sums].compute_at(s[c], thread)
    rows, columns = s[sums].op.axis
    (k,) = s[sums].op.reduce_axis
    group, row = s[sums].split(rows, LANES)
    column, lane = s[sums].split(columns, LANES)
    tile = k
    if tiles.block[2]:
        tile, k = s[sums].split(k, tiles.block[2])
        s[sums].unroll(k)
    s[sums].reorder(*dict.fromkeys((tile, k)), group, row, column, lane)
    _unroll(s[sums], group, row, column)
    s[sums].vectorize(lane)

    for copy in shared:
        s[copy].compute_at(s[sums], tile)
        _fill_together(s[copy], copy, tiles.threads)
        if tiles.fetch_ahead:
            s[copy].pipeline(stages=tiles.fetch_ahead + 1)
    for copy in fragments:
        s[copy].compute_at(s[sums], k)
        group, lane = s[copy].split(s[copy].op.axis[1], LANES)
        s[copy].unroll(group)
        s[copy].vectorize(lane)
        if tiles.fragments_ahead:
            s[copy].pipeline(stages=2)
    return s


def _schedule_output(stage: Stage, c: Tensor, tiles: Tiles) -> IterVar:
    """Return the loop of a thread, which computes and stores its groups of elements."""
    split = []
    for axis, block, own, lanes in zip(
        stage.op.axis, tiles.block, tiles.thread, tiles.lanes, strict=False
    ):
        of_grid, rest = stage.split(axis, block)
        warp, rest = stage.split(rest, own * lanes)
        group, rest = stage.split(rest, LANES * lanes)
        lane, element = stage.split(rest, LANES)
        split.append((of_grid, warp, lane, group, element))
    (by, warp_y, lane_y, group_y, row), (bx, warp_x, lane_x, group_x, column) = split
    strip, by = stage.split(by, tiles.swizzle)
    stage.reorder(
        *(strip, bx, by), *(warp_y, warp_x, lane_y, lane_x), *(group_y, row, group_x, column)
    )
    stage.bind(stage.fuse(strip, bx, by), te.thread_axis("blockIdx.x"))
    thread = stage.fuse(warp_y, warp_x, lane_y, lane_x)
    stage.bind(thread, te.thread_axis("threadIdx.x"))
    _unroll(stage, group_y, row, group_x)
    stage.vectorize(column)
    return thread


def _fill_together(stage: Stage, copy: Tensor, threads: int) -> None:
    """Let all threads of a block copy the tile, four elements at a time."""
    k, column = copy.op.axis
    group, lane = stage.split(column, LANES)
    turn, thread = stage.split(stage.fuse(k, group), threads)
    stage.bind(thread, te.thread_axis("threadIdx.x"))
    stage.unroll(turn)
    stage.vectorize(lane)


def declarations(inputs: Sequence[Tensor], storage: str) -> dict[Tensor, Buffer]:
    """The `binds` of ``build`` for inputs in a ``"texture"`` or a ``"buffer"``."""
    if storage == "buffer":
        return {}
    return {t: decl_buffer(t.shape, t.dtype, t.name, scope="texture") for t in inputs}
