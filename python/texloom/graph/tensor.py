"""Tensors of graphs."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class GraphTensor:
    """A tensor of a graph.

    Attributes
    ----------
    name : str
        Unique in its graph.
    shape : tuple of int
    dtype : str
    _graph : Graph or None
        The graph that is being built with it; None for a tensor of a loaded graph.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    _graph: object = field(default=None, repr=False, compare=False)
