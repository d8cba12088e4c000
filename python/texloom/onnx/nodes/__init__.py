"""The interface of converters: a node, its values, and how to refuse it."""

from __future__ import annotations

from .errors import NOT_SUPPORTED, NeedsValues, Refusal, Unsupported, refuse_model, refuse_nodes
from .node import Node
from .values import ABSENT, Quotient, Value, constant, empty, of_sizes, of_tensor, sequence

__all__ = [
    "NOT_SUPPORTED",
    "ABSENT",
    "NeedsValues",
    "Node",
    "Quotient",
    "Refusal",
    "Unsupported",
    "Value",
    "constant",
    "empty",
    "of_sizes",
    "of_tensor",
    "refuse_model",
    "refuse_nodes",
    "sequence",
]
