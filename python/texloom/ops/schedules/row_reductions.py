"""Kernels that reduce rows and compute elements of the rows from the results.

A softmax has two reductions: the maximum of a row, and the sum of exponentials. A thread of a
processor, or some threads of a block, compute a row: its reductions one after another, then its
elements.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

from ... import _core, te
from ..._core import IterVar, Schedule, TargetValue, Tensor
from ...extents import are_known, likely, product, shape_of
from ..stages import readers_of
from .family import Family, KernelTask, Scheduled
from .places import Places
from .reduction import (
    add_in_lanes,
    are_neighbors,
    bind_rows,
    bind_some,
    bind_terms,
    fused,
    may_be_divided,
    parts_of,
    threads_for,
)

MOST_KEPT = 4096
"""The most elements of a row that a thread stores: more would not stay in the nearest cache."""
_THREADS = (32, 64, 128, 256)


@dataclass(frozen=True)
class Rows:
    """A computation along the rows of its output.

    Attributes
    ----------
    output : Tensor
    reductions : list of Tensor
        Reductions with the axes of the output; the trailing axes, which form a row, have the extent
        1.
    axes : int
        The number of leading axes of the output that index its rows.
    kept : list of Tensor
        Elements of a row that a reduction and later stages read, and that cost more to compute than
        to store. A thread of native code stores them.
    """

    output: Tensor
    reductions: list[Tensor]
    axes: int
    kept: list[Tensor]

    @classmethod
    def of(
        cls, stages: Sequence[Tensor], outputs: Sequence[Tensor], target: TargetValue
    ) -> Rows | None:
        """Return the rows of a computation; None if it is not computed row by row.

        If rows are so few and long that each should be divided among several blocks, the result is
        None.
        """
        reductions = [each for each in stages if each.op.reduce_axis]
        root = outputs[0]
        if len(outputs) > 1 or not reductions or not all(map(_is_plain, stages)):
            return None
        if root.op.reduce_axis or not all(map(may_be_divided, reductions)):
            return None
        axes = max(_leading_axes(each) for each in reductions)
        if product(root.shape[axes:]) == 1:  # the output has only one element per row
            return None
        if not all(_is_along(each, root, axes, stages) for each in (*reductions, root)):
            return None
        places = Places(stages, outputs).place
        if any(places[each.op] != "inline" for each in stages if each not in (*reductions, root)):
            return None
        terms = {prod(likely(axis.dom.extent) for axis in r.op.reduce_axis) for r in reductions}
        if len(terms) > 1 or not all(map(are_neighbors, reductions)):
            return None
        is_shared = any(parts_of(each, True, target) > 1 for each in reductions)
        if is_shared:
            return None
        readers = readers_of(stages) if target.kind == "llvm" else {}
        several = [each for each in stages if len(readers.get(each.op, [])) > 1]
        kept = [each for each in several if _is_worth_storing(each, root, axes)]
        return cls(root, reductions, axes, kept)

    @property
    def terms(self) -> int:
        """The terms of each reduction."""
        return prod(likely(axis.dom.extent) for axis in self.reductions[0].op.reduce_axis)

    def schedule(self, s: Schedule, target: TargetValue, threads: int) -> IterVar:
        """Schedule everything, on GPUs with so many threads for a row; return the axis of threads.

        The axis is the innermost one.
        """
        stage = s[self.output]
        rows, columns = stage.op.axis[: self.axes], stage.op.axis[self.axes :]
        if target.is_cpu:
            terms = product(likely(extent) for extent in self.output.shape[self.axes :])
            thread = bind_some(stage, rows, terms, target)
            for each in self.kept:
                s[each].set_scope("local")
                s[each].compute_at(stage, thread)
            for each in self.reductions:
                add_in_lanes(s, each, s[self.output], thread, target)
            return thread
        for each in self.reductions:
            bind_terms(s[each], threads)
        row = bind_rows(stage, rows, threads, target)
        for each in self.reductions:
            s[each].compute_at(stage, row)
        _, thread = stage.split(fused(stage, columns), threads)
        stage.bind(thread, te.thread_axis((0, threads), "threadIdx.x"))
        return thread


@dataclass(frozen=True)
class RowThreads:
    """The knobs of kernels of rows.

    Attributes
    ----------
    threads : int
        Threads of a GPU's block that share a row; a thread of a processor has rows of its own.
    """

    threads: int


@dataclass(frozen=True)
class FoundRows:
    """The facts of a computation along rows.

    Attributes
    ----------
    terms : int
        The terms of each reduction.
    shape : tuple
        Of the output.
    target : TargetValue
    rows : Rows
        The stages; the choice of knobs does not depend on them.
    """

    terms: int
    shape: tuple[Any, ...]
    target: TargetValue
    rows: Rows = field(compare=False, repr=False)


class RowReductions(Family[FoundRows, RowThreads]):
    """Computations along the rows of their outputs, such as softmax."""

    name = "reductions of rows"

    def facts_of(self, task: KernelTask) -> FoundRows | None:
        """Return the rows of a computation without channels last; None for others."""
        if task.sums is not None or task.has_channels_last:
            return None
        rows = Rows.of(task.stages, task.outputs, task.target)
        if rows is None:
            return None
        return FoundRows(rows.terms, shape_of(rows.output), task.target, rows)

    def points(self, facts: FoundRows) -> Iterator[tuple[RowThreads, str | None]]:
        """Yield numbers of threads, that of a reduction alone first."""
        if facts.target.is_cpu:
            yield RowThreads(1), None
            return
        for threads in dict.fromkeys((threads_for(facts.terms, facts.target), *_THREADS)):
            fits = threads <= facts.target.max_threads
            yield RowThreads(threads), None if fits else "threads of a block"

    def apply(self, s: Schedule, task: KernelTask, knobs: RowThreads) -> Scheduled:
        """Schedule all reductions of a row, and its elements."""
        facts = self.facts(task)
        assert facts is not None
        rows = facts.rows
        thread = rows.schedule(s, task.target, knobs.threads)
        made = (rows.output, *rows.reductions, *rows.kept)
        return Scheduled(rows.output, thread, {each.op for each in made})


def _is_plain(stage: Tensor) -> bool:
    return isinstance(stage.op, te.ComputeOp) and stage.op.num_outputs == 1


def _is_worth_storing(stage: Tensor, root: Tensor, axes: int) -> bool:
    """Whether a stage is a row of functions such as ``exp``, which fits in the nearest cache."""
    if stage is root or stage.op.reduce_axis or shape_of(stage) != shape_of(root):
        return False
    if not are_known(stage.shape) or product(stage.shape[axes:]) > MOST_KEPT:
        return False
    return stage.op.body[0]._class == "Call"


def _leading_axes(tensor: Tensor) -> int:
    """Return the number of axes that precede the trailing axes of extent 1."""
    shape = shape_of(tensor)
    while shape and shape[-1] == 1:
        shape = shape[:-1]
    return len(shape)


def _is_along(tensor: Tensor, root: Tensor, axes: int, stages: Sequence[Tensor]) -> bool:
    """Whether a stage has the rows of the output, and reads only the same rows of other stages."""
    own, whole = shape_of(tensor), shape_of(root)
    if len(own) != len(whole) or own[:axes] != whole[:axes]:
        return False
    made = {each.op: each for each in stages}
    pending, seen = [tensor], {tensor.op}
    while pending:
        reader = pending.pop()
        numbers = list(reader.op.axis)[:axes]
        for load in _core.loads_of(reader.op.body[0]):
            source = made.get(load.producer.op)
            if source is None:
                continue
            read = zip(list(load.indices)[:axes], numbers, strict=False)
            is_own = all(i.same_as(axis.var) or axis.dom.extent == 1 for i, axis in read)
            if len(source.shape) != len(whole) or not is_own:
                return False
            if source.op not in seen and not source.op.reduce_axis:
                seen.add(source.op)
                pending.append(source)
    return True


ROW_REDUCTIONS = RowReductions()

__all__ = ["ROW_REDUCTIONS", "RowReductions", "RowThreads", "Rows"]
