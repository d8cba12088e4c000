"""Kernels of operators, of fused ones too: what their members compute becomes one computation."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from .._core import Program, TargetValue
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
    for done, operator in enumerate(operators):
        if progress is not None:
            progress("kernels are scheduled", done, len(operators))
        alternatives = _over_buffers(operator, fixed, constants, target)
        if textures:
            storages = _texture_storages(operator, constants, target)
            texels = _scheduled_if_possible(operator, storages, target)
            alternatives += [] if texels is None else [("texture", texels, None, None, True)]
        core.schedule(operator.number, alternatives)


def _over_buffers(
    operator: Operator, fixed: Collection[str], constants: Collection[str], target: TargetValue
) -> list[tuple[str, Program, None, None, bool]]:
    """Return the schedules with row-major buffers, and with channels last where that pays.

    Convolutions have channels last whenever they can.
    """
    last = _with_channels_last(operator, fixed, constants, target)
    if last is not None and last[1]:
        return [("channels last", last[0], None, None, False)]
    count = len(operator.inputs) + len(operator.outputs)
    row_major = _scheduled(operator, ("global",) * count, target)
    alternatives = [("global", row_major, None, None, False)]
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
