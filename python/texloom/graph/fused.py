"""Kernels of operators, of fused ones too: what their members compute becomes one computation."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from .._core import Program, TargetValue, _Computation
from ..errors import TVMError
from ..ops.contraction import Contraction
from ..ops.schedules import schedule_default
from ..ops.schedules.stages import stages_of
from ..ops.schedules.storages import channels_last_storages, device_of
from ..ops.schedules.texels import activation_storage, weight_storage
from .node_functions import scheduled
from .operators import Operator, operators_of
from .progress import Progress
from .tensor import GraphTensor

# Its name, its schedule, its cost, its fold share, and whether it may fail.
_Alternative = tuple[str, Program, "float | None", "float | None", bool]


@dataclass(frozen=True)
class _Task:
    """All that decides how an operator is scheduled, for one target: equal tasks are one.

    Attributes
    ----------
    kernel_name : str
    computation : _Computation
        Equal ones have the same structure and the same names.
    contractions : tuple
        What schedules know of its sums of products, beside their expressions.
    is_fixed, is_constant : tuple of bool
        Of each input, then of each output.
    """

    kernel_name: str
    computation: _Computation
    contractions: tuple[Contraction | None, ...]
    is_fixed: tuple[bool, ...]
    is_constant: tuple[bool, ...]

    @classmethod
    def of(cls, operator: Operator, fixed: Collection[str], constants: Collection[str]) -> _Task:
        """Return the task of an operator; tensors are fixed or constant by their names."""
        names = [each.name for each in (*operator.inputs, *operator.outputs)]
        stages = stages_of(operator.computation.outputs)
        return cls(
            operator.kernel_name,
            operator.computation,
            tuple(map(Contraction.of, stages)),
            tuple(name in fixed for name in names),
            tuple(name in constants for name in names),
        )


def schedule_operators(
    core: Any,
    tensors: Mapping[str, GraphTensor],
    constants: Collection[str],
    target: TargetValue,
    textures: bool,
    fixed: Collection[str] = (),
    progress: Progress | None = None,
) -> None:
    """Give each operator of a graph that has no kernels its schedule.

    Parameters
    ----------
    core : Any
        The core's graph, after the passes.
    tensors : mapping of str to GraphTensor
    constants : collection of str
        The names of those whose values are fixed.
    target : TargetValue
    textures : bool
        Whether to offer kernels over textures beside those over buffers.
    fixed : collection of str
        The names of tensors that are row-major: the graph's inputs and outputs.
    progress : callable, optional
        As for :meth:`texloom.graph.Graph.compile`.

    Raises
    ------
    TVMError
        As for :meth:`texloom.graph.Graph.compile`.
    """
    operators = operators_of(core, tensors)
    made: dict[_Task, list[_Alternative]] = {}  # networks repeat their layers
    for done, operator in enumerate(operators):
        if progress is not None:
            progress("kernels are scheduled", done, len(operators))
        task = _Task.of(operator, fixed, constants)
        if task not in made:
            made[task] = _over_buffers(operator, fixed, constants, target)
            if textures:
                storages = _texture_storages(operator, constants, target)
                texels = _scheduled_if_possible(operator, storages, target)
                made[task] += [] if texels is None else [("texture", texels, None, None, True)]
        core.schedule(operator.number, made[task])


def _over_buffers(
    operator: Operator, fixed: Collection[str], constants: Collection[str], target: TargetValue
) -> list[_Alternative]:
    """Return the schedules with row-major buffers, and with channels last where that pays.

    Convolutions have channels last whenever they can.
    """
    last = _with_channels_last(operator, fixed, constants, target)
    if last is not None and last[1]:
        return [("channels last", last[0], None, None, False)]
    count = len(operator.inputs) + len(operator.outputs)
    row_major = _scheduled(operator, ("global",) * count, target)
    alternatives: list[_Alternative] = [("global", row_major, None, None, False)]
    if last is not None:
        alternatives.append(("channels last", last[0], None, None, True))
    return alternatives


def _with_channels_last(
    operator: Operator, fixed: Collection[str], constants: Collection[str], target: TargetValue
) -> tuple[Program, bool] | None:
    """Return the schedule whose activations have channels last, and whether it is a convolution's.

    None if there is no such schedule.
    """
    arguments, made = operator.computation.inputs, operator.computation.outputs
    stages = stages_of(made)
    names = [each.name for each in (*operator.inputs, *operator.outputs)]
    tensors = dict(zip(names, (*arguments, *made), strict=True))
    chosen = [{each for n, each in tensors.items() if n in some} for some in (fixed, constants)]
    storages = channels_last_storages(made, arguments, stages, *chosen, device_of(target))
    program = None if storages is None else _scheduled_if_possible(operator, storages, target)
    if program is None:
        return None
    return program, any(Contraction.of(each) is not None for each in stages)


def _scheduled(operator: Operator, storages: tuple[str, ...], target: TargetValue) -> Program:
    name, computation = operator.kernel_name, operator.computation
    return scheduled(operator.name, name, schedule_default, computation, storages, target)


def _scheduled_if_possible(
    operator: Operator, storages: tuple[str, ...], target: TargetValue
) -> Program | None:
    """Return the schedule for these storages; None if all are row-major, or no kernel fits them.

    Not every computation can write texels: the elements of one may need kernels of their own. Some
    of these have a schedule, which the compiler then leaves out.
    """
    if set(storages) == {"global"}:
        return None
    try:
        return _scheduled(operator, storages, target)
    except TVMError:
        return None


def _texture_storages(
    operator: Operator, constants: Collection[str], target: TargetValue
) -> tuple[str, ...]:
    """Return where the arguments are stored if as many as possible are in textures."""
    return tuple(
        weight_storage(each.shape, each.dtype, target)
        if each.name in constants
        else activation_storage(each.shape, each.dtype, target)
        for each in (*operator.inputs, *operator.outputs)
    )


__all__ = ["schedule_operators"]
