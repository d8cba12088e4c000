"""What operators are added to: a graph, or the body of a loop in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from numpy.typing import ArrayLike

from ..custom.operators import Operator
from ..extents import Condition
from .node_functions import Compute
from .tensor import GraphTensor


class Builder(Protocol):
    """A :class:`Graph` or a :class:`LoopBody`."""

    def input(self, name: str, shape: Sequence[Any], dtype: str) -> GraphTensor:
        """Add an input."""
        ...

    def constant(self, name: str, value: ArrayLike) -> GraphTensor:
        """Add a constant."""
        ...

    def op(
        self, name: str, op: str, compute: Compute, inputs: Sequence[GraphTensor]
    ) -> list[GraphTensor]:
        """Add an operator; return its outputs."""
        ...

    def custom(
        self,
        name: str,
        op: Operator,
        inputs: Sequence[GraphTensor],
        *,
        attributes: dict[str, Any],
    ) -> GraphTensor | tuple[GraphTensor, ...]:
        """Add a call of a custom operator; return its outputs."""
        ...

    def require(self, node: str, conditions: Iterable[Condition]) -> None:
        """Let each run check conditions on its sizes."""
        ...


__all__ = ["Builder"]
