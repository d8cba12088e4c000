"""What a graph declares: its tensors, nodes and outputs, each with a name of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..checks.argument_kinds import kind_of
from ..errors import refuse
from .checks import check_name, checked_extents
from .given_kernels import GivenKernels
from .tensor import GraphTensor

_BAD = "BadGraph"


class Declarations:
    """The tensors, nodes and outputs of a graph, by name.

    Parameters
    ----------
    graph : Any
        The graph, to which tensors belong.

    Attributes
    ----------
    tensors : dict of str to GraphTensor
    inputs : list of GraphTensor
    nodes : dict of str to GivenKernels or None
        The kernels of each node; None where the compiler makes them.
    outputs : dict of GraphTensor to str
        The names of outputs in runs.
    """

    def __init__(self, graph: Any) -> None:
        self._graph = graph
        self.tensors: dict[str, GraphTensor] = {}
        self._numbers: dict[str, int] = {}  # the numbers of tensors in the core's graph
        self._computed: set[str] = set()  # the names of tensors that nodes compute
        self.inputs: list[GraphTensor] = []
        self.nodes: dict[str, GivenKernels | None] = {}
        self.outputs: dict[GraphTensor, str] = {}

    def new_tensor(self, name: str, shape: Sequence[Any], dtype: str) -> GraphTensor:
        """Return a tensor that the graph does not have yet."""
        check_name("tensor", name)
        if name in self.tensors or name in self.outputs.values():
            refuse(_BAD, f"two tensors are called {name!r}", "give each a name of its own")
        return GraphTensor(name, checked_extents(name, shape), dtype, self._graph)

    def new_outputs(
        self, node: str, outputs: Sequence[tuple[Sequence[Any], str]]
    ) -> tuple[GraphTensor, ...]:
        """Return a tensor for each shape and dtype that a node computes."""
        if node in self.nodes:
            refuse(_BAD, f"two nodes are called {node!r}", "give each a name of its own")
        names = [node] if len(outputs) == 1 else [f"{node}.{i}" for i in range(len(outputs))]
        return tuple(self.new_tensor(n, *each) for n, each in zip(names, outputs, strict=True))

    def add(self, tensor: GraphTensor, number: int) -> None:
        """Add a tensor that has this number in the core's graph."""
        self.tensors[tensor.name] = tensor
        self._numbers[tensor.name] = number

    def add_node(
        self,
        name: str,
        outputs: Sequence[GraphTensor],
        numbers: Sequence[int],
        kernels: GivenKernels | None,
    ) -> None:
        """Add a node and its outputs, which have these numbers in the core's graph."""
        for tensor, number in zip(outputs, numbers, strict=True):
            self.add(tensor, number)
            self._computed.add(tensor.name)
        self.nodes[name] = kernels

    def add_output(self, tensor: GraphTensor, name: str | None) -> str:
        """Add an output, and return its name: by default the tensor's own."""
        if tensor.name not in self._computed:
            refuse(
                _BAD,
                f"the output {tensor.name!r} is an input or a constant, which no node computes",
                "give a tensor that a node computes, such as a copy",
            )
        if tensor in self.outputs:
            refuse(
                _BAD,
                f"the tensor {tensor.name!r} is an output already",
                "call output() once for it",
            )
        if name is None:
            name = tensor.name
        check_name("output", name)
        if self.tensors.get(name, tensor) != tensor or name in self.outputs.values():
            refuse(_BAD, f"two tensors are called {name!r}", "give each a name of its own")
        self.outputs[tensor] = name
        return name

    def numbers_of(self, tensors: Sequence[GraphTensor]) -> list[int]:
        """Return the numbers of tensors in the core's graph."""
        return [self._numbers[each.name] for each in tensors]

    def check_inputs(self, name: str, inputs: Sequence[GraphTensor]) -> None:
        """Refuse anything but a list of tensors of this graph."""
        if not isinstance(inputs, (list, tuple)):
            refuse(
                _BAD,
                f"the inputs of {name!r} are {kind_of(inputs)}, not a list",
                "write them in brackets, also if there is one: [x]",
            )
        for each in inputs:
            if not isinstance(each, GraphTensor) or each._graph is not self._graph:
                refuse(
                    _BAD,
                    f"{name!r} is given {each!r}, which is not a tensor of this graph",
                    "give a tensor that input, constant, node, op, concat or custom of this graph "
                    "returned",
                )


__all__ = ["Declarations"]
