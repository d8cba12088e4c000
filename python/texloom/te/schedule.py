"""Attributes of schedules, and functions on whole schedules: ``te.schedule``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .. import _core
from .._core import Buffer, Expr, IterVar, Operation, Schedule, Stage, Stmt, TensorIntrin
from ..checks.checked_calls import check_calls
from ..target import resolve
from ..tir.expr import StringImm
from ..tvm.ir import Range
from .operation import create_schedule
from .read_graph import (
    CreateAttachPath,
    CreateReadGraph,
    PostDFSOrder,
    ScanFixPointAnalysis,
    ScanGetBody,
)
from .specialized_condition import SpecializedCondition


@dataclass(frozen=True)
class Split:
    """``parent = outer * extent(inner) + inner``; one of factor and nparts is given."""

    parent: IterVar
    outer: IterVar
    inner: IterVar
    factor: Expr | None
    nparts: Expr | None


@dataclass(frozen=True)
class Fuse:
    """``fused = outer * extent(inner) + inner``."""

    outer: IterVar
    inner: IterVar
    fused: IterVar


@dataclass(frozen=True)
class Singleton:
    """The loop `iter` of one iteration, made by ``fuse`` without axes."""

    iter: IterVar


@dataclass(frozen=True)
class IterVarAttr:
    """The annotations of the loop of one axis.

    Attributes
    ----------
    iter_type : int
        The kind of loop: ``IterVar.DataPar`` (serial), ``Unrolled``, ``Vectorized``,
        ``Parallelized`` or ``Tensorized``.
    bind_thread : IterVar or None
        The thread axis that the loop is bound to.
    pragma_keys : list of StringImm
        The keys of the loop's pragmas.
    tensor_intrin : TensorIntrin or None
        The intrinsic that replaces the loop.
    """

    iter_type: int
    bind_thread: IterVar | None
    pragma_keys: list[StringImm]
    tensor_intrin: TensorIntrin | None


class AxisMap(Mapping[IterVar, Any]):
    """A mapping of axes by identity, because ``==`` of axes is an expression."""

    def __init__(self, items: list[tuple[IterVar, Any]]) -> None:
        self._items = items

    def __getitem__(self, axis: IterVar) -> Any:
        """The value of an axis; a KeyError if the axis has none."""
        for key, value in self._items:
            if key.same_as(axis):
                return value
        raise KeyError(axis)

    def __contains__(self, axis: object) -> bool:
        return isinstance(axis, IterVar) and any(key.same_as(axis) for key, _ in self._items)

    def __iter__(self) -> Iterator[IterVar]:
        return iter([key for key, _ in self._items])

    def __len__(self) -> int:
        return len(self._items)

    def items(self) -> list[tuple[IterVar, Any]]:  # type: ignore[override]
        """Return pairs of axis and value, in the order of stages and axes."""
        return list(self._items)

    def __repr__(self) -> str:
        return "{" + ", ".join(f"{key}: {value}" for key, value in self._items) + "}"


_INLINE = 2  # a Stage.attach_type
# The numbers of IterVar.iter_type.
_ITER_TYPES = {"serial": 0, "unrolled": 5, "vectorized": 6, "parallel": 7, "tensorized": 8}


def _relations(stage: Stage) -> list[Split | Fuse | Singleton]:
    """The splits and fusions that made the stage's loops, in order."""
    kinds = {"split": Split, "fuse": Fuse, "unit": Singleton}

    def part(value: Any) -> Any:
        return _core.to_expr(value) if isinstance(value, int) else value

    return [kinds[kind](*map(part, rest)) for kind, *rest in stage._relations]


def _iter_var_attrs(stage: Stage) -> AxisMap:
    """The annotations of loops, by axis."""
    return AxisMap(
        [
            (
                axis,
                IterVarAttr(
                    _ITER_TYPES[loop],
                    thread,
                    [StringImm(key) for key in keys],
                    stage._intrinsic_of(axis),
                ),
            )
            for axis, loop, thread, keys in stage._loop_attributes
        ]
    )


def _num_child_stages(stage: Stage) -> int:
    """The number of stages that are computed at loops of this stage."""
    return sum(other.attach_stage == stage for other in stage._schedule.stages)


def InferBound(s: Schedule) -> AxisMap:  # noqa: N802 (the name that scripts use)
    """Return the range of every axis of every stage that is computed in loops, as :class:`Range`.

    A range's ``min`` is an expression of the variables of the loops that enclose the stage.
    """
    return AxisMap(
        [(axis, Range.from_min_extent(first, extent)) for axis, first, extent in inferred(s)]
    )


def ScheduleOps(s: Schedule, bounds: Any, debug_keep_trivial_loop: bool = False) -> Stmt:  # noqa: N802
    """Return the loops of the schedule at the start of ``lower``, for printing.

    Parameters
    ----------
    s : Schedule
        Not modified.
    bounds, debug_keep_trivial_loop
        Accepted for compatibility: the bounds are those of :func:`InferBound`, and loops of one
        iteration are omitted.
    """
    del bounds, debug_keep_trivial_loop
    inputs = [each for each in s.stages if each.op._kind == "placeholder" and each.group is None]
    outputs = [each for each in s.stages if each.is_output]
    args = [
        op.output(i)
        for op in (each.origin_op for each in inputs + outputs)
        for i in range(op.num_outputs)
    ]
    return _core.loop_nest(_core.program(s, args, {}, "main", resolve(None)))


def inferred(s: Schedule) -> list[tuple[IterVar, Expr, Expr]]:
    """Return axis, first value and extent of all axes."""
    return _core.inferred_ranges(s)


def _auto_inline(s: Schedule, kind: str) -> None:
    inlined = {stage.op for stage in s.stages if stage.attach_type == _INLINE}
    _core.auto_inline(s, kind)
    for stage in s.stages:
        if stage.attach_type == _INLINE and stage.op not in inlined:
            stage.compute_inline()  # called as a directive, so that the trace records it


def AutoInlineElemWise(s: Schedule) -> None:  # noqa: N802 (the name that scripts use)
    """Inline every elementwise stage except outputs: ``[i, j]`` is computed from ``X[i, j]``."""
    _auto_inline(s, "elemwise")


def AutoInlineBroadcast(s: Schedule) -> None:  # noqa: N802 (the name that scripts use)
    """Inline every stage that broadcasts its inputs, except reductions and outputs.

    Such a stage has the tag ``broadcast``, or reads ``X[i, k]``, for example, to compute element
    ``[i, j, k]``: the indices of each read are some of the stage's axes, in the stage's order.
    """
    _auto_inline(s, "broadcast")


def AutoInlineInjective(s: Schedule) -> None:  # noqa: N802 (the name that scripts use)
    """Inline every stage except reductions and outputs."""
    _auto_inline(s, "injective")


def _normalize(s: Schedule) -> Schedule:
    """Return a copy, which can be scheduled further and built independently."""
    return _core.copy_schedule(s)


def _stage_map(s: Schedule) -> dict[Operation, Stage]:
    """The stages by their current operations."""
    return {stage.op: stage for stage in s.stages}


def _group(stage: Stage) -> Stage | None:
    """The scan whose steps compute the stage."""
    return stage._scan


def _groups(s: Schedule) -> list[Stage]:
    """The stages of scans; each represents the stages of its steps."""
    return [stage for stage in s.stages if stage.op._kind == "scan"]


Stage.relations = property(_relations)
Stage.iter_var_attrs = property(_iter_var_attrs)
Stage.num_child_stages = property(_num_child_stages)
Stage.group = property(_group)
Schedule.normalize = _normalize
Schedule.bounds = InferBound
Schedule.stage_map = property(_stage_map)
Schedule.groups = property(_groups)

__all__ = [
    "AutoInlineBroadcast",
    "AutoInlineElemWise",
    "AutoInlineInjective",
    "AxisMap",
    "Buffer",
    "CreateAttachPath",
    "CreateReadGraph",
    "Fuse",
    "InferBound",
    "IterVar",
    "IterVarAttr",
    "PostDFSOrder",
    "Range",
    "ScanFixPointAnalysis",
    "ScanGetBody",
    "Schedule",
    "ScheduleOps",
    "Singleton",
    "SpecializedCondition",
    "Split",
    "Stage",
    "create_schedule",
]
check_calls(globals())
