"""Kernels of processors with known registers that write row-major tensors, an element at a time.

The innermost loop runs along contiguous elements, and compilers vectorize it. Loops follow the
axes of the tensor, so that no element needs a quotient to find its indices; trailing axes along
which all elements are contiguous become one loop. If tensors are read along another axis, as in a
transpose, the elements are computed in tiles, which use each cache line as a whole.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import gcd, prod

from .... import te
from ...._core import IterVar, Schedule, Stage, Tensor
from ....extents import are_known, shape_of
from ...divisors import nearest_divisor
from ...movement.joining import JOINED
from .reads import Read, reads_of

BLOCK = 2048
"""Elements of a block, if the tensor has more: enough to make its start cheap."""
TILE = 16
"""Elements of a tile along the axis that is contiguous in what is read: a cache line of float32."""
LANES = (8, 4)
"""Elements of a tile along the last axis, which are computed as a vector."""
_MOST_PARTS = 16
"""The most loops along a row of joined tensors, each over elements of one of them."""
_SHORT = 8
"""The fewest elements for which a loop along the last axes is worth it."""


@dataclass(frozen=True)
class ElementLoops:
    """The loops of a kernel.

    Attributes
    ----------
    joined : int
        The number of trailing axes that become the innermost loop.
    block : int
        Elements of a block, about.
    across : int or None
        The axis that is contiguous in what is read, if it is not the last one.
    lanes : int
        With `across`: elements of a tile along the last axis, which are a vector.
    """

    joined: int
    block: int = BLOCK
    across: int | None = None
    lanes: int = 1

    @classmethod
    def of(cls, shape: Sequence[int], reads: Sequence[Read]) -> ElementLoops | None:
        """Return the loops for a tensor; None if its rows are too short for loops of their own."""
        last = len(shape) - 1
        across = _axis_across(shape, reads)
        lanes = next((n for n in LANES if shape[last] % n == 0), None)
        if across is not None and lanes is not None:
            return cls(1, across=across, lanes=lanes)
        joined = 1
        while joined <= last and all(
            each.joins(last - joined, shape[last - joined + 1]) for each in reads
        ):
            joined += 1
        return cls(joined) if prod(shape[len(shape) - joined :]) >= _SHORT else None


def _axis_across(shape: Sequence[int], reads: Sequence[Read]) -> int | None:
    """Return the axis along which most of what depends on the last axis is contiguous.

    None if that is the last axis.
    """
    last = len(shape) - 1
    votes: dict[int, int] = {}
    for each in reads:
        if any(last in index.axes for index in each.indices):
            fastest = max(each.fastest, default=last)
            votes[fastest] = votes.get(fastest, 0) + prod(each.shape)
    best = max(votes, key=lambda axis: votes[axis], default=last)
    return None if best == last or shape[best] < LANES[-1] else best


def schedule_elements(
    s: Schedule, tensor: Tensor, inlined: Collection[te.Operation]
) -> IterVar | None:
    """Schedule a kernel that writes `tensor`, which has no reduction; return the axis of blocks.

    None if nothing is scheduled.
    """
    if not are_known(tensor.shape) or not tensor.shape or tensor.op.num_outputs > 1:
        return None
    shape = tuple(map(int, shape_of(tensor)))
    loops = ElementLoops.of(shape, reads_of(tensor, inlined))
    if loops is None:
        return None
    stage = s[tensor]
    axes = list(stage.op.axis)
    if loops.across is not None:
        return _bind_tiles(stage, axes, shape, loops)
    kept = len(axes) - loops.joined
    inner = stage.fuse(*axes[kept:])
    extents = [*shape[:kept], prod(shape[kept:])]
    part = _joined_part(tensor) if loops.joined == 1 else 0
    if part:
        outer, _ = stage.split(inner, part)
        stage.unroll(outer)
        return _bind_blocks(stage, axes[:kept], extents[:kept], -(-loops.block // extents[-1]))
    return _bind_blocks(stage, [*axes[:kept], inner], extents, loops.block)


def _joined_part(tensor: Tensor) -> int:
    """Return the number of elements, along the last axis, that one of some joined tensors has.

    It divides the extents of all of them, so that a loop over so many elements asks nothing. 0 if
    the tensors are not joined along the last axis, or if loops would be short or many.
    """
    if tensor.op.tag != JOINED or len(tensor.shape) < 2:
        return 0
    extents = [int(each.shape[-1]) for each in tensor.op.input_tensors]
    whole, part = int(tensor.shape[-1]), gcd(*extents)
    is_along_last = sum(extents) == whole and len(extents) > 1
    return part if is_along_last and part >= TILE and whole <= _MOST_PARTS * part else 0


def _bind_tiles(
    stage: Stage, axes: list[IterVar], shape: Sequence[int], loops: ElementLoops
) -> IterVar:
    """Compute tiles of a vector along the last axis, for each element along another axis."""
    assert loops.across is not None
    *others, last = axes
    across = others.pop(loops.across)
    column, lane = stage.split(last, loops.lanes)
    tile = nearest_divisor(shape[loops.across], TILE)
    row, inner = stage.split(across, tile)
    outer = [*others, row, column]
    stage.reorder(*outer, inner, lane)
    stage.vectorize(lane)
    extents = [n for i, n in enumerate(shape[:-1]) if i != loops.across]
    extents += [-(-shape[loops.across] // tile), shape[-1] // loops.lanes]
    return _bind_blocks(stage, outer, extents, max(1, loops.block // (tile * loops.lanes)))


def _bind_blocks(
    stage: Stage, axes: Sequence[IterVar], extents: Sequence[int], least: int
) -> IterVar:
    """Bind the outer of some nested loops to blocks of about `least` iterations."""
    inner, place = 1, len(axes) - 1
    while place > 0 and inner * extents[place] < least:
        inner *= extents[place]
        place -= 1
    outer, _ = stage.split(axes[place], nearest_divisor(extents[place], -(-least // inner)))
    block = stage.fuse(*axes[:place], outer)
    stage.bind(block, te.thread_axis("blockIdx.x"))
    return block


__all__ = ["ElementLoops", "schedule_elements"]
