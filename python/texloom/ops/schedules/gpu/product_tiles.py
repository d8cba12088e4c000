"""Tiles of products of matrices for GPUs, and estimates of their times."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from ...._core import TargetValue
from ....profiles import DeviceProfile

LANES = 4
"""The lanes of vectors."""
WARP = (4, 8)
"""Threads of a warp along rows and columns."""
_STEPS = (32, 16, 8)  # steps of which factors are in shared memory, mostly one that divides all
_PIECES = (1, 2, 3, 4, 6, 8, 12, 16)
_LEAST_PIECE = 64  # steps of a piece
MOST_BLOCKS_ALONG_Y = 65535
"""The most blocks of a grid along y."""
_LEAST_COLUMNS = 16
_LEAST_ROWS = 2
PAD = 4
"""Elements after a row of the left factor in shared memory, so that rows are in different banks."""

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
        return WARP[0] * self.rows * self.warps[0], WARP[1] * LANES * self.warps[1]

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self.threads_of_slice * self.slices

    @property
    def threads_of_slice(self) -> int:
        """Threads that compute a tile of one slice."""
        return prod(WARP) * prod(self.warps)

    @property
    def lanes_written(self) -> int:
        """Lanes of the vectors of a block that divide evenly among the threads of all slices."""
        return next(n for n in (4, 2, 1) if WARP[0] * self.rows % (self.slices * n) == 0)

    @property
    def shared_bytes(self) -> int:
        """Bytes of shared memory: two steps of float32 factors, and the sums of several slices.

        Nothing reads the factors any more when a block stores the sums, but these have memory of
        their own, since each array of a kernel has. Four bytes say whether a block is the last.
        """
        down, across = self.block
        factors = 2 * (down * (self.steps + PAD) + self.steps * across)
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
    most = MOST_BLOCKS_ALONG_Y * WARP[1] * LANES
    if rows < _LEAST_ROWS or not _LEAST_COLUMNS <= columns <= most:
        return False
    tiles = (ProductTile(*used[:2], _STEPS[-1]) for used in _USED)
    return any(lanes_have_no_tests(each, rows, columns, steps) for each in tiles)


def lanes_have_no_tests(tile: ProductTile, rows: int, columns: int, steps: int) -> bool:
    """Whether the lanes of a thread's sums need no tests of their own.

    They need them if vectors do not divide the columns, unless the matrix has a whole block and
    the tiles of the steps are whole.
    """
    if columns % LANES == 0:
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
            sizes = own[:1] if slices == 1 else [n for n in own if n % (slices * LANES) == 0]
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
    divisors = (n for n in range(_STEPS[0], 0, -LANES) if steps % n == 0)
    best = next(divisors, 0)
    if best == steps or best >= _STEPS[0] // 2:
        return best
    return min(_STEPS[0], -(-steps // LANES) * LANES)


def _read_seconds(tile: ProductTile, profile: DeviceProfile) -> float:
    """Return the seconds in which shared memory gives a thread what one of its products needs."""
    return 4 * (tile.rows + LANES) / (tile.rows * LANES) / profile.shared_rate


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
    alone = _STEP * latency + _OWN * tile.rows * LANES * tile.steps / tile.slices / rate
    spent = full * max(at_once * work, alone) + (max(rest * work, alone) if rest else 0)
    spent *= -(-steps // (tile.pieces * tile.steps))
    spent = max(spent, blocks * down * across * steps / tile.pieces * _read_seconds(tile, profile))
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


__all__ = [
    "LANES",
    "MOST_BLOCKS_ALONG_Y",
    "PAD",
    "SPARED",
    "WARP",
    "Limits",
    "ProductTile",
    "candidates",
    "has_tiles",
    "lanes_have_no_tests",
    "seconds",
]
