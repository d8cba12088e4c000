"""Support vector machines."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ....extents import number_of
from ....ops.estimators import support_vectors as ops
from ...nodes import Node, Value
from ..registry import ML, converts
from .arguments import numbers_of, rows
from .scores import labels_of, top_label, transform_of, transformed

_KERNELS = ("LINEAR", "POLY", "RBF", "SIGMOID")


@converts("SVMRegressor", domain=ML)
def svm_regressor(node: Node) -> Value:
    """Convert a sum of kernels; `one_class` makes it 1 or -1. Without vectors, a linear model."""
    transform = transform_of(node)
    if transform != "NONE":
        node.refuse(
            f"its attribute 'post_transform' is {transform}, which onnxruntime ignores: remove it"
        )
    supports = int(node.attributes.get("n_supports", 0))
    x = node.cast(rows(node), "float32")
    if supports > 0:
        coefficients = numbers_of(node, "coefficients", "float32", [supports])
        x = _kernels(node, x, supports)
    else:
        coefficients = numbers_of(node, "coefficients", "float32")
        _check_features(node, "coefficients", x, coefficients.size)
    rho = numbers_of(node, "rho", "float32", [1])
    given = [x, node.constant(coefficients.reshape(1, -1)), node.constant(rho)]
    made = node.convert("Gemm", given, transB=1)
    if not node.attributes.get("one_class", 0):
        return made
    one = [node.constant(value, "float32") for value in (0.0, 1.0, -1.0)]
    return node.convert("Where", [node.convert("Greater", [made, one[0]]), one[1], one[2]])


@converts("SVMClassifier", domain=ML)
def svm_classifier(node: Node) -> list[Value]:
    """Convert a classifier of pairs of classes, of which the class with most votes wins."""
    labels = labels_of(node, "classlabels_ints", "classlabels_strings")
    if not len(node.attributes.get("vectors_per_class", ())):
        node.refuse(
            "it lacks the attribute 'vectors_per_class', and without vectors implementations "
            "disagree: use LinearClassifier"
        )
    vectors = numbers_of(node, "vectors_per_class", "int64", [len(labels)])
    if vectors.min() < 0 or vectors.sum() < 1:
        node.refuse(f"its attribute 'vectors_per_class' is {vectors.tolist()}")
    kernels = _kernels(node, node.cast(rows(node), "float32"), int(vectors.sum()))
    pairs = len(ops.pairs_of(len(labels)))
    weights = node.constant(_pair_weights(node, vectors))
    rho = node.constant(numbers_of(node, "rho", "float32", [pairs]))
    scores = node.convert("Gemm", [kernels, weights, rho], transB=1)
    votes = node.emit_part("votes", "pair_votes", ops.pair_votes, [scores], classes=len(labels))
    return [top_label(node, votes, labels), _final_scores(node, scores, len(labels))]


def _pair_weights(node: Node, vectors: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return the weight of each vector in each pair of classes, ``[pairs, vectors]``.

    The attribute has rows for the other classes: row j - 1 for a class before j, row j for others.
    """
    classes, count = len(vectors), int(vectors.sum())
    rows_of = numbers_of(node, "coefficients", "float32", [(classes - 1) * count])
    rows_of = rows_of.reshape(classes - 1, count)
    owner = np.repeat(np.arange(classes), vectors)
    made = np.zeros((len(ops.pairs_of(classes)), count), "float32")
    for pair, (i, j) in enumerate(ops.pairs_of(classes)):
        made[pair] = np.where(owner == i, rows_of[j - 1], 0) + np.where(owner == j, rows_of[i], 0)
    return made


def _final_scores(node: Node, scores: Value, classes: int) -> Value:
    """Return the second output: probabilities of classes, or scores of pairs."""
    transform, pairs = transform_of(node), len(ops.pairs_of(classes))
    if "prob_a" in node.attributes or "prob_b" in node.attributes:
        parts = [numbers_of(node, name, "float32", [pairs]) for name in ("prob_a", "prob_b")]
        given = [scores, *map(node.constant, parts)]
        function = ops.class_probabilities
        made = node.emit_part(
            "probabilities", "class_probabilities", function, given, classes=classes
        )
        return transformed(node, made, transform)
    if classes > 2:
        return transformed(node, scores, transform)
    if transform != "NONE":
        node.refuse(
            f"its attribute 'post_transform' is {transform} for two classes without probabilities, "
            "for which implementations disagree: remove it, or give 'prob_a' and 'prob_b'"
        )
    return node.convert("Concat", [node.convert("Neg", [scores]), scores], axis=1)


def _kernels(node: Node, x: Value, count: int) -> Value:
    """Return the kernel of each row with each support vector, ``[rows, vectors]``."""
    kind = node.attributes.get("kernel_type", "LINEAR")
    if kind not in _KERNELS:
        node.refuse(f"its attribute 'kernel_type' is {kind!r}, not {', '.join(_KERNELS)}")
    vectors = numbers_of(node, "support_vectors", "float32")
    if vectors.size % count:
        node.refuse(
            f"its attribute 'support_vectors' has {vectors.size} numbers for {count} vectors"
        )
    _check_features(node, "support_vectors", x, vectors.size // count)
    table = node.constant(vectors.reshape(count, -1))
    if kind == "LINEAR":
        return node.convert("Gemm", [x, table], transB=1)
    gamma, offset, degree = numbers_of(node, "kernel_params", "float32", [3]).tolist()
    if kind == "RBF":
        return node.emit_part("kernels", "radial", ops.radial, [x, table], gamma=gamma)
    shift = node.constant([offset], "float32")
    made = node.convert("Gemm", [x, table, shift], transB=1, alpha=gamma)
    if kind == "SIGMOID":
        return node.convert("Tanh", [made])
    return node.convert("Pow", [made, node.constant(degree, "float32")])


def _check_features(node: Node, name: str, x: Value, features: int) -> None:
    own = number_of(x.shape[1])
    if own not in (None, features):
        node.refuse(f"its attribute {name!r} is for {features} features, but its input has {own}")


__all__ = ["svm_classifier", "svm_regressor"]
