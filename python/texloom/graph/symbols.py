"""The symbols of a graph, and the conditions on them that a run must meet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .. import extents
from .._core import Tensor
from ..extents import Condition, Extent
from .node_functions import Compute, Locals, computed
from .tensor import GraphTensor


class Symbols:
    """The symbols of a graph: the extents of its inputs that each run gives.

    Parameters
    ----------
    core : Any
        The core's graph, to which the symbols and the conditions are added.
    """

    def __init__(self, core: Any) -> None:
        self._core = core
        self._names: dict[str, None] = {}  # in the order of addition
        self._conditions: set[Condition] = set()

    @property
    def names(self) -> tuple[str, ...]:
        """The symbols, in the order of addition."""
        return tuple(self._names)

    def add(self, shape: Sequence[Extent]) -> None:
        """Add the symbols in the shape of an input."""
        for extent in shape:
            for name in extents.symbols_of(extent):
                if name not in self._names:
                    self._names[name] = None
                    self._core.symbol(name)

    def steps(self, shape: Sequence[Extent]) -> list[Any]:
        """Return a shape as the core reads it; new symbols are numbered after the known ones."""
        names = list(self._names)
        for extent in shape:
            names += [name for name in extents.symbols_of(extent) if name not in names]
        return [extents.steps_of(extent, names) for extent in shape]

    @staticmethod
    def computed(
        name: str, compute: Compute, inputs: Sequence[GraphTensor]
    ) -> tuple[list[Tensor], Locals, list[Condition]]:
        """Return the outputs of a node, its symbols, and the conditions on them."""
        symbols = Locals(inputs)
        with symbols.computing() as found:
            made = computed(name, compute, symbols.placeholders)
        conditions = [
            Condition(each.is_equality, *map(symbols.in_graph, (each.left, each.right)))
            for each in found
        ]
        wide = (extent for tensor in made for extent in symbols.shape_in_graph(tensor))
        return made, symbols, conditions + [Condition(False, extent, 1) for extent in wide]

    def keep(self, node: str, conditions: Iterable[Condition]) -> None:
        """Add the conditions of a node that do not hold for all sizes."""
        for each in conditions:
            holds = (
                each.left == each.right
                if each.is_equality
                else extents.is_at_most(each.right, each.left)
            )
            if not holds and each not in self._conditions:
                self._conditions.add(each)
                sides = self.steps([each.left, each.right])
                self._core.condition(f"the node {node!r}", each.is_equality, *sides)


__all__ = ["Symbols"]
