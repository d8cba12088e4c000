"""How blocks share out the keys of few queries in attention, on GPUs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from ...._core import TargetValue
from ....profiles import DeviceProfile, profile_of
from ...attention import Heads, KeySlices, Queries, Sizes
from ...attention.kept_slices import AT_ONCE, LANES
from ..family import Spaces

_ROWS = (1, 2, 4, 8)
_THREADS = (64, 128, 256)
_KEYS_OF_THREAD = (1, 2, 4)
_MOST_SLICES = 128
_MOST_QUERIES = 8
"""More queries of a head are multiplied by matrix units, or by tiles that read keys once."""
_MOST_REGISTERS = 160

# How the kernels use a device, next to its profile: counts of what they do.
_START = 8.0  # latencies of memory before the first scores and after the last sums
_PART = 2.0  # latencies of memory of a part, next to those of its loads
_CHAINS = 1.3  # fused products of a thread that do not wait for each other
_SCORE = 24  # instructions of a score: scale, mask, maximum, exponential, sum
_TICKET = 7.0  # latencies of memory of a ticket, with its fences
_CACHE_READS = 2.6  # times to read keys and values from a cache: threads read lines of their own
_MEMORY_READS = 1.2  # the same for the memory
_OTHER_REGISTERS = 32


@dataclass(frozen=True)
class SliceAttention:
    """The facts of attention of few queries.

    Attributes
    ----------
    sizes : Sizes
    queries : Queries
    element_bytes : int
        Bytes of an element of keys and values.
    threads, shared_bytes : int
        The most of a block.
    has_fence : bool
        Whether the last block may add up what others have written.
    """

    sizes: Sizes
    queries: Queries
    element_bytes: int
    threads: int
    shared_bytes: int
    has_fence: bool

    @classmethod
    def of(
        cls, sizes: Sizes, heads: Heads | None, dtype: str, target: TargetValue
    ) -> SliceAttention | None:
        """Return the facts, given the type of keys; None where other kernels suit better."""
        if target.is_cpu or not profile_of(target).has_fast_shared_memory:
            return None
        if sizes.rows > _MOST_QUERIES or dtype not in ("float32", "float16"):
            return None
        if min(sizes.keys, sizes.depth, sizes.width, sizes.rows, *sizes.batch, 1) == 0:
            return None
        return cls(
            sizes,
            Queries.of(sizes, heads),
            int(dtype[-2:]) // 8,
            target.max_threads,
            target.local_memory_bytes,
            target.device_fence,
        )


class KeySlicings(Spaces[SliceAttention, KeySlices]):
    """Slices of keys, those of the fewest parts first."""

    name = "attention by slices of keys"
    is_estimated = True

    def points(self, facts: SliceAttention) -> Iterator[tuple[KeySlices, str | None]]:
        """Yield all slices."""
        least = next((n for n in _ROWS if n >= facts.queries.rows), _ROWS[-1])
        for threads in _THREADS:
            for own in _KEYS_OF_THREAD:
                keys = threads * own
                parts = -(-facts.sizes.keys // keys)
                for count in _divisions(parts):
                    for rows in _ROWS:
                        if rows > least:
                            continue
                        made = KeySlices(rows, threads, keys, count, facts.has_fence)
                        yield made, _broken_by(made, facts)

    def seconds(self, facts: SliceAttention, knobs: KeySlices, profile: DeviceProfile) -> float:
        """Return the time of all blocks, as many at a time as the processors hold."""
        sizes, queries = facts.sizes, facts.queries
        slices = knobs.slices(sizes)
        blocks = prod(queries.batch) * -(-queries.rows // knobs.rows) * slices
        registers = knobs.registers + _OTHER_REGISTERS
        at_once = int(profile.held_blocks(knobs.threads, knobs.shared_bytes(sizes), registers))
        full, rest = divmod(-(-blocks // profile.processors), at_once)
        alone, busy = _part_alone(facts, knobs, profile), _part_busy(facts, knobs, profile)
        spent = 0.0
        for count, held in ((full, at_once), (min(rest, 1), rest)):
            part = knobs.parts * max(alone, held * busy)
            spent += count * (_START * profile.latency_seconds + part)
        read = prod(queries.batch) * sizes.keys * (sizes.depth + sizes.width) * facts.element_bytes
        spent = max(spent, _MEMORY_READS * read / profile.memory_rate)
        if slices > 1:
            spent += (1 + -(-slices // AT_ONCE)) * profile.latency_seconds
            spent += _TICKET * profile.latency_seconds if knobs.takes_tickets else 0
            spent += 0 if knobs.takes_tickets else profile.launch_seconds
        return float(profile.launch_seconds + spent)


def _divisions(parts: int) -> list[int]:
    """Return parts of a slice such that slices are few, or as many as there are parts."""
    counts = {-(-parts // slices) for slices in range(1, min(parts, _MOST_SLICES) + 1)}
    # Of the numbers of slices, those that are about powers of two apart.
    made: list[int] = []
    for count in sorted(counts):
        if not made or count >= 1.25 * made[-1]:
            made.append(count)
    return made


def _products(facts: SliceAttention, tile: KeySlices) -> int:
    """Return fused products of a thread in a part."""
    scores = tile.keys // tile.threads * facts.sizes.depth
    values = -(-tile.keys // tile.at_once(facts.sizes)) * LANES
    return tile.rows * (scores + values)


def _part_alone(facts: SliceAttention, tile: KeySlices, profile: DeviceProfile) -> float:
    """Return the seconds of a part in a block that has a processor alone."""
    loads = tile.loads(facts.sizes, facts.element_bytes) * profile.latency_seconds
    products = _products(facts, tile) * profile.fma_seconds / _CHAINS
    scores = tile.keys // tile.threads_of_row * _SCORE * profile.fma_seconds / _CHAINS
    return float(_PART * profile.latency_seconds + loads + products + scores)


def _part_busy(facts: SliceAttention, tile: KeySlices, profile: DeviceProfile) -> float:
    """Return the seconds of a part that a processor's units need for it."""
    sizes = facts.sizes
    read = tile.keys * (sizes.depth + sizes.width) * facts.element_bytes
    read *= _CACHE_READS / profile.cache_rate
    instructions = tile.threads * _products(facts, tile) + tile.rows * tile.keys * _SCORE
    # Threads that run in step read the same vectors of queries, and the same weights.
    own = tile.keys // tile.threads
    reads = own * tile.rows * sizes.depth // (LANES * own)
    reads += tile.rows * -(-tile.keys // tile.at_once(sizes))
    moved = profile.warps(tile.threads) * reads * LANES * profile.warp_threads
    work = instructions / profile.fma_rate + moved / profile.shared_rate
    return float(max(read, work) * profile.processors)


def _broken_by(tile: KeySlices, facts: SliceAttention) -> str | None:
    """Return the rule that slices break, or None."""
    sizes = facts.sizes
    if tile.threads > facts.threads:
        return "threads"
    if tile.keys >= sizes.keys + tile.threads and tile.keys > tile.threads:
        return "empty keys"
    if tile.at_once(sizes) < 1:
        return "columns"
    if tile.slices(sizes) > _MOST_SLICES:
        return "slices"
    # Drivers keep some bytes of shared memory for themselves.
    if tile.shared_bytes(sizes) >= facts.shared_bytes:
        return "shared memory"
    return "registers" if tile.registers > _MOST_REGISTERS else None


SLICES = KeySlicings()

__all__ = ["SLICES", "KeySlicings", "SliceAttention"]
