"""Element-wise operators."""

from __future__ import annotations

from ...ops import elementwise
from ..nodes import Node, Value
from .registry import converts

_BINARY = {
    "Add": elementwise.add,
    "Sub": elementwise.subtract,
    "Mul": elementwise.multiply,
    "Div": elementwise.divide,
}


@converts(*_BINARY)
def binary(node: Node) -> Value:
    """Two tensors, broadcast."""
    return node.emit(node.op.lower(), _BINARY[node.op], [node.input(0), node.input(1)])


__all__ = ["binary"]
