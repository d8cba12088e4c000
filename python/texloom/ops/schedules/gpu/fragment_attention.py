"""The tile of attention by matrix fragments, for GPUs with matrix units."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod

from ...._core import TargetValue
from ....profiles import DeviceProfile, profile_of
from ....tir.fragments import FRAGMENT_SIDE
from ...attention import FragmentBlock, Sizes
from ...attention.fragment_kernel import whole
from ..family import Spaces

_DOWN, _ACROSS, _SLICES = (1, 2, 4), (4, 2, 8, 1), (1, 2, 4)
_MOST_KEYS = 256
_SHARED = "shared memory"
_MOST_THREADS = 512
_MOST_REGISTERS = 144  # of elements
_LEAST_ROWS = 9
"""Fewer queries leave half of the rows of a fragment empty."""

# How the kernels use a device, next to its profile: figures of products by fragments and counts of
# instructions.
_START = 3.0  # latencies of memory before the first scores and after the last sums
_PHASE = 3  # barriers in whose time a phase of a part waits for shared memory and other threads
_PHASES = 5  # of a part; one more where values wait until scores are read
_PART = 1.21  # the time of a product of parts, in that of as many products by a processor's threads
_SCORE = 24  # instructions of a score: scale, mask, maximum, exponential, sum, conversion
_ISSUE = 4  # SIMD-groups of a processor that issue at once
_OTHER_REGISTERS = 48


@dataclass(frozen=True)
class FragmentAttention:
    """The facts of attention by fragments.

    Attributes
    ----------
    sizes : Sizes
    threads, shared_bytes : int
        The most of a block.
    half_bytes : int
        Bytes of an element of float16 in shared memory.
    """

    sizes: Sizes
    threads: int
    shared_bytes: int
    half_bytes: int = 2

    @classmethod
    def of(cls, sizes: Sizes, target: TargetValue) -> FragmentAttention | None:
        """Return the facts; None for targets without matrix units, and for few queries."""
        if target.is_cpu or target.matrix_unit == "none":
            return None
        if not profile_of(target).has_fast_shared_memory:
            return None
        if sizes.rows < _LEAST_ROWS or min(sizes.keys, sizes.depth, sizes.width) == 0:
            return None
        # Loops of threads keep float16 as float32, if the device does not compute with it.
        half_bytes = 4 if target.matrix_unit == "loops" else 2
        return cls(sizes, target.max_threads, target.local_memory_bytes, half_bytes)

    def bytes_of(self, tile: FragmentBlock) -> int:
        """Return the bytes of shared memory of a block."""
        return tile.shared_bytes(self.sizes, self.half_bytes)


class FragmentBlocks(Spaces[FragmentAttention, FragmentBlock]):
    """Tiles of attention by fragments."""

    name = "attention by fragments"
    is_estimated = True

    def points(self, facts: FragmentAttention) -> Iterator[tuple[FragmentBlock, str | None]]:
        """Yield tiles, those of the fewest parts first."""
        parts = range(1, -(-facts.sizes.keys // FRAGMENT_SIDE) + 1)
        counts = dict.fromkeys(whole(-(-facts.sizes.keys // each)) for each in parts)
        for keys in counts:
            if keys > _MOST_KEYS:
                continue
            for down in _DOWN:
                for across in _ACROSS:
                    for slices in _SLICES:
                        if slices <= across:
                            tile = FragmentBlock(down, across, slices, keys)
                            broken = _broken_by(tile, facts)
                            yield tile, broken
                            if broken == _SHARED:
                                tile = replace(tile, takes_turns=True)
                                yield tile, _broken_by(tile, facts)

    def seconds(
        self, facts: FragmentAttention, knobs: FragmentBlock, profile: DeviceProfile
    ) -> float:
        """Return the time of all blocks, as many at a time as the processors hold."""
        sizes, shared = facts.sizes, facts.bytes_of(knobs)
        blocks = prod(sizes.batch) * -(-sizes.rows // knobs.rows)
        registers = knobs.registers(sizes) + _OTHER_REGISTERS
        at_once = int(profile.held_blocks(knobs.threads, shared, registers))
        full, rest = divmod(-(-blocks // profile.processors), at_once)
        parts = -(-sizes.keys // knobs.keys)
        alone, busy = _part_alone(sizes, knobs, profile), _part_busy(sizes, knobs, profile)
        spent = profile.launch_seconds
        for count, held in ((full, at_once), (min(rest, 1), rest)):
            spent += count * (_START * profile.latency_seconds + parts * max(alone, held * busy))
        return spent


def _part_alone(sizes: Sizes, tile: FragmentBlock, profile: DeviceProfile) -> float:
    """Return the seconds of a part in a block that has a processor alone."""
    depth, width = whole(sizes.depth), whole(sizes.width)
    product = _PART * FRAGMENT_SIDE**3 * profile.processors / profile.fma_rate
    keys = tile.keys // FRAGMENT_SIDE
    products = -(-keys // tile.across) * depth // FRAGMENT_SIDE
    columns = -(-width * tile.slices // (FRAGMENT_SIDE * tile.across))
    products += columns * -(-keys // tile.slices)
    instruction = profile.warp_threads * profile.processors / profile.fma_rate
    turns = max(profile.warps(tile.threads), _ISSUE)
    scores = tile.keys // tile.threads_of_row * _SCORE * instruction * turns
    waits = _PHASE * (_PHASES + tile.takes_turns) * profile.barrier_seconds
    return float(waits + products * product + scores)


def _part_busy(sizes: Sizes, tile: FragmentBlock, profile: DeviceProfile) -> float:
    """Return the seconds of a part that a processor's units need for it."""
    depth, width = whole(sizes.depth), whole(sizes.width)
    copied = 2 * tile.keys * (sizes.depth + sizes.width) / profile.cache_rate
    products = tile.rows * tile.keys * (depth + width) / profile.matrix_rate
    scores = tile.rows * tile.keys * _SCORE / profile.fma_rate
    # Factors are written once, and read by each row of fragments; scores, weights and sums of
    # slices are written and read.
    moved = 2 * tile.keys * (depth + width) * (1 + tile.down)
    moved += tile.rows * (12 * tile.keys + 8 * tile.slices * width)
    shared = moved / profile.shared_rate
    return float(max(copied, products + scores + shared) * profile.processors)


def _broken_by(tile: FragmentBlock, facts: FragmentAttention) -> str | None:
    """Return the rule that a tile breaks, or None."""
    sizes = facts.sizes
    if tile.threads > min(facts.threads, _MOST_THREADS):
        return "threads"
    if tile.rows >= sizes.rows + FRAGMENT_SIDE:
        return "empty rows"
    # Drivers keep some bytes of shared memory for themselves.
    if facts.bytes_of(tile) >= facts.shared_bytes:
        return _SHARED
    # Where shared memory has few keys, up to half of the SIMD-groups may have no scores to compute.
    columns = 2 * tile.keys if tile.takes_turns else max(tile.keys, FRAGMENT_SIDE)
    if FRAGMENT_SIDE * tile.across > columns:
        return "keys"
    if FRAGMENT_SIDE * tile.across > tile.slices * whole(sizes.width):
        return "columns"
    return "registers" if tile.registers(sizes) > _MOST_REGISTERS else None


FRAGMENTS = FragmentBlocks()

__all__ = ["FRAGMENTS", "FragmentAttention", "FragmentBlocks"]
