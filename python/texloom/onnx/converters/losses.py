"""Losses of classifiers."""

from __future__ import annotations

import numpy as np

from ...ops import normalization
from ..nodes import Node, Value, empty
from .registry import converts

_LOSSES = {
    "NegativeLogLikelihoodLoss": normalization.negative_log_likelihood,
    "SoftmaxCrossEntropyLoss": normalization.softmax_cross_entropy,
}


@converts(*_LOSSES)
def loss(node: Node) -> list[Value]:
    """Convert a loss: the negative log probabilities of the targets, weighted by class."""
    x, target = node.input(0), node.input(1)
    if x.rank < 2:
        node.refuse(f"its scores have the shape {x.shape}, which has no axis of classes")
    needed = (x.shape[0], *x.shape[2:])
    if target.shape != needed:
        node.refuse(
            f"its targets have the shape {target.shape}, but scores of shape {x.shape} need "
            f"{needed}"
        )
    if x.is_empty and not target.is_empty:
        node.refuse(f"its scores have the shape {x.shape}: the targets have no class to name")
    reduction = node.attributes.get("reduction", "mean")
    if reduction not in ("none", "sum", "mean"):
        node.refuse(f"its reduction is {reduction!r}, not none, sum or mean")
    if target.is_empty:
        return [_of_nothing(node, target, x.dtype, reduction), empty(x.shape, x.dtype)]
    inputs = [x, target, *([node.input(2)] if node.has(2) else [])]
    return node.emit_all(
        node.op.lower(),
        _LOSSES[node.op],
        inputs,
        reduction=reduction,
        ignored=node.attributes.get("ignore_index"),
    )


def _of_nothing(node: Node, target: Value, dtype: str, reduction: str) -> Value:
    """Return the loss of no targets."""
    if reduction == "none":
        return empty(target.shape, dtype)
    return node.constant(0 if reduction == "sum" else np.nan, dtype)


__all__ = ["loss"]
