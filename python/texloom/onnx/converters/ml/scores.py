"""What estimators do with scores: they transform them, and choose labels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....ops.estimators import scores as ops
from ...nodes import Node, Value
from .arguments import no_strings, numbers_of

TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")
"""In the order of their numbers in TreeEnsemble."""


def transform_of(node: Node) -> str:
    """Return the name of the attribute `post_transform`, which may be a number."""
    given = node.attributes.get("post_transform", "NONE")
    if isinstance(given, int) and 0 <= given < len(TRANSFORMS):
        return TRANSFORMS[given]
    if given not in TRANSFORMS:
        node.refuse(f"its attribute 'post_transform' is {given!r}, not {', '.join(TRANSFORMS)}")
    return str(given)


def transformed(node: Node, scores: Value, transform: str, of_one: bool = False) -> Value:
    """Return transformed scores ``[rows, scores]``.

    `of_one` says that the scores are all that the node has for a single target: onnxruntime then
    ignores some transformations, contrary to the standard, so that these are refused.
    """
    if transform == "NONE":
        return scores
    if of_one and transform != "PROBIT":
        node.refuse(
            f"its attribute 'post_transform' is {transform} for a single target, which onnxruntime "
            "ignores: remove the attribute, or add a node that computes the function"
        )
    if transform == "LOGISTIC":
        return node.convert("Sigmoid", [scores])
    if transform == "SOFTMAX":
        return node.convert("Softmax", [scores], axis=-1)
    function = ops.probit if transform == "PROBIT" else ops.softmax_zero
    return node.emit_part("scores", transform.lower(), function, [scores])


def labels_of(node: Node, ints: str, strings: str) -> list[int]:
    """Return the labels of a classifier, which are integers."""
    no_strings(
        node,
        strings,
        instead=f"replace them by numbers in {ints!r}, such as 0, 1, ..., and look up the strings "
        "of the labels after the run",
    )
    labels = numbers_of(node, ints, "int64").tolist()
    if len(labels) < 2:
        node.refuse(f"its attribute {ints!r} has one label, but a classifier needs two or more")
    return [int(each) for each in labels]


def label_of(node: Node, place: Value, labels: Sequence[int]) -> Value:
    """Return the label at a place, given as ``[rows]`` of int64."""
    if list(labels) == list(range(len(labels))):
        return place
    return node.convert("Gather", [node.constant(np.array(labels)), place], axis=0)


def top_label(node: Node, scores: Value, labels: Sequence[int]) -> Value:
    """Return the label of the first greatest score of each row."""
    return label_of(node, node.convert("ArgMax", [scores], axis=1, keepdims=0), labels)


__all__ = ["TRANSFORMS", "label_of", "labels_of", "top_label", "transform_of", "transformed"]
