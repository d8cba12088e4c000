"""Kernels of operators, of fused ones too: what their members compute becomes one computation."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from .._core import Program, Tensor
from ..errors import TVMError
from ..ops.schedules import schedule_default
from ..ops.schedules.gpu.channels_last import channels_last_storages, is_convolution
from ..ops.schedules.stages import stages_of
from ..ops.schedules.texels import activation_storage, weight_storage
from ..target import Target
from .node_functions import Compute, Locals, computed, scheduled
from .precision import stored
from .progress import Progress
from .tensor import GraphTensor

# A member of a fused operator: its name, and the names of its inputs and outputs.
_Member = tuple[str, Sequence[str], Sequence[str]]


def _composed(
    members: Sequence[_Member],
    functions: Mapping[str, Compute],
    inputs: Sequence[str],
    outputs: Sequence[str],
) -> Compute:
    """Return a function that computes what the members compute, one after another."""

    def compute(*arguments: Tensor) -> list[Tensor]:
        values = dict(zip(inputs, arguments, strict=True))
        for name, reads, writes in members:
            made = computed(name, functions[name], [values[each] for each in reads])
            values.update(zip(writes, made, strict=True))
        return [values[each] for each in outputs]

    return compute


def schedule_operators(
    core: Any,
    functions: Mapping[str, Compute],
    tensors: Mapping[str, GraphTensor],
    constants: Collection[str],
    target: str,
    textures: bool,
    fixed: Collection[str] = (),
    progress: Progress | None = None,
) -> None:
    """Give each operator of a graph that has no kernels its schedule.

    Parameters
    ----------
    core : Any
        The core's graph, after the passes.
    functions : mapping of str to callable
        What each operator computes, by its name before the passes.
    tensors : mapping of str to GraphTensor
    constants : collection of str
        The names of those whose values are fixed.
    target : str
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
    unscheduled = list(core.unscheduled())
    dtypes = core.dtypes()
    for done, (number, name, op, inputs, outputs, members) in enumerate(unscheduled):
        if progress is not None:
            progress("kernels are scheduled", done, len(unscheduled))
        compute = functions[name]
        if len(members) > 1:
            compute = _composed(members, functions, inputs, outputs)
        given = [replace(tensors[each], dtype=dtypes[each]) for each in inputs]
        made = [replace(tensors[each], dtype=dtypes[each]) for each in outputs]
        if any(dtypes[each] != tensors[each].dtype for each in (*inputs, *outputs)):
            reads = [tensors[each].dtype for each in inputs]
            compute = stored(compute, reads, [each.dtype for each in made])
        node = (name, op.replace("+", "_"), (compute, schedule_default), given)
        alternatives = _over_buffers(node, (inputs, outputs), fixed, constants, target)
        if textures:
            storages = _texture_storages(given, made, constants)
            texels = _scheduled_if_possible(node, storages, target)
            alternatives += [] if texels is None else [("texture", texels, None, None, True)]
        core.schedule(number, alternatives)


def _over_buffers(
    node: tuple[Any, ...],
    names: tuple[Sequence[str], Sequence[str]],
    fixed: Collection[str],
    constants: Collection[str],
    target: str,
) -> list[tuple[str, Program, None, None, bool]]:
    """Return the schedules with row-major buffers, and with channels last where that pays.

    Convolutions for targets that are no processor have channels last whenever they can.
    """
    last = _with_channels_last(node, names, fixed, constants, target)
    if last is not None and last[1]:
        return [("channels last", last[0], None, None, False)]
    count = len(names[0]) + len(names[1])
    row_major = scheduled(*node, ("global",) * count, target)
    alternatives = [("global", row_major, None, None, False)]
    if last is not None:
        alternatives.append(("channels last", last[0], None, None, True))
    return alternatives


def _with_channels_last(
    node: tuple[Any, ...],
    names: tuple[Sequence[str], Sequence[str]],
    fixed: Collection[str],
    constants: Collection[str],
    target: str,
) -> tuple[Program, bool] | None:
    """Return the schedule whose activations have channels last, and whether it is a convolution's.

    None if there is no such schedule, or none for such a target.
    """
    if Target(target).attrs.get("block_stack", True):
        return None
    name, _, (compute, _), given = node
    symbols = Locals(given)
    arguments = symbols.placeholders
    with symbols.computing():
        made = computed(name, compute, arguments)
    stages = stages_of(made)
    tensors = dict(zip((*names[0], *names[1]), (*arguments, *made), strict=True))
    chosen = [{each for n, each in tensors.items() if n in some} for some in (fixed, constants)]
    storages = channels_last_storages(made, arguments, stages, *chosen)
    program = None if storages is None else _scheduled_if_possible(node, storages, target)
    if program is None:
        return None
    return program, any(map(is_convolution, stages))


def _scheduled_if_possible(
    node: tuple[Any, ...], storages: tuple[str, ...], target: str
) -> Program | None:
    """Return the schedule for these storages; None if all are row-major, or no kernel fits them.

    Not every computation can write texels: the elements of one may need kernels of their own. Some
    of these have a schedule, which the compiler then leaves out.
    """
    if set(storages) == {"global"}:
        return None
    try:
        return scheduled(*node, storages, target)
    except TVMError:
        return None


def _texture_storages(
    inputs: Sequence[GraphTensor], outputs: Sequence[GraphTensor], constants: Collection[str]
) -> tuple[str, ...]:
    """Return where the arguments are stored if as many as possible are in textures."""
    return tuple(
        weight_storage(each.shape, each.dtype)
        if each.name in constants
        else activation_storage(each.shape, each.dtype)
        for each in (*inputs, *outputs)
    )


__all__ = ["schedule_operators"]
