"""Linear models."""

from __future__ import annotations

import numpy as np

from ....extents import number_of
from ...nodes import Node, Value
from ..registry import ML, converts
from .arguments import numbers_of, rows
from .scores import labels_of, top_label, transform_of, transformed


@converts("LinearRegressor", domain=ML)
def linear_regressor(node: Node) -> Value:
    """Convert ``x W + b``, with a transformation of the result."""
    targets = int(node.attributes.get("targets", 1))
    if targets < 1:
        node.refuse(f"its attribute 'targets' is {targets}, not 1 or more")
    made = _products(node, targets)
    return transformed(node, made, transform_of(node), of_one=targets == 1)


@converts("LinearClassifier", domain=ML)
def linear_classifier(node: Node) -> list[Value]:
    """Convert a score ``x W + b`` for each class; `multi_class` says how it was trained."""
    labels = labels_of(node, "classlabels_ints", "classlabels_strings")
    intercepts = node.attributes.get("intercepts", ())
    if len(labels) == 2 and len(intercepts) == 1:
        node.refuse(
            "its attribute 'intercepts' has one number for two classes, for which implementations "
            "disagree: give coefficients and intercepts of both classes, one the negative of the "
            "other"
        )
    scores = _products(node, len(labels))
    made = transformed(node, scores, transform_of(node))
    return [top_label(node, scores, labels), made]


def _products(node: Node, count: int) -> Value:
    """Return ``[rows, count]`` of float32: products with `coefficients`, and `intercepts`."""
    x = node.cast(rows(node), "float32")
    features = number_of(x.shape[1])
    coefficients = numbers_of(node, "coefficients", "float32")
    if coefficients.size % count or features not in (None, coefficients.size // count):
        node.refuse(
            f"its attribute 'coefficients' has {coefficients.size} numbers for {count} results of "
            f"{x.shape[1]} features"
        )
    intercepts = numbers_of(node, "intercepts", "float32", [count], default=np.zeros(count))
    given = [x, node.constant(coefficients.reshape(count, -1)), node.constant(intercepts)]
    return node.convert("Gemm", given, transB=1)


__all__ = ["linear_classifier", "linear_regressor"]
