"""The interface of converters: a node, its values, and how to refuse it."""

from __future__ import annotations

from .errors import (
    NOT_SUPPORTED,
    NeedsValues,
    Refusal,
    Unsupported,
    reason_of,
    refuse_model,
    refuse_nodes,
)
from .node import Node, Port
from .values import (
    ABSENT,
    Quotient,
    Value,
    as_stored,
    check_is_computed,
    constant,
    empty,
    of_sizes,
    of_stored,
    of_tensor,
    sequence,
)

__all__ = [
    "NOT_SUPPORTED",
    "ABSENT",
    "NeedsValues",
    "Node",
    "Port",
    "Quotient",
    "Refusal",
    "Unsupported",
    "Value",
    "as_stored",
    "check_is_computed",
    "constant",
    "empty",
    "of_sizes",
    "of_stored",
    "of_tensor",
    "reason_of",
    "refuse_model",
    "refuse_nodes",
    "sequence",
]
