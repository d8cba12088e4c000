"""Kernels of operators, of fused ones too: what their members compute becomes one computation."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from .. import _core
from .._core import Tensor
from ..errors import TVMError
from ..ops.schedules import schedule_default
from ..ops.schedules.texels import activation_storage, is_texture, weight_storage
from .node_functions import Compute, computed, scheduled
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
    progress : callable, optional
        As for :meth:`texloom.graph.Graph.compile`.

    Raises
    ------
    TVMError
        As for :meth:`texloom.graph.Graph.compile`.
    """
    unscheduled = list(core.unscheduled())
    for done, (number, name, op, inputs, outputs, members) in enumerate(unscheduled):
        if progress is not None:
            progress("kernels are scheduled", done, len(unscheduled))
        compute = functions[name]
        if len(members) > 1:
            compute = _composed(members, functions, inputs, outputs)
        given = [tensors[each] for each in inputs]
        node = (name, op.replace("+", "_"), (compute, schedule_default), given)
        in_buffers = scheduled(*node, ("global",) * (len(inputs) + len(outputs)), target)
        alternatives = [("global", in_buffers, None, None)]
        if textures:
            stored = _texture_storages(given, [tensors[each] for each in outputs], constants)
            made = _scheduled_if_possible(node, stored, target)
            alternatives += [] if made is None else [("texture", made, None, None)]
        core.schedule(number, alternatives)


def _scheduled_if_possible(
    node: tuple[Any, ...], stored: tuple[str, ...], target: str
) -> _core.Program | None:
    """Return the schedule for these storages; None if none is a texture, or no kernel fits them.

    Not every computation can write texels: the elements of one may need kernels of their own.
    """
    if not any(map(is_texture, stored)):
        return None
    try:
        made = scheduled(*node, stored, target)
        _core.lower_to_kernels(made)
    except TVMError:
        return None
    return made


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
