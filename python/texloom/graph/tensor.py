"""Tensors of graphs."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..extents import Extent


@dataclass(frozen=True)
class GraphTensor:
    """A tensor of a graph.

    Attributes
    ----------
    name : str
        Unique in its graph.
    shape : tuple of int or Expr
        An extent that is known only at a run is an expression of the graph's symbols.
    dtype : str
    _graph : Graph or None
        The graph that the tensor was added to; None for a tensor of a loaded graph.
    """

    name: str
    shape: tuple[Extent, ...]
    dtype: str
    _graph: object = field(default=None, repr=False, compare=False)

    def described(self) -> str:
        """Return the tensor as messages name it: ``'x' (float32 of 3 x 4)``."""
        extents = " x ".join(map(str, self.shape)) or "one element"
        return f"{self.name!r} ({self.dtype} of {extents})"
