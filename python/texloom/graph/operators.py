"""The operators of a graph that have no kernels yet, and what they compute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .._core import Tensor
from ..ops.schedules import schedule_default
from ..ops.schedules.stages import stages_of
from .node_functions import Compute, Locals, ScheduleFunction, computed
from .precision import stored
from .tensor import GraphTensor

# A member of a fused operator: its name, and the names of its inputs and outputs.
_Member = tuple[str, Sequence[str], Sequence[str]]


@dataclass(frozen=True)
class Operator:
    """An operator without kernels; a fused one computes what its members compute.

    Attributes
    ----------
    number : int
        Its place among the nodes of the graph, which a join of operators before it changes.
    name, op : str
    inputs, outputs : sequence of GraphTensor
        With the dtypes in which they are stored.
    compute : callable
        What it computes of them.
    """

    number: int
    name: str
    op: str
    inputs: Sequence[GraphTensor]
    outputs: Sequence[GraphTensor]
    compute: Compute

    @property
    def functions(self) -> tuple[Compute, ScheduleFunction]:
        """What computes and what schedules it."""
        return self.compute, schedule_default

    @property
    def kernel_name(self) -> str:
        """Its operators' names, as the name of a kernel."""
        return self.op.replace("+", "_")

    def computation(self) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
        """Return placeholders of its inputs, its outputs, and the stages that compute these."""
        symbols = Locals(self.inputs)
        with symbols.computing():
            made = computed(self.name, self.compute, symbols.placeholders)
        return symbols.placeholders, made, stages_of(made)


def operators_of(
    core: Any, functions: Mapping[str, Compute], tensors: Mapping[str, GraphTensor]
) -> list[Operator]:
    """Return the operators of a core's graph that have no kernels, in its order.

    Parameters
    ----------
    core : Any
    functions : mapping of str to callable
        What each operator computes, by its name before the passes.
    tensors : mapping of str to GraphTensor
        With the dtypes of before the passes.
    """
    dtypes = core.dtypes()
    made = []
    for number, name, op, inputs, outputs, members in core.unscheduled():
        compute = functions[name]
        if len(members) > 1:
            compute = _composed(members, functions, inputs, outputs)
        if any(dtypes[each] != tensors[each].dtype for each in (*inputs, *outputs)):
            reads = [tensors[each].dtype for each in inputs]
            compute = stored(compute, reads, [dtypes[each] for each in outputs])
        given, written = (
            [replace(tensors[each], dtype=dtypes[each]) for each in names]
            for names in (inputs, outputs)
        )
        made.append(Operator(number, name, op, given, written, compute))
    return made


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


__all__ = ["Operator", "operators_of"]
