"""The symbols of a graph, and what has to hold of them at a run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .. import extents
from .._core import Tensor
from ..extents import Condition, Extent
from .node_functions import Compute, Locals, computed
from .tensor import GraphTensor


class Symbols:
    """The symbols of a graph: the extents of its inputs that each run says."""

    def __init__(self) -> None:
        self._names: dict[str, None] = {}  # in order
        self._conditions: dict[Condition, str] = {}  # with the node that has each

    def add(self, shape: Sequence[Extent]) -> None:
        """Add the symbols in the shape of an input."""
        for extent in shape:
            self._names.update(dict.fromkeys(extents.symbols_of(extent)))

    def steps(self, shape: Sequence[Extent]) -> list[Any]:
        """Return a shape as the core reads it."""
        names = list(self._names)
        return [extents.steps_of(extent, names) for extent in shape]

    def define(self, core: Any) -> None:
        """Add the symbols and the conditions to the core's graph."""
        for name in self._names:
            core.symbol(name)
        for condition, node in self._conditions.items():
            sides = self.steps([condition.left, condition.right])
            core.condition(node, condition.is_equality, *sides)

    @staticmethod
    def computed(
        name: str, compute: Compute, inputs: Sequence[GraphTensor]
    ) -> tuple[list[Tensor], Locals, list[Condition]]:
        """Return what a node computes, its symbols, and what has to hold."""
        symbols = Locals(inputs)
        with symbols.computing() as found:
            made = computed(name, compute, symbols.placeholders)
        conditions = [
            Condition(each.is_equality, *map(symbols.in_graph, (each.left, each.right)))
            for each in found
        ]
        wide = (extent for tensor in made for extent in symbols.shape_in_graph(tensor))
        return made, symbols, conditions + [Condition(False, extent, 1) for extent in wide]

    @staticmethod
    def joined(axis: int, tensors: Sequence[GraphTensor]) -> list[Condition] | None:
        """Return what has to hold if shapes differ, at most, in an axis; None if they do not."""
        first = tensors[0].shape
        if any(len(each.shape) != len(first) for each in tensors):
            return None
        with extents.collected() as conditions:
            agrees = all(
                extents.agree(extent, first[i])
                for each in tensors
                for i, extent in enumerate(each.shape)
                if i != axis
            )
        return list(conditions) if agrees else None

    def keep(self, node: str, conditions: Iterable[Condition]) -> None:
        """Keep what has to hold for a node, if it does not hold for all sizes."""
        for each in conditions:
            holds = (
                each.left == each.right
                if each.is_equality
                else extents.is_at_most(each.right, each.left)
            )
            if not holds:
                self._conditions.setdefault(each, f"the node {node!r}")


__all__ = ["Symbols"]
