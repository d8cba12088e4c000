"""The operators of a graph that have no kernels yet, and what they compute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .. import _core
from .tensor import GraphTensor


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
    computation : _Computation
        What it computes of them.
    """

    number: int
    name: str
    op: str
    inputs: Sequence[GraphTensor]
    outputs: Sequence[GraphTensor]
    computation: _core._Computation

    @property
    def kernel_name(self) -> str:
        """Its operators' names, as the name of a kernel."""
        return self.op.replace("+", "_")


def operators_of(core: Any, tensors: Mapping[str, GraphTensor]) -> list[Operator]:
    """Return the operators of a core's graph that have no kernels, in its order.

    Parameters
    ----------
    core : Any
    tensors : mapping of str to GraphTensor
        With the dtypes of before the passes.
    """
    dtypes = core.dtypes()
    return [
        Operator(
            number,
            name,
            op,
            *([replace(tensors[each], dtype=dtypes[each]) for each in names] for names in ends),
            computation,
        )
        for number, name, op, *ends, computation in core.unscheduled()
    ]


__all__ = ["Operator", "operators_of"]
