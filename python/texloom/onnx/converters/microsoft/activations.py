"""Activation functions of onnxruntime: alone, after a bias, or as an attribute of another node."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....extents import agree
from ...nodes import Node, Value
from ..registry import MICROSOFT, converts

# The activations that other nodes name, and the attributes that their parameters are.
_NAMED: dict[str, tuple[str, ...]] = {
    "Elu": ("alpha",),
    "HardSigmoid": ("alpha", "beta"),
    "LeakyRelu": ("alpha",),
    "Relu": (),
    "Sigmoid": (),
    "Softplus": (),
    "Softsign": (),
    "Tanh": (),
    "ThresholdedRelu": ("alpha",),
}


@converts("Gelu", "BiasGelu", domain=MICROSOFT)
def gelu(node: Node) -> Value:
    """Convert the exact Gelu, of a sum if there is a bias."""
    return node.convert("Gelu", [biased(node, node.input(0), 1)])


@converts("FastGelu", domain=MICROSOFT)
def fast_gelu(node: Node) -> Value:
    """Convert the approximation of Gelu by tanh, of a sum if there is a bias."""
    return node.convert("Gelu", [biased(node, node.input(0), 1)], approximate="tanh")


@converts("QuickGelu", domain=MICROSOFT)
def quick_gelu(node: Node) -> Value:
    """Convert ``x * sigmoid(alpha * x)``."""
    alpha = node.attributes.get("alpha", float(np.float32(1.702)))
    return node.convert("Swish", [node.input(0)], alpha=alpha)


def biased(node: Node, x: Value, index: int) -> Value:
    """Return `x` plus an optional input: one number for each position along the last axis."""
    if not node.has(index):
        return x
    bias = node.input(index)
    check_row(node, "bias", bias, x)
    return node.convert("Add", [x, bias])


def check_row(node: Node, name: str, row: Value, x: Value) -> None:
    """Refuse a tensor that has not one number for each position along the last axis of `x`."""
    if row.rank != 1 or not x.rank or not agree(row.shape[0], x.shape[-1]):
        node.refuse(
            f"its {name} has the shape {row.shape}, not one number for each position along the "
            f"last axis of {x.shape}"
        )


def activated(node: Node, x: Value, parameters: dict[str, Any]) -> Value:
    """Apply the activation that the attribute `activation` names.

    `parameters` are its attributes by name; a missing one has the default of the activation.
    """
    name = node.attributes.get("activation", "")
    if not name:
        return x
    if name == "Clip":
        limits = [parameters.get("min"), parameters.get("max")]
        bounds = [None if e is None else node.constant(e, x.dtype) for e in limits]
        return node.convert("Clip", [x, *bounds])
    if name not in _NAMED:
        known = ", ".join(sorted([*_NAMED, "Clip"]))
        node.refuse(f"its activation is {name!r}, not one of {known}")
    given = {each: parameters[each] for each in _NAMED[name] if each in parameters}
    return node.convert(name, [x], **given)


def parameter_names(node: Node) -> tuple[str, ...]:
    """Return the names of the parameters of the activation, in order."""
    name = node.attributes.get("activation", "")
    return ("min", "max") if name == "Clip" else _NAMED.get(name, ())


__all__ = ["activated", "biased", "check_row", "fast_gelu", "gelu", "parameter_names", "quick_gelu"]
