"""Schedules for GPUs of normalizations of groups of channels.

A block computes the mean and the variance of a group, and then its elements: one kernel. If groups
are large and few, the computation has moments of parts (:func:`.moments_in_parts`). One kernel
computes these; each block of a second one combines the parts of the groups that it needs, in shared
memory, and then computes its elements.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import prod

from ... import te
from ..._core import IterVar, Schedule, TargetValue, Tensor
from ...extents import are_known, product, shape_of
from ...profiles import profile_of
from ..divisors import largest_divisor, nearest_divisor
from ..normalization.channels import GROUPED
from ..normalization.moments import MOMENTS
from ..stages import readers_of
from .channels_last.axes import vectorize
from .family import Family, KernelTask, Scheduled
from .reduction import bind_rows, bind_terms, fused, may_be_divided, parts_of, threads_for

_THREADS = 256
_LANES = 4
_VECTORS = (1, 2, 4, 8)
"""Vectors of a thread, after its block has combined the moments of parts."""
_SHARING = (32, 64, 128, 256)
"""Threads that share the terms of a group or of a part."""

_MOST_WHOLE = 4
"""Into how many parts a group might be divided that a block computes as a whole.

A block reads the terms of a part in the time of a launch. Without equal parts, and in one kernel,
a normalization has four launches less.
"""


def parts_for(grouped: Tensor, total: Tensor, target: TargetValue) -> int:
    """Return into how many equal parts along the third axis a group is divided; 1 for none.

    `total` is a sum of all elements of each group.
    """
    if target.is_cpu or not profile_of(target).has_fast_shared_memory:
        return 1
    if len(grouped.shape) < 4 or not are_known(grouped.shape) or not may_be_divided(total):
        return 1
    return largest_divisor(int(grouped.shape[3]), parts_of(total, True, target)) or 1


@dataclass(frozen=True)
class GroupMoments:
    """The stages of a normalization of groups.

    Attributes
    ----------
    output : Tensor ``[N, C, ...]``
    grouped : Tensor ``[N, groups, C / groups, ...]``
    sums : list of Tensor
        The sum of a group or of its parts, and the sum of squared differences from the mean.
    pairs : Tensor or None
        The means and variances of the parts.
    combined : list of (Tensor, Tensor)
        With parts: the sums over the parts, in this order, and the last stage that is computed only
        from each, with one element for each group.
    """

    output: Tensor
    grouped: Tensor
    sums: list[Tensor]
    pairs: Tensor | None
    combined: list[tuple[Tensor, Tensor]]

    @classmethod
    def of(cls, task: KernelTask) -> GroupMoments | None:
        """Return the stages of such a normalization that one or two kernels compute; else None."""
        stages, root, target = task.stages, task.root, task.target
        if target.is_cpu or not task.profile.has_fast_shared_memory:
            return None
        grouped = next((each for each in stages if each.op.tag == GROUPED), None)
        pairs = next((each for each in stages if each.op.tag == MOMENTS), None)
        reductions = [each for each in stages if each.op.reduce_axis]
        if grouped is None or len(reductions) != (2 if pairs is None else 4):
            return None
        batch, groups, each, *pixels = shape_of(grouped)
        whole = (batch, groups * each, *pixels)
        if not pixels or not are_known(whole) or shape_of(root) != whole or root.op.reduce_axis:
            return None
        if not all(map(may_be_divided, reductions)):
            return None
        if pairs is None and parts_of(reductions[0], True, target) > _MOST_WHOLE:
            return None
        others = {task.places[each.op] for each in stages if each not in (*reductions, root)}
        if not others <= {"inline", "local"}:
            return None
        readers = readers_of(stages)
        combined = [(each, _finished(each, readers)) for each in reductions[2:]]
        return cls(root, grouped, reductions[:2], pairs, combined)

    @property
    def scheduled(self) -> list[Tensor]:
        """The stages that are not inlined."""
        parts = [] if self.pairs is None else [self.pairs]
        return [self.output, *self.sums, *parts, *chain.from_iterable(self.combined)]

    @property
    def parts(self) -> int:
        """The parts of a group, of which a kernel computes the moments; 1 without parts."""
        return int(self.combined[0][0].op.reduce_axis[0].dom.extent) if self.combined else 1

    @property
    def terms(self) -> int:
        """The terms of the sums of a group, or of a part."""
        return int(product(axis.dom.extent for axis in self.sums[0].op.reduce_axis))

    def schedule(
        self, s: Schedule, knobs: MomentsBlock, has_channels_last: bool, target: TargetValue
    ) -> IterVar:
        """Schedule everything that is not inlined; return the axis of threads of the output."""
        threads = knobs.threads
        if self.pairs is None:
            n, channel, *places = s[self.output].op.axis
            group, own = s[self.output].split(channel, int(self.grouped.shape[2]))
            axes = [*places, own] if has_channels_last else [own, *places]
            s[self.output].reorder(n, group, *axes)
            return self._share(s, self.output, [n, group], axes, threads, has_channels_last, target)
        *rows, number = s[self.pairs].op.axis
        self._share(s, self.pairs, rows, [number], threads, has_channels_last, target)
        return self._combine(s, knobs.vectors, has_channels_last, target)

    def _share(
        self,
        s: Schedule,
        root: Tensor,
        rows: Sequence[IterVar],
        columns: Sequence[IterVar],
        threads: int,
        has_channels_last: bool,
        target: TargetValue,
    ) -> IterVar:
        """Compute sums in blocks, whose threads share the terms and then the columns of a row."""
        for each in self.sums:
            axes = list(s[each].op.reduce_axis)
            if has_channels_last:
                axes = [*axes[1:], axes[0]]
                s[each].reorder(*axes)
            bind_terms(s[each], threads, axes)
        row = bind_rows(s[root], rows, threads, target)
        for each in self.sums:
            s[each].compute_at(s[root], row)
        _, thread = s[root].split(fused(s[root], columns), threads)
        s[root].bind(thread, te.thread_axis((0, threads), "threadIdx.x"))
        return thread

    def _combine(
        self, s: Schedule, vectors: int, has_channels_last: bool, target: TargetValue
    ) -> IterVar:
        """Compute elements in blocks, each of which first adds up the moments of parts."""
        own, rows = _combining_threads(self.parts, target)
        block, inner = self._divide_output(s, own * rows, vectors, has_channels_last)
        _, thread = s[self.output].split(inner, own * rows)
        row, thread = s[self.output].split(thread, own)
        s[self.output].bind(row, _threads("y", rows))
        s[self.output].bind(thread, _threads("x", own))
        for each, finished in self.combined:
            stage = s[finished]
            stage.set_scope("shared")
            stage.compute_at(s[self.output], block)
            _, group = stage.split(stage.op.axis[1], rows)
            stage.bind(group, _threads("y", rows))
            axis = _threads("x", own)
            _, term = s[each].split(s[each].op.reduce_axis[0], own)
            s[each].bind(term, axis)
            s[each].compute_at(stage, group)
            stage.set_store_predicate(axis.var.equal(0))
        return thread

    def _divide_output(
        self, s: Schedule, threads: int, vectors: int, has_channels_last: bool
    ) -> tuple[IterVar, IterVar]:
        """Give elements to blocks; return the axis of blocks, and that of vectors of a block."""
        stage = s[self.output]
        n, channel, *places = stage.op.axis
        if not has_channels_last:
            pixels = fused(stage, places)
            block, inner = stage.split(pixels, threads * vectors)
            block = stage.fuse(n, channel, block)
        else:
            lanes = _LANES if int(channel.dom.extent) % _LANES == 0 else 1
            vector, lane = stage.split(channel, lanes)
            stage.reorder(n, *places, vector, lane)
            vectorize(stage, lane, lanes)
            count = int(product(self.output.shape[2:]))
            wanted = threads * vectors // (int(self.output.shape[1]) // lanes)
            block, inner = stage.split(fused(stage, places), nearest_divisor(count, max(1, wanted)))
            inner = stage.fuse(inner, vector)
            block = stage.fuse(n, block)
        stage.bind(block, te.thread_axis("blockIdx.x"))
        return block, inner


@dataclass(frozen=True)
class MomentsBlock:
    """The knobs of the kernels.

    Attributes
    ----------
    threads : int
        Threads of a block that share the terms of a group, or of a part.
    vectors : int
        With parts: elements of a thread, or vectors of channels if these are last, after its block
        has combined the moments.
    """

    threads: int
    vectors: int = 1


@dataclass(frozen=True)
class Groups:
    """The facts of a normalization of groups.

    Attributes
    ----------
    shape : tuple of int
        ``[N, C, ...]`` of the output.
    terms, parts : int
        Those of :class:`GroupMoments`.
    has_channels_last : bool
    most_threads : int
        Of a block.
    block : MomentsBlock
        The preferred knobs.
    """

    shape: tuple[int, ...]
    terms: int
    parts: int
    has_channels_last: bool
    most_threads: int
    block: MomentsBlock


class GroupNormalizations(Family[Groups, MomentsBlock]):
    """Normalizations of groups of channels, by one kernel or two."""

    name = "normalizations of groups"

    def facts_of(self, task: KernelTask) -> Groups | None:
        """Return the facts of such a normalization; None for other computations."""
        found = GroupMoments.of(task) if task.sums is None else None
        if found is None:
            return None
        vectors = 1 if found.parts == 1 else _preferred_vectors(found, task.target)
        return Groups(
            tuple(map(int, found.output.shape)),
            found.terms,
            found.parts,
            task.has_channels_last,
            task.target.max_threads,
            MomentsBlock(threads_for(found.terms, task.target), vectors),
        )

    def points(self, facts: Groups) -> Iterator[tuple[MomentsBlock, str | None]]:
        """Yield the preferred knobs first, then others."""
        yield facts.block, None
        for threads in _SHARING:
            for vectors in _VECTORS if facts.parts > 1 else (1,):
                fits = threads <= facts.most_threads
                yield MomentsBlock(threads, vectors), None if fits else "threads of a block"

    def apply(self, s: Schedule, task: KernelTask, knobs: MomentsBlock) -> Scheduled:
        """Schedule the sums, the moments of parts, and the elements."""
        found = GroupMoments.of(task)
        assert found is not None
        thread = found.schedule(s, knobs, task.has_channels_last, task.target)
        return Scheduled(found.output, thread, {each.op for each in found.scheduled})


GROUP_MOMENTS = GroupNormalizations()


def _combining_threads(parts: int, target: TargetValue) -> tuple[int, int]:
    """Return the threads of a block that add up the moments of a group's parts, and their rows."""
    own = min(profile_of(target).warp_threads, 1 << (parts - 1).bit_length())
    return own, min(_THREADS, target.max_threads) // own


def _preferred_vectors(moments: GroupMoments, target: TargetValue) -> int:
    """Return the vectors of a thread: as many as leave two blocks for each processor.

    The fewer blocks there are, the fewer add up the moments again.
    """
    busy = 2 * prod(_combining_threads(moments.parts, target)) * profile_of(target).processors
    elements = int(product(moments.output.shape))
    return min(_VECTORS[-1], max(1, elements // (_LANES * busy)))


def _finished(total: Tensor, readers: Mapping[te.Operation, Sequence[Tensor]]) -> Tensor:
    """Return the last stage with the shape of `total` that reads only the stage before it."""
    made = total
    while len(readers[made.op]) == 1 and shape_of(readers[made.op][0]) == shape_of(total):
        (made,) = readers[made.op]
    return made


def _threads(axis: str, extent: int) -> IterVar:
    return te.thread_axis((0, extent), f"threadIdx.{axis}")


__all__ = [
    "GROUP_MOMENTS",
    "GroupMoments",
    "GroupNormalizations",
    "Groups",
    "MomentsBlock",
    "parts_for",
]
