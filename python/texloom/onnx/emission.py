"""Operators that a model's nodes become, and the names of their tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from numpy.typing import NDArray

from .._core import Tensor
from ..custom.operators import Operator
from ..extents import are_known
from ..graph.builder import Builder
from ..graph.evaluation import evaluated
from ..graph.graph import Graph
from ..graph.tensor import GraphTensor
from ..ops.movement import listed
from .nodes import Quotient, Unsupported, Value, check_is_computed, constant, of_tensor
from .nodes.types import DTYPES


class Emission:
    """Adds operators and constants to a graph, or to the body of a loop in it.

    Parameters
    ----------
    graph : Graph
    names : iterable of str
        Names that tensors of the graph must not have.

    Attributes
    ----------
    graph : Graph
    """

    def __init__(self, graph: Graph, names: Iterable[str]) -> None:
        self.graph = graph
        self._builder: Builder = graph  # the body, while the body of a loop is converted
        self._path: list[str] = []  # the nodes being expanded, then the node being converted
        self._constants: dict[int, Any] = {}
        self._names = set(names)  # names in use
        self._numbers: dict[str, int] = {}  # the numbers at the ends of names, by stem

    def emit(
        self,
        op: str,
        function: Callable[..., Tensor | Sequence[Tensor]],
        inputs: Sequence[Value],
        attributes: dict[str, Any],
        part: str = "",
    ) -> list[Value]:
        """Return the outputs of an operator: constants, or tensors of a new node of the graph.

        `part` is the end of the node's name.
        """
        compute = partial(function, **attributes)
        if inputs and all(each.is_constant for each in inputs):
            arrays = [self._elements(each) for each in inputs]
            known = evaluated("/".join(self._path) + part, compute, arrays)
            if known is not None:
                return [constant(each) for each in known]
        asked = frozenset().union(*(each.asked for each in inputs))
        tensors = [self.tensor_of(each) for each in inputs]
        name = self.unique_name("/".join(self._path) + part)
        made = self._builder.op(name, op, compute, tensors)
        self._names.update(each.name for each in made)
        return [of_tensor(each, asked) for each in made]

    def tensor_of(self, value: Value) -> GraphTensor:
        """Return the graph's tensor of a value; a constant is added to the graph."""
        check_is_computed(value)
        if value.tensor is not None:
            return value.tensor
        if value.sizes is not None:
            return self._tensor_of_sizes(value)
        array = self._elements(value)
        key = id(array)
        if key not in self._constants:
            tensor = self._builder.constant(self.unique_name("constant"), array)
            self._constants[key] = (tensor, array)  # keeps the array, and so its id, alive
        return self._constants[key][0]  # type: ignore[no-any-return]

    @staticmethod
    def _elements(value: Value) -> NDArray[Any]:
        """Return the elements of a constant that an operator reads."""
        check_is_computed(value)
        array = value.array
        if array is None:
            raise Unsupported("it reads a sequence or an absent value where a tensor is needed")
        if array.size == 0:
            raise Unsupported("it reads a tensor without elements")
        if value.dtype not in DTYPES:
            raise Unsupported(
                f"it reads a constant of type {value.dtype}, which kernels do not support: cast it "
                f"to one of {', '.join(DTYPES)}"
            )
        return array

    def _tensor_of_sizes(self, value: Value) -> GraphTensor:
        """Return a tensor that a kernel fills with extents that are known only at a run."""
        if any(isinstance(each, Quotient) for each in value.sizes.reshape(-1)):  # type: ignore[union-attr]
            raise Unsupported(
                "it reads a quotient of open extents, which may not be a whole number"
            )
        name = self.unique_name("/".join(self._path) + ".sizes")
        given = {"sizes": value.sizes.reshape(-1).tolist(), "shape": value.shape}  # type: ignore[union-attr]
        function = partial(listed, dtype=value.dtype, **given)
        (made,) = self._builder.op(name, "sizes", function, [])
        return made

    def unique_name(self, stem: str) -> str:
        """Return a name that no tensor of the graph, and no input or output of the model, has."""
        number = self._numbers.get(stem, 1)  # all smaller numbers are taken
        name = stem if number == 1 else f"{stem}_{number}"
        while name in self._names or f"{name}.0" in self._names:  # `.0`: a node's first output
            number += 1
            name = f"{stem}_{number}"
        self._numbers[stem] = number
        self._names.add(name)
        return name

    def call(
        self,
        operator: Operator,
        inputs: Sequence[Value | None],
        attributes: dict[str, Any],
        outputs: int,
    ) -> list[Value]:
        """Return the outputs of a custom operator, of which the node names `outputs`."""
        given = [each for each in inputs if each is not None]
        if len(given) < len(inputs):
            raise Unsupported("it leaves out an input, but a custom operator needs all inputs")
        tensors = [self.tensor_of(each) for each in given]
        if any(each.count is not None for each in given):
            raise Unsupported("a custom operator cannot read a tensor whose length depends on data")
        if not all(are_known(each.shape) for each in tensors):
            raise Unsupported("a custom operator needs to know the extents of its inputs")
        name = self.unique_name("/".join(self._path))
        made = self._builder.custom(name, operator, tensors, attributes=attributes)
        tensors = list(made) if isinstance(made, tuple) else [made]
        if len(tensors) != outputs:
            raise Unsupported(
                f"it names {outputs} outputs, but the custom operator {operator!r} has "
                f"{len(tensors)}"
            )
        self._names.update(each.name for each in tensors)
        asked = frozenset().union(*(each.asked for each in given))
        return [of_tensor(each, asked) for each in tensors]


__all__ = ["Emission"]
