"""Graphs of operators: which kernel computes each node, and where each tensor is stored.

A node of a :class:`Graph` is a computation with a schedule function, which makes a schedule for
each combination of storages that it supports. :meth:`Graph.compile` chooses among them by cost,
inserts conversions, compiles each different kernel once, and plans the memory.
"""

from __future__ import annotations

from .compiled import CompiledGraph, RunnableGraph, load
from .cost_model import CostModel
from .graph import Graph
from .graph_passes import graph_passes
from .tensor import GraphTensor
from .tuned_knobs import TunedKnobs

__all__ = [
    "CompiledGraph",
    "CostModel",
    "Graph",
    "GraphTensor",
    "RunnableGraph",
    "TunedKnobs",
    "graph_passes",
    "load",
]
