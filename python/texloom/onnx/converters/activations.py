"""Activation functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ops import elementwise as ops
from ..nodes import Node, Value
from .elementwise import placed_at
from .registry import converts

# The function of each operator, and its parameters: attributes and their defaults.
_ACTIVATIONS: dict[str, tuple[Any, dict[str, tuple[str, Any]]]] = {
    "Celu": (ops.celu, {"alpha": ("alpha", 1.0)}),
    "Elu": (ops.elu, {"alpha": ("alpha", 1.0)}),
    "Gelu": (ops.gelu, {"approximate": ("approximate", "none")}),
    "HardSigmoid": (ops.hard_sigmoid, {"alpha": ("alpha", 0.2), "beta": ("beta", 0.5)}),
    "HardSwish": (ops.hard_swish, {}),
    "LeakyRelu": (ops.leaky_relu, {"alpha": ("alpha", 0.01)}),
    "Mish": (ops.mish, {}),
    "Relu": (ops.relu, {}),
    "Selu": (
        ops.selu,
        {
            "alpha": ("alpha", 1.67326319),
            "gamma": ("gamma", 1.05070102),
        },
    ),
    "Shrink": (ops.shrink, {"bias": ("bias", 0.0), "limit": ("lambd", 0.5)}),
    "Sigmoid": (ops.sigmoid, {}),
    "Softplus": (ops.softplus, {}),
    "Softsign": (ops.softsign, {}),
    "Swish": (ops.swish, {"alpha": ("alpha", 1.0)}),
    "ThresholdedRelu": (ops.thresholded_relu, {"alpha": ("alpha", 1.0)}),
}


@converts(*_ACTIVATIONS)
def activation(node: Node) -> Value:
    """Convert an activation function of one tensor, with its attributes."""
    function, parameters = _ACTIVATIONS[node.op]
    given = {
        name: node.attributes.get(attribute, _as_attribute(default))
        for name, (attribute, default) in parameters.items()
    }
    if given.get("approximate") not in (None, "none", "tanh"):
        node.refuse(f"its approximate is {given['approximate']!r}, neither none nor tanh")
    return node.emit(node.op.lower(), function, [node.input(0)], **given)


def _as_attribute(default: Any) -> Any:
    """Return a default value as an attribute would hold it: numbers are rounded to float32."""
    return float(np.float32(default)) if isinstance(default, float) else default


@converts("PRelu")
def prelu(node: Node) -> Value:
    """Convert PRelu: negative elements times a slope, which is broadcast to the first input."""
    x, slope = node.input(0), node.input(1)
    if slope.rank > x.rank:
        node.refuse(f"its slope of shape {slope.shape} does not broadcast to {x.shape}")
    if node.version < 7 and slope.rank == 1 and slope.shape != (1,):
        slope = placed_at(node, slope, x.rank, min(1, x.rank - 1))  # one slope for each channel
    return node.emit("prelu", ops.prelu, [x, slope])


__all__ = ["activation", "prelu"]
