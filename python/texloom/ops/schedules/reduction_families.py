"""The families of reductions whose terms are divided among blocks, threads or lanes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod

from ..._core import Schedule, TargetValue, Tensor
from ...extents import likely
from .family import Family, KernelTask, Scheduled
from .reduction import (
    Division,
    has_columns,
    is_of_groups,
    may_be_divided,
    parts_of,
    rows_of,
    schedule_groups,
    schedule_reduction,
    threads_for,
)

_PARTS = (1, 2, 4, 8, 16, 32, 64)
_THREADS = (32, 64, 128, 256)
_LEAST_TERMS = 64
"""The fewest terms of a part."""


@dataclass(frozen=True)
class Reduced:
    """The facts of a reduction.

    Attributes
    ----------
    terms : int
        Of a result.
    division : Division
        The preferred one.
    most_threads : int
        Threads that may share a part.
    may_be_whole : bool, optional
        Whether one kernel can reduce all terms better than a thread for each result.
    """

    terms: int
    division: Division
    most_threads: int
    may_be_whole: bool = True

    @classmethod
    def of(cls, tensor: Tensor, is_shared: bool, target: TargetValue) -> Reduced:
        """Return the facts of a reduction whose terms threads share, or not."""
        terms = prod(likely(axis.dom.extent) for axis in tensor.op.reduce_axis)
        parts = parts_of(tensor, is_shared, target)
        if not is_shared or target.is_cpu:
            return cls(terms, Division(parts), 1)
        threads = threads_for(-(-terms // parts), target)
        return cls(terms, Division(parts, threads), target.max_threads)

    def divisions(self) -> Iterator[tuple[Division, str | None]]:
        """Yield the preferred division first, then others."""
        yield self.division, None
        least = 1 if self.may_be_whole else 2
        most = max(1, self.terms // _LEAST_TERMS)
        for parts in (n for n in _PARTS if least <= n <= most):
            for threads in (1,) if self.most_threads == 1 else _THREADS:
                fits = threads <= self.most_threads
                yield Division(parts, threads), None if fits else "threads of a block"


class Reductions(Family[Reduced, Division]):
    """Reductions of rows and columns, where one thread for each result is not the best choice."""

    name = "reductions"

    def facts_of(self, task: KernelTask) -> Reduced | None:
        """Return the facts; None if a thread for each result had better add up all terms."""
        tensor, target = task.sums, task.target
        assert tensor is not None
        if task.has_channels_last or not may_be_divided(tensor):
            return None
        rows = bool(rows_of(tensor, target))
        facts = Reduced.of(tensor, rows, target)
        may_be_whole = rows or (target.is_cpu and has_columns(tensor))
        if not may_be_whole and facts.division.parts == 1:
            return None
        return replace(facts, may_be_whole=may_be_whole)

    def points(self, facts: Reduced) -> Iterator[tuple[Division, str | None]]:
        """Yield the divisions."""
        return facts.divisions()

    def apply(self, s: Schedule, task: KernelTask, knobs: Division) -> Scheduled:
        """Schedule a reduction; see :func:`.reduction.schedule_reduction`."""
        assert task.sums is not None
        root, thread = schedule_reduction(s, task.sums, task.root, task.target, knobs)
        return Scheduled(root, thread, {root.op})


class ChannelGroups(Family[Reduced, Division]):
    """Reductions over some channels and all pixels of images with channels last, on GPUs."""

    name = "reductions of channels"

    def facts_of(self, task: KernelTask) -> Reduced | None:
        """Return the facts; None for other reductions, and if a later stage is written."""
        tensor = task.sums
        assert tensor is not None
        if not task.has_channels_last or task.root is not tensor or task.target.is_cpu:
            return None
        return Reduced.of(tensor, True, task.target) if is_of_groups(tensor) else None

    def points(self, facts: Reduced) -> Iterator[tuple[Division, str | None]]:
        """Yield the divisions."""
        return facts.divisions()

    def apply(self, s: Schedule, task: KernelTask, knobs: Division) -> Scheduled:
        """Schedule a reduction; see :func:`.reduction.schedule_groups`."""
        assert task.sums is not None
        thread = schedule_groups(s, task.sums, task.target, knobs)
        return Scheduled(task.root, thread, {task.root.op})


REDUCTIONS, CHANNEL_GROUPS = Reductions(), ChannelGroups()

__all__ = ["CHANNEL_GROUPS", "REDUCTIONS", "ChannelGroups", "Reduced", "Reductions"]
