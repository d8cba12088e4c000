"""Bodies of loops whose number of steps is a size of the run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from numpy.typing import ArrayLike

from .._core import Tensor
from ..errors import refuse
from ..extents import Condition, Extent
from ..ops.recurrent.loops import Step
from .builder import Builder
from .node_functions import Compute, computed
from .symbols import Symbols
from .tensor import GraphTensor


@dataclass(frozen=True)
class _Operator:
    name: str
    compute: Compute
    inputs: tuple[GraphTensor, ...]
    outputs: tuple[GraphTensor, ...]


class LoopBody:
    """The body of a loop, which is built like a graph. Its operators are computed in each step.

    Parameters
    ----------
    graph : Builder
        What the loop belongs to. Constants are added there.

    Attributes
    ----------
    inputs : list of GraphTensor
    captured : dict of GraphTensor to None
        The tensors around the loop that the body reads, in the order of their first use.
    """

    def __init__(self, graph: Builder) -> None:
        self._graph = graph
        self._operators: list[_Operator] = []
        self._own: set[GraphTensor] = set()
        self.inputs: list[GraphTensor] = []
        self.captured: dict[GraphTensor, None] = {}

    def input(self, name: str, shape: Sequence[Extent], dtype: str) -> GraphTensor:
        """Add a tensor that each step gives to the body."""
        made = GraphTensor(name, tuple(shape), dtype, self)
        self.inputs.append(made)
        self._own.add(made)
        return made

    def constant(self, name: str, value: ArrayLike) -> GraphTensor:
        """Add a constant to the graph around the loop."""
        return self._graph.constant(name, value)

    def op(
        self, name: str, op: str, compute: Compute, inputs: Sequence[GraphTensor]
    ) -> list[GraphTensor]:
        """Add an operator, as :meth:`Graph.op`."""
        del op
        for each in inputs:
            self.capture(each)
        made, symbols, conditions = Symbols.computed(name, compute, inputs)
        self.require(name, conditions)
        names = [name] if len(made) == 1 else [f"{name}.{i}" for i in range(len(made))]
        outputs = [
            GraphTensor(own, tuple(symbols.shape_in_graph(t)), t.dtype, self)
            for own, t in zip(names, made, strict=True)
        ]
        self._operators.append(_Operator(name, compute, tuple(inputs), tuple(outputs)))
        self._own.update(outputs)
        return outputs

    def custom(self, name: str, *_: Any, **__: Any) -> NoReturn:
        """Refuse a custom operator."""
        refuse(
            "BadGraph",
            f"the custom operator of the node {name!r} is in a loop whose length is open",
            "give the loop a number of steps",
        )

    def require(self, node: str, conditions: Iterable[Condition]) -> None:
        """Let each run check conditions on its sizes, as :meth:`Graph.require`."""
        self._graph.require(node, conditions)

    def capture(self, tensor: GraphTensor) -> None:
        """Note that the body reads a tensor; one that it does not make is around the loop."""
        if tensor not in self._own:
            self.captured.setdefault(tensor)

    def step(self, outputs: Sequence[GraphTensor]) -> Step:
        """Return the function that computes `outputs` in each step."""

        def computed_step(inputs: Sequence[Tensor], captured: Sequence[Tensor]) -> list[Tensor]:
            made = dict(zip([*self.inputs, *self.captured], [*inputs, *captured], strict=True))
            for each in self._operators:
                results = computed(each.name, each.compute, [made[t] for t in each.inputs])
                made.update(zip(each.outputs, results, strict=True))
            return [made[each] for each in outputs]

        return computed_step


__all__ = ["LoopBody"]
