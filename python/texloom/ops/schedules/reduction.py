"""Schedules of reductions whose elements are read as vectors or by neighboring threads.

If the terms of a result are contiguous in memory, threads share them, or a thread adds up as many
partial results as vectors have lanes. If the results are contiguous, a thread computes vectors of
results. If there are too few results to occupy a device, the terms are divided into parts. The
order in which terms are combined differs from that of a loop.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from ... import _core, te
from ..._core import IterVar, Schedule, Stage, TargetValue, Tensor
from ...extents import likely
from ...profiles import DeviceProfile, profile_of
from ..divisors import largest_divisor, nearest_divisor
from ..stages import rank_of_inputs
from .processor.registers import Registers

LANES = 64
"""The number of partial or consecutive results that a thread computes in an inner loop.

Compilers vectorize this loop even if it compares, which vector types do not express."""
TERMS = 1024
"""The fewest terms of a block of native code, if there are so many."""
_SHORT = 64
"""The most terms of a result for which partial results are not faster."""
_BLOCK = 64
"""Threads of a block, each of which computes a result."""
_LOADED = 256
"""Terms that a block loads at once."""


def lanes_for(terms: int, target: TargetValue) -> tuple[int, ...]:
    """Return the numbers of partial results of a row: of all terms, then of the partial results.

    Native code adds up as many vectors of partial results as hide the time of a sum, then combines
    them to one vector, and the halves of it, down to two numbers: one after another, its elements
    would wait for each other. A row that is too short for partial results has none.
    """
    if target.kind != "llvm":
        return () if terms <= _SHORT else (LANES if terms >= 4 * LANES else 16,)
    vector = Registers.of(target).bytes // 4
    wide = [vector * n for n in (8, 4, 2, 1) if terms >= (4 if n > 1 else 2) * vector * n]
    if not wide:
        return ()
    first = next((n for n in wide if terms % n == 0), wide[-1])
    halves = [vector >> n for n in range(vector.bit_length() - 1)]
    return (first, *(n for n in halves if n < first))


@dataclass(frozen=True)
class Division:
    """How the terms of a result are divided.

    Attributes
    ----------
    parts : int
        Parts that blocks of a first kernel reduce: a second kernel combines them. One part needs
        one kernel.
    threads : int
        Threads of a GPU's block that share a part; 1 if a thread reduces it.
    """

    parts: int
    threads: int = 1


def schedule_reduction(
    s: Schedule, tensor: Tensor, root: Tensor, target: TargetValue, division: Division
) -> tuple[Tensor, IterVar]:
    """Schedule a reduction that is divided.

    Parameters
    ----------
    s : Schedule
    tensor : Tensor
        A reduction, of one value or several.
    root : Tensor
        The stage that the kernel may write: `tensor` itself, or a stage with the same axes that
        reads `tensor` only at its own indices. Stages between `tensor` and `root` are inlined.
    target : TargetValue
    division : Division

    Returns
    -------
    (Tensor, IterVar)
        The stage that the kernel writes, and its axis at which other stages can be computed.
    """
    rows, parts, threads = rows_of(tensor, target), division.parts, division.threads
    if rows and not target.is_cpu:
        if parts > 1:
            _share_among_threads(s[_divided(s, tensor, parts)[0]], target, threads)
            threads = threads_for(parts, target)
        if root is not tensor:
            return root, _finish_in_block(s, tensor, root, target, threads)
        return tensor, _share_among_threads(s[tensor], target, threads)
    if parts == 1:
        if rows:
            own = rows if lanes_for(_extent(rows), target) else tensor.op.reduce_axis
            return root, _add_lanes(s, tensor, own, root, target)
        return root, _add_columns(s, tensor, root)
    partial, _ = _divided(s, tensor, parts)
    if rows:
        _add_lanes(s, partial, partial.op.reduce_axis, partial, target)
    elif target.is_cpu and has_columns(partial):
        _add_columns(s, partial, partial)
    else:
        _bind_parts_of(s[partial])
    thread = _bind(s[root], s[root].op.axis)
    if root is not tensor:
        _keep(s[tensor], s[root], thread)
    return root, thread


def is_of_groups(tensor: Tensor) -> bool:
    """Whether a reduction is one over some channels and all pixels, with channels last.

    The first reduced axis is the one of channels.
    """
    if not may_be_divided(tensor) or len(tensor.op.reduce_axis) < 2:
        return False
    if len(tensor.op.reduce_axis) != rank_of_inputs(tensor) - 1:
        return False
    channel, *places = tensor.op.reduce_axis
    loads = [list(each.indices) for each in _core.loads_of(tensor.op.body[0])]
    return any(_reads_pixels(each, channel, places) for each in loads)


def schedule_groups(
    s: Schedule, tensor: Tensor, target: TargetValue, division: Division
) -> IterVar:
    """Schedule, for GPUs, a reduction as of :func:`is_of_groups`; return the axis of rows."""
    channel, *places = tensor.op.reduce_axis
    order, threads = [*places, channel], division.threads
    s[tensor].reorder(*order)
    if division.parts > 1:
        part, _ = s[tensor].split(fused(s[tensor], order), nparts=division.parts)
        _share_among_threads(s[_factored(s, tensor, part)], target, threads)
        order = list(s[tensor].op.reduce_axis)
        threads = threads_for(division.parts, target)
    return _share_among_threads(s[tensor], target, threads, order=order)


def _reads_pixels(indices: Sequence[Any], channel: IterVar, places: Sequence[IterVar]) -> bool:
    """Whether an element is at the reduced pixel, and before that at a reduced channel."""
    first = len(indices) - len(places)
    if first < 2:
        return False
    at_pixel = all(i.same_as(a.var) for i, a in zip(indices[first:], places, strict=True))
    return at_pixel and bool(_core.mentions(indices[first - 1], channel.var))


def schedule_step_reduction(s: Schedule, tensor: Tensor, target: TargetValue) -> bool:
    """Schedule a reduction in a step of a scan, as :func:`schedule_reduction`, in one kernel.

    The first axis, which counts the steps, is left as it is.
    """
    rows = rows_of(tensor, target) if may_be_divided(tensor) else []
    if rows and target.is_cpu:
        _add_lanes(s, tensor, rows, tensor, target, first=1)
    elif rows:
        threads = threads_for(_extent(tensor.op.reduce_axis), target)
        _share_among_threads(s[tensor], target, threads, first=1)
    return bool(rows)


def rows_of(tensor: Tensor, target: TargetValue) -> list[IterVar]:
    """Return the reduced axes whose terms are contiguous; none if one thread per result is fast."""
    # If several values are reduced, as in argmax, a branch skips most terms and is fast already.
    is_branch = target.is_cpu and tensor.op.num_outputs > 1
    rows = _neighbors(tensor, tensor.op.reduce_axis)
    is_short = _extent(tensor.op.reduce_axis) <= _SHORT and not lanes_for(_extent(rows), target)
    return [] if is_short or is_branch else rows


def may_be_divided(tensor: Tensor) -> bool:
    """Whether partial results are possible: not with an initial value, which each would repeat."""
    body = tensor.op.body[0]
    return body._class == "Reduce" and not list(body.init)


def parts_of(tensor: Tensor, has_rows: bool, target: TargetValue) -> int:
    """Return the number of parts into which a first kernel divides the terms.

    A processor has few cores, and adds up vectors where parts are equal: somewhat fewer ones, if
    need be. Other devices have thousands of threads, and start a second kernel in the time of some
    thousand terms, which their profiles tell.
    """
    terms, results = _extent(tensor.op.reduce_axis), _extent(tensor.op.axis)
    wanted, least = (8, 1 << 14) if target.is_cpu else _parts_of_profile(profile_of(target))
    blocks = results if has_rows else -(-results // _BLOCK)
    most = max(1, min(wanted // blocks, terms // least))
    return (target.is_cpu and largest_divisor(terms, most, most // 2)) or most


def _parts_of_profile(profile: DeviceProfile) -> tuple[int, int]:
    """Return the blocks that keep a device busy, and the terms in the time of a launch."""
    loads = max(1, int(profile.launch_seconds / profile.latency_seconds * _LOADED))
    return max(1, profile.busy_threads // _BLOCK), 1 << (loads.bit_length() - 1)


def _divided(s: Schedule, tensor: Tensor, parts: int) -> list[Tensor]:
    """Return the reduction of each part of the terms, and the reduction of the partial results."""
    stage = s[tensor]
    part, _ = stage.split(fused(stage, stage.op.reduce_axis), nparts=parts)
    return [_factored(s, tensor, part), tensor]


def _bind_parts_of(stage: Stage) -> None:
    """Give each part separate blocks, with a thread for each result."""
    part, *results = stage.op.axis
    stage.bind(part, te.thread_axis("blockIdx.y"))
    _bind(stage, results)


def _bind(stage: Stage, results: Iterable[IterVar]) -> IterVar:
    """Give each result a thread; without axes, there is one result."""
    block, thread = stage.split(stage.fuse(*results), _BLOCK)
    stage.bind(block, te.thread_axis("blockIdx.x"))
    stage.bind(thread, te.thread_axis("threadIdx.x"))
    return thread


def _keep(stage: Stage, root: Stage, thread: IterVar) -> None:
    """Compute a stage in registers, in each thread of another stage."""
    stage.set_scope("local")
    stage.compute_at(root, thread)


def _add_lanes(
    s: Schedule,
    tensor: Tensor,
    axes: Sequence[IterVar],
    root: Tensor,
    target: TargetValue,
    first: int = 0,
) -> IterVar:
    """Compute each result in a thread, from partial results in its registers."""
    partial = _in_lanes(s, tensor, axes, target)
    thread = bind_some(s[root], s[root].op.axis[first:], _extent(tensor.op.reduce_axis), target)
    for each in partial if root is tensor else [*partial, tensor]:
        _keep(s[each], s[root], thread)
    return thread


def bind_some(stage: Stage, axes: Sequence[IterVar], terms: int, target: TargetValue) -> IterVar:
    """Give results to blocks; return the axis at which a result is computed.

    A block of native code computes several results of few terms, because it takes a division to
    find the place of a block.
    """
    results = _extent(axes)
    block = thread = stage.fuse(*axes)
    if target.kind == "llvm" and terms < TERMS:
        block, thread = stage.split(thread, nearest_divisor(results, -(-TERMS // terms)))
    stage.bind(block, te.thread_axis("blockIdx.x"))
    return thread


def add_in_lanes(
    s: Schedule, tensor: Tensor, root: Stage, thread: IterVar, target: TargetValue
) -> None:
    """Compute a result in each thread of another stage, from partial results if it has many terms.

    The terms are contiguous in memory.
    """
    for each in [*_in_lanes(s, tensor, list(tensor.op.reduce_axis), target), tensor]:
        _keep(s[each], root, thread)


def _in_lanes(
    s: Schedule, tensor: Tensor, axes: Sequence[IterVar], target: TargetValue
) -> list[Tensor]:
    """Return the stages of partial results of a reduction, over which innermost loops run."""
    made = []
    for count in lanes_for(_extent(axes), target):
        _, lane = s[tensor].split(fused(s[tensor], axes), count)
        partial = _factored(s, tensor, lane)
        s[partial].reorder(*s[partial].op.reduce_axis, s[partial].op.axis[0])
        if target.kind == "llvm" and _extent(axes) % count == 0:
            s[partial].vectorize(s[partial].op.axis[0])
        made.append(partial)
        axes = list(s[tensor].op.reduce_axis)[-1:]
    return made


def has_columns(tensor: Tensor) -> bool:
    """Whether consecutive results read contiguous elements."""
    results = list(tensor.op.axis)
    return tensor.op.num_outputs == 1 and bool(results and _neighbors(tensor, results[-1:]))


def _add_columns(s: Schedule, tensor: Tensor, root: Tensor) -> IterVar:
    """Compute some consecutive results in each thread."""
    sums = s.cache_write(tensor, "local") if root is tensor else tensor
    stage = s[root]
    *rest, column = stage.op.axis
    column, _ = stage.split(column, min(_extent([column]), LANES))
    thread = stage.fuse(*rest, column)
    stage.bind(thread, te.thread_axis("blockIdx.x"))
    _keep(s[sums], stage, thread)
    *rest, column = s[sums].op.axis
    s[sums].reorder(*rest, *s[sums].op.reduce_axis, column)
    return thread


def _share_among_threads(
    stage: Stage, target: TargetValue, threads: int, first: int = 0, order: Sequence[IterVar] = ()
) -> IterVar:
    """Compute each result with several threads of a block.

    `order` are all reduced axes in the order of the terms, by default the order of the stage.
    """
    bind_terms(stage, threads, order)
    return bind_rows(stage, stage.op.axis[first:], threads, target)


def _finish_in_block(
    s: Schedule, tensor: Tensor, root: Tensor, target: TargetValue, threads: int
) -> IterVar:
    """Compute each result with several threads; the first thread computes `root` from it."""
    thread = bind_terms(s[tensor], threads)
    row = bind_rows(s[root], s[root].op.axis, threads, target)
    s[tensor].compute_at(s[root], row)
    s[root].set_store_predicate(thread.var.equal(0))
    return row


def threads_for(terms: int, target: TargetValue) -> int:
    """Return the threads of a block that share so many terms of a result."""
    return min(256, target.max_threads, max(32, 1 << (terms // 4).bit_length()))


def bind_terms(stage: Stage, threads: int, order: Sequence[IterVar] = ()) -> IterVar:
    """Divide the terms of a result among so many threads; return the axis of threads."""
    _, own = stage.split(fused(stage, order or stage.op.reduce_axis), threads)
    thread = te.thread_axis((0, threads), "threadIdx.x")
    stage.bind(own, thread)
    return thread


def bind_rows(
    stage: Stage, results: Sequence[IterVar], threads: int, target: TargetValue
) -> IterVar:
    """Give each result to a row of `threads` threads of a block; return the axis of rows."""
    most = min(128, target.max_threads)
    block, row = stage.split(stage.fuse(*results), max(1, most // threads))
    stage.bind(block, te.thread_axis("blockIdx.x"))
    stage.bind(row, te.thread_axis("threadIdx.y"))
    return row


def fused(stage: Stage, axes: Iterable[IterVar]) -> IterVar:
    """Fuse some adjacent axes; return the fused loop."""
    first, *others = axes
    return stage.fuse(first, *others) if others else first


def _extent(axes: Iterable[IterVar]) -> int:
    return prod(likely(axis.dom.extent) for axis in axes)


def _factored(s: Schedule, tensor: Tensor, axis: IterVar) -> Tensor:
    """Return the partial results along an axis of the terms, which becomes their first axis."""
    made = s.rfactor(tensor, axis)
    return made[0] if isinstance(made, (list, tuple)) else made


def are_neighbors(tensor: Tensor) -> bool:
    """Whether all terms of a result are contiguous in memory."""
    axes = list(tensor.op.reduce_axis)
    return len(_neighbors(tensor, axes)) == len(axes)


def _neighbors(tensor: Tensor, axes: Sequence[IterVar]) -> list[IterVar]:
    """Return the trailing `axes` that also index the trailing axes of a tensor that is read."""
    most = 0
    for load in _core.loads_of(tensor.op.body[0]):
        count = 0
        for axis, index in zip(reversed(axes), reversed(list(load.indices)), strict=False):
            if not _core.mentions(index, axis.var):
                break
            count += 1
        most = max(most, count)
    return list(axes[len(axes) - most :])


__all__ = [
    "LANES",
    "Division",
    "add_in_lanes",
    "are_neighbors",
    "bind_rows",
    "bind_some",
    "bind_terms",
    "fused",
    "has_columns",
    "is_of_groups",
    "may_be_divided",
    "parts_of",
    "rows_of",
    "schedule_groups",
    "schedule_reduction",
    "schedule_step_reduction",
    "threads_for",
]
