"""Kernels of operators, of fused ones too: what their members compute becomes one computation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .._core import Tensor
from ..ops.schedules import schedule_default
from .node_functions import Compute, computed, scheduled
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
    target: str,
) -> None:
    """Give each operator of a graph that has no kernels its schedule.

    Parameters
    ----------
    core : Any
        The core's graph, after the passes.
    functions : mapping of str to callable
        What each operator computes, by its name before the passes.
    tensors : mapping of str to GraphTensor
    target : str

    Raises
    ------
    TVMError
        As for :meth:`texloom.graph.Graph.compile`.
    """
    for number, name, op, inputs, outputs, members in core.unscheduled():
        compute = functions[name]
        if len(members) > 1:
            compute = _composed(members, functions, inputs, outputs)
        title = op.replace("+", "_")
        given = [tensors[each] for each in inputs]
        scopes = ("global",) * (len(inputs) + len(outputs))
        made = scheduled(name, title, (compute, schedule_default), given, scopes, target)
        core.schedule(number, [("global", made, None, None)])


__all__ = ["schedule_operators"]
