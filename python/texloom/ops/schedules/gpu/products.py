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

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import prod

from .... import te
from ...._core import IterVar, Schedule, Stage, TargetValue, Tensor
from ....extents import number_of
from ....profiles import DeviceProfile
from ...divisors import vector_lanes
from ..channels_last.axes import in_registers, vectorize

_LANES = 4
_WARP = (4, 8)  # threads of a warp along rows and columns
_STEPS = (32, 16, 8)  # steps of which factors are in shared memory, mostly one that divides all
_PIECES = (1, 2, 3, 4, 6, 8, 12, 16)
_LEAST_PIECE = 64  # steps of a piece
MOST_BLOCKS_ALONG_Y = 65535
"""The most blocks of a grid along y."""
_LEAST_COLUMNS = 16
_LEAST_ROWS = 2
_PAD = 4  # elements after a row of the left factor, so that rows are in different banks

# How the kernels use a device, next to its profile: fitted to 2,835 times of 44 products of 10^7 to
# 3 * 10^9 operations, with bias and residual, on an NVIDIA H200; times near the best of a product
# weigh most. The tile that is estimated to be the fastest takes 1.07 times the time of the best in
# the mean, 1.28 times at worst.
_REGISTERS = 128  # of a thread
_STEP = 0.55  # latencies of memory that a step takes at least
_OWN = 186  # products of a processor in the time of one of a thread that waits for nothing else
_ROUND = 1.4  # latencies of memory in which blocks start and end
_SUM_BYTES = 3.3  # bytes of the common cache whose time a sum of a piece takes
# What a second launch costs in a network, 1 to 2 us more than the fit says of launches in a row.
_SECOND = 0.8  # launches that a second kernel adds, since the first one hides a part
_PAIR = 3.25  # launches that two kernels take at least
# What it costs that the last block of a tile adds up the pieces, instead of a second kernel: 3.5 us
# and 0.11 us for each piece of about 2,000 sums, fitted to 13 products on the same H200. Where both
# are possible, a second launch counts as 5 us, the least that one more launch costs in networks.
_LAST = 8.7  # latencies of memory of the fences, of the ticket and of the first sums
_LAST_SUM_BYTES = 2.4  # bytes of a processor's part of the common cache in the time of a sum
SPARED = 0.34
"""Launches that a second one costs in a network, above what kernels in a row show."""
_USED = {
    (4, (1, 1), 8): 0.63,
    (4, (2, 1), 1): 0.44,
    (4, (2, 1), 2): 0.47,
    (4, (2, 1), 4): 0.48,
    (4, (2, 2), 1): 0.49,
    (4, (2, 2), 2): 0.50,
    (7, (1, 1), 1): 0.44,
    (7, (1, 1), 2): 0.46,
    (7, (1, 1), 4): 0.46,
    (7, (2, 1), 2): 0.54,
    (7, (2, 2), 1): 0.58,
    (7, (2, 2), 2): 0.48,
    (8, (1, 1), 4): 0.50,
    (8, (1, 2), 1): 0.52,
    (8, (1, 2), 2): 0.52,
    (8, (1, 2), 4): 0.45,
    (8, (2, 2), 1): 0.60,
    (8, (2, 2), 2): 0.43,
}
"""Rows of a thread, warps and slices of tiles, and their part of the products per cycle."""


@dataclass(frozen=True)
class ProductTile:
    """The knobs of a product's schedule.

    Attributes
    ----------
    rows : int
        Rows of a thread, which has a vector of columns of each.
    warps : (int, int)
        Warps of a slice along rows and columns.
    steps : int
        Steps of which the factors are in shared memory at once: vectors of each slice.
    pieces : int
        Pieces of the steps that blocks compute.
    slices : int
        Slices of the steps in shared memory, each of which other warps add up. They divide
        ``4 * rows``, so that all threads of a block write equally many results.
    has_one_kernel : bool
        Whether the last block of a tile adds up several pieces, not a second kernel.
    """

    rows: int
    warps: tuple[int, int]
    steps: int
    pieces: int = 1
    slices: int = 1
    has_one_kernel: bool = False

    @property
    def block(self) -> tuple[int, int]:
        """Rows and columns of a block."""
        return _WARP[0] * self.rows * self.warps[0], _WARP[1] * _LANES * self.warps[1]

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self.threads_of_slice * self.slices

    @property
    def threads_of_slice(self) -> int:
        """Threads that compute a tile of one slice."""
        return prod(_WARP) * prod(self.warps)

    @property
    def lanes_written(self) -> int:
        """Lanes of the vectors of a block that divide evenly among the threads of all slices."""
        return next(n for n in (4, 2, 1) if _WARP[0] * self.rows % (self.slices * n) == 0)

    @property
    def shared_bytes(self) -> int:
        """Bytes of shared memory: two steps of float32 factors, and the sums of several slices.

        Nothing reads the factors any more when a block stores the sums, but these have memory of
        their own, since each array of a kernel has. Four bytes say whether a block is the last.
        """
        down, across = self.block
        factors = 2 * (down * (self.steps + _PAD) + self.steps * across)
        sums = down * across * self.slices if self.slices > 1 else 0
        return 4 * (factors + sums + self.has_one_kernel)


@dataclass(frozen=True)
class Limits:
    """What a tile may have at most.

    Attributes
    ----------
    threads, shared_bytes : int
        Of a block.
    pieces : int
        Of the steps.
    slices : int
        Of the steps in shared memory.
    has_fence : bool
        Whether the last block of a tile can read what other blocks wrote.
    """

    threads: int
    shared_bytes: int
    pieces: int
    slices: int = 1
    has_fence: bool = False

    @classmethod
    def of(cls, target: TargetValue) -> Limits:
        """Return the limits of a target."""
        return cls(
            target.max_threads,
            target.local_memory_bytes,
            max(_PIECES),
            max(slices for _, _, slices in _USED),
            target.device_fence,
        )

    def broken_by(self, tile: ProductTile) -> str | None:
        """Return the limit that a block of a tile exceeds, or None."""
        if tile.threads > self.threads:
            return "threads of a block"
        return "shared memory" if tile.shared_bytes > self.shared_bytes else None


def has_tiles(rows: int, columns: int, steps: int) -> bool:
    """Whether a product has enough rows and columns for tiles."""
    most = MOST_BLOCKS_ALONG_Y * _WARP[1] * _LANES
    if rows < _LEAST_ROWS or not _LEAST_COLUMNS <= columns <= most:
        return False
    tiles = (ProductTile(*used[:2], _STEPS[-1]) for used in _USED)
    return any(lanes_have_no_tests(each, rows, columns, steps) for each in tiles)


def lanes_have_no_tests(tile: ProductTile, rows: int, columns: int, steps: int) -> bool:
    """Whether the lanes of a thread's sums need no tests of their own.

    They need them if vectors do not divide the columns, unless the matrix has a whole block and
    the tiles of the steps are whole.
    """
    if columns % _LANES == 0:
        return True
    down, across = tile.block
    return rows >= down and columns >= across and steps % (tile.steps * tile.pieces) == 0


def candidates(steps: int, limits: Limits) -> Iterator[tuple[ProductTile, str | None]]:
    """Yield tiles for so many steps, and for each the limit that it exceeds, or None.

    The steps of a tile are the most that the limits allow.
    """
    for pieces in (n for n in _PIECES if n <= limits.pieces):
        own = [n for n in _STEPS if steps % (n * pieces) == 0]
        if pieces == 1:
            own = own or [_whole_steps(steps)]
        elif own[:1] != [_STEPS[0]] or steps // pieces < _LEAST_PIECE:
            continue
        for rows, warps, slices in _USED:
            if slices > limits.slices or (slices > 1 and steps < own[0]):
                continue
            # The sums of several slices may leave room for fewer steps.
            sizes = own[:1] if slices == 1 else [n for n in own if n % (slices * _LANES) == 0]
            forms = (False, True) if limits.has_fence and pieces > 1 else (False,)
            for has_one_kernel in forms:
                for n in sizes:
                    tile = ProductTile(rows, warps, n, pieces, slices, has_one_kernel)
                    broken = limits.broken_by(tile)
                    yield tile, broken
                    if broken is None:
                        break


def _whole_steps(steps: int) -> int:
    """Return the steps in shared memory for a number that none of the usual ones divides.

    The last part has fewer steps, and tests, unless nearly the most steps divide the number.
    """
    divisors = (n for n in range(_STEPS[0], 0, -_LANES) if steps % n == 0)
    best = next(divisors, 0)
    if best == steps or best >= _STEPS[0] // 2:
        return best
    return min(_STEPS[0], -(-steps // _LANES) * _LANES)


def seconds(
    tile: ProductTile, batch: int, rows: int, columns: int, steps: int, profile: DeviceProfile
) -> float:
    """Return the seconds that a product is estimated to take, with its launches."""
    down, across = tile.block
    blocks = batch * -(-rows // down) * -(-columns // across) * tile.pieces
    at_once = int(profile.held_blocks(tile.threads, tile.shared_bytes, _REGISTERS))
    full, rest = divmod(-(-blocks // profile.processors), at_once)
    rate = profile.fma_rate / profile.processors
    work = down * across * tile.steps / rate / _USED[tile.rows, tile.warps, tile.slices]
    latency = profile.latency_seconds
    alone = _STEP * latency + _OWN * tile.rows * _LANES * tile.steps / tile.slices / rate
    spent = full * max(at_once * work, alone) + (max(rest * work, alone) if rest else 0)
    spent *= -(-steps // (tile.pieces * tile.steps))
    spent += profile.launch_seconds + _ROUND * latency * (full + (rest > 0))
    if tile.has_one_kernel:
        rounds = -(-blocks // tile.pieces // profile.processors)
        sums = rounds * tile.pieces * down * across
        spent += _LAST * latency + sums * _LAST_SUM_BYTES * profile.processors / profile.cache_rate
    elif tile.pieces > 1:
        sums = tile.pieces * batch * rows * columns
        spent += _SECOND * profile.launch_seconds + sums * _SUM_BYTES / profile.cache_rate
        spent = max(spent, _PAIR * profile.launch_seconds)
    return spent


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
    if tile.pieces == 1:
        return _sum_tiles(s, sums, root, factors, tile, _bind_grid)
    piece, _ = s[sums].split(sums.op.reduce_axis[0], nparts=tile.pieces)
    parts = s.rfactor(sums, piece)
    added = in_registers(s, sums, root)
    if tile.has_one_kernel:
        block, thread, turn = _bind_blocks(s[root], tile, _bind_grid)
        s[added].compute_at(s[root], turn)
        _add_up(s[added], _lanes_of(root, tile.lanes_written))
        s[parts].set_scope("global")
        s[parts].compute_at(s[root], block)
        _sum_tiles(s, parts, parts, factors, tile, _bind_pieces)
        return thread
    _sum_tiles(s, parts, parts, factors, tile, _bind_grid)
    thread = _bind_elements(s[root], tile.threads_of_slice)
    s[added].compute_at(s[root], thread)
    _add_up(s[added], _lanes_of(root, _LANES))
    return thread


_BindBlocks = Callable[[Stage, list[IterVar], IterVar], None]
"""Binds the axes of blocks: those before the columns, and that of columns."""


def _sum_tiles(
    s: Schedule,
    sums: Tensor,
    root: Tensor,
    factors: list[Tensor],
    tile: ProductTile,
    bind_blocks: _BindBlocks,
) -> IterVar:
    """Compute the sums of loops over blocks that write `root`; return the axis of threads."""
    if tile.slices == 1:
        local = in_registers(s, sums, root)
        thread = _bind_tiles(s[root], tile, bind_blocks)
        s[local].compute_at(s[root], thread)
        _accumulate(s, local, factors, tile)
        return thread
    _, inner = s[sums].split(sums.op.reduce_axis[0], tile.steps)
    own, _ = s[sums].split(inner, nparts=tile.slices)
    shared = s.rfactor(sums, own)
    local = s.cache_write(shared, "local")
    added = in_registers(s, sums, root)
    block, thread, turn = _bind_blocks(s[root], tile, bind_blocks)
    s[added].compute_at(s[root], turn)
    _add_up(s[added], _lanes_of(root, tile.lanes_written))
    s[shared].set_scope("shared")
    s[shared].compute_at(s[root], block)
    s[local].compute_at(s[shared], _bind_slices(s[shared], tile))
    _accumulate(s, local, factors, tile)
    return thread


def _bind_tiles(stage: Stage, tile: ProductTile, bind_blocks: _BindBlocks) -> IterVar:
    """Give each block and thread its tile of ``[..., M, N]``; return the axis of threads."""
    *others, row, column = stage.op.axis
    block_row, row = stage.split(row, tile.block[0])
    block_column, column = stage.split(column, tile.block[1])
    threads, own = _split_tile(stage, row, column, tile)
    stage.reorder(*others, block_row, block_column, *threads, *own)
    thread = stage.fuse(*threads)
    bind_blocks(stage, [*others, block_row], block_column)
    _bind_thread(stage, thread, own)
    return thread


def _bind_blocks(
    stage: Stage, tile: ProductTile, bind_blocks: _BindBlocks
) -> tuple[IterVar, IterVar, IterVar]:
    """Give each block its tile of ``[..., M, N]``, and each thread some vectors of the tile.

    Returns the axes of blocks, of threads, and of the vectors of a thread.
    """
    *others, row, column = stage.op.axis
    block_row, row = stage.split(row, tile.block[0])
    lanes = _lanes_of(stage.op.output(0), tile.lanes_written)
    block_column, column = stage.split(column, tile.block[1])
    column, lane = stage.split(column, lanes)
    turn, row = stage.split(row, tile.threads * lanes // tile.block[1])
    stage.reorder(*others, block_row, block_column, row, column, turn, lane)
    thread = stage.fuse(row, column)
    bind_blocks(stage, [*others, block_row], block_column)
    _bind_thread(stage, thread, [turn, lane], lanes)
    return block_column, thread, turn


def _bind_slices(stage: Stage, tile: ProductTile) -> IterVar:
    """Give each thread its tile of one of the slices of a block; return the axis of threads."""
    part, *others, row, column = stage.op.axis
    # Bounds leave out rows and columns past the end of a matrix; a block has threads for them, too.
    only_row, row = stage.split(row, tile.block[0])
    only_column, column = stage.split(column, tile.block[1])
    threads, own = _split_tile(stage, row, column, tile)
    stage.reorder(*others, only_row, only_column, part, *threads, *own)
    thread = stage.fuse(part, *threads)
    _bind_thread(stage, thread, own)
    return thread


def _split_tile(
    stage: Stage, row: IterVar, column: IterVar, tile: ProductTile
) -> tuple[list[IterVar], list[IterVar]]:
    """Split the rows and columns of a block; return the axes of threads, and a thread's own."""
    warp_row, row = stage.split(row, _WARP[0] * tile.rows)
    own_row, thread_row = stage.split(row, _WARP[0])
    warp_column, column = stage.split(column, _WARP[1] * _LANES)
    thread_column, lane = stage.split(column, _LANES)
    return [warp_row, warp_column, thread_row, thread_column], [own_row, lane]


def _bind_grid(stage: Stage, rows: list[IterVar], column: IterVar) -> None:
    """Bind the axes of blocks; only x may have more blocks than MOST_BLOCKS_ALONG_Y."""
    stage.bind(stage.fuse(*rows), te.thread_axis("blockIdx.x"))
    stage.bind(column, te.thread_axis("blockIdx.y"))


def _bind_pieces(stage: Stage, rows: list[IterVar], column: IterVar) -> None:
    """Bind the pieces of a stage that is inside of a loop over tiles."""
    stage.bind(rows[0], te.thread_axis("blockIdx.z"))


def _bind_thread(stage: Stage, thread: IterVar, own: list[IterVar], lanes: int = _LANES) -> None:
    """Bind the axis of threads; unroll a thread's own vectors."""
    *vectors, lane = own
    stage.bind(thread, te.thread_axis("threadIdx.x"))
    for axis in vectors:
        stage.unroll(axis)
    is_whole = _lanes_of(stage.op.output(0), lanes) == lanes
    vectorize(stage, lane, lanes if is_whole else 1)


def _bind_elements(stage: Stage, threads: int) -> IterVar:
    """Give each thread a vector of elements; return the axis of threads."""
    *others, column = stage.op.axis
    lanes = _lanes_of(stage.op.output(0), _LANES)
    columns, lane = stage.split(column, lanes)
    block, thread = stage.split(stage.fuse(*others, columns), threads)
    stage.bind(block, te.thread_axis("blockIdx.x"))
    stage.bind(thread, te.thread_axis("threadIdx.x"))
    vectorize(stage, lane, lanes)
    return thread


def _accumulate(s: Schedule, sums: Tensor, factors: list[Tensor], tile: ProductTile) -> None:
    """Schedule the steps of a thread: copies to shared memory, to registers, and products."""
    stage = s[sums]
    shared = [s.cache_read(each, "shared", [sums]) for each in factors]
    left, right = (s.cache_read(each, "local", [sums]) for each in shared)
    *others, row, column = stage.op.axis
    if tile.slices == 1:
        outer, inner = stage.split(stage.op.reduce_axis[0], tile.steps)
    else:
        outer, inner = stage.op.reduce_axis
    group, step = stage.split(inner, _LANES)
    stage.reorder(outer, group, step, *others, row, column)
    # Each statement of a tile of open rows has a test, and the code would be long.
    is_open = number_of(row.dom.extent) is None
    for axis in (step, row) if is_open else (group, step, row):
        stage.unroll(axis)
    _vectorize(stage, column)
    # Vectors of steps must not end outside of the factor.
    lanes = _LANES if number_of(factors[0].shape[-1]) % _LANES == 0 else 1
    for each, place, own in ((left, group, lanes), (right, step, _LANES)):
        s[each].compute_at(stage, place)
        *_, down, across = s[each].op.axis
        s[each].unroll(down)
        if own == 1:
            s[each].unroll(across)
        else:
            _vectorize(s[each], across)
    for each, own in zip(shared, (lanes, _lanes_of(factors[1], _LANES)), strict=True):
        s[each].compute_at(stage, outer)
        _copy(s[each], tile.threads, own)
        s[each].pipeline(stages=2)
    s[shared[0]].storage_align(s[shared[0]].op.axis[-2], tile.steps, _PAD)


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


def _lanes_of(matrix: Tensor, most: int) -> int:
    """Return the lanes of the vectors of a row of a matrix, none of which ends outside of it."""
    columns = number_of(matrix.shape[-1])
    assert columns is not None
    return vector_lanes(columns, most)


def _vectorize(stage: Stage, axis: IterVar, lanes: int = _LANES) -> None:
    _, lane = stage.split(axis, lanes)
    vectorize(stage, lane, lanes)


__all__ = [
    "MOST_BLOCKS_ALONG_Y",
    "SPARED",
    "Limits",
    "ProductTile",
    "candidates",
    "has_tiles",
    "lanes_have_no_tests",
    "schedule_product",
    "seconds",
]
