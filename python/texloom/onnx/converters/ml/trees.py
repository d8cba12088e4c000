"""Ensembles of decision trees."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....extents import number_of
from ....ops.estimators import trees as ops
from ...nodes import Node, Value
from ..registry import ML, converts
from .arguments import rows
from .forest import Forest, forest_of_roots, forest_of_tree_ids, list_or_tensor
from .scores import label_of, labels_of, top_label, transform_of, transformed

_AGGREGATES = ("AVERAGE", "SUM", "MIN", "MAX")
"""In the order of their numbers in TreeEnsemble."""


@converts("TreeEnsemble", domain=ML)
def tree_ensemble(node: Node) -> Value:
    """Convert an ensemble whose leaves have one target each."""
    forest, targets = forest_of_roots(node), _targets(node)
    summed = _votes(node, forest, targets)
    dtype = node.input(0).dtype
    if dtype == "float16":
        summed = node.cast(summed, "float32")
    made = transformed(node, summed, transform_of(node), of_one=targets == 1)
    return node.cast(made, dtype)


@converts("TreeEnsembleRegressor", domain=ML)
def tree_ensemble_regressor(node: Node) -> Value:
    """Convert an ensemble of trees; sums are computed as :func:`_votes` says."""
    forest, targets = forest_of_tree_ids(node, "target"), _targets(node)
    base = list_or_tensor(node, "base_values", default=())
    if base.size not in (0, targets):
        node.refuse(f"its attribute 'base_values' has {base.size} numbers for {targets} targets")
    summed = node.cast(_votes(node, forest, targets, base), "float32")
    return transformed(node, summed, transform_of(node), of_one=targets == 1)


@converts("TreeEnsembleClassifier", domain=ML)
def tree_ensemble_classifier(node: Node) -> list[Value]:
    """Convert an ensemble whose targets are classes.

    If all votes are for one of two classes, they decide between both (:func:`_binary`).
    """
    labels = labels_of(node, "classlabels_int64s", "classlabels_strings")
    forest = forest_of_tree_ids(node, "class")
    _check_targets(node, "class_ids", forest, len(labels))
    base = list_or_tensor(node, "base_values", default=())
    if len(labels) == 2 and len(np.unique(forest.target)) == 1:
        return _binary(node, forest, base, labels)
    if base.size not in (0, len(labels)):
        node.refuse(
            f"its attribute 'base_values' has {base.size} numbers for {len(labels)} classes"
        )
    scores = _votes(node, forest, len(labels), base)
    made = transformed(node, node.cast(scores, "float32"), transform_of(node))
    return [top_label(node, scores, labels), made]


def _binary(node: Node, forest: Forest, base: Any, labels: list[int]) -> list[Value]:
    """Convert a classifier whose score is for the second label, as onnxruntime does.

    Weights that are never negative make a probability; others make a number with a sign.
    """
    transform = transform_of(node)
    if base.size > 1:
        node.refuse(
            f"its attribute 'base_values' has {base.size} numbers, but all votes are for one "
            "class: give one number"
        )
    if forest.target[0]:
        node.refuse(
            "its attribute 'class_ids' is 1 for all votes, for which implementations disagree: "
            "write 0 for votes that decide between two classes"
        )
    is_probability = bool((forest.weight >= 0).all())
    if transform != "NONE" and (transform != "LOGISTIC" or is_probability):
        node.refuse(
            f"its attribute 'post_transform' is {transform} for votes that are all for one of two "
            "classes, which onnxruntime ignores: remove it, or give votes for both classes"
        )
    score = _votes(node, forest, 1, base)
    limit = node.constant(0.5 if is_probability else 0.0, score.dtype)
    wins = node.convert("Greater", [score, limit])
    place = node.convert("Reshape", [node.cast(wins, "int64"), node.constant([-1], "int64")])
    score = node.cast(score, "float32")
    if is_probability:
        other = node.convert("Sub", [node.constant(1.0, "float32"), score])
    else:
        other = node.convert("Neg", [score])
    both = node.convert("Concat", [other, score], axis=1)
    return [label_of(node, place, labels), transformed(node, both, transform)]


def _targets(node: Node) -> int:
    targets = int(node.attributes.get("n_targets", 0))
    if targets < 1:
        node.refuse(f"its attribute 'n_targets' is {targets}, not 1 or more")
    return targets


def _check_targets(node: Node, name: str, forest: Forest, count: int) -> None:
    outside = (forest.target < 0) | (forest.target >= count)
    if outside.any():
        node.refuse(
            f"its attribute {name!r} has {forest.target[outside][0]}, which is not from 0 to "
            f"{count - 1}"
        )


def _votes(node: Node, forest: Forest, targets: int, base: Any = ()) -> Value:
    """Return the joined votes ``[rows, targets]``.

    Features, splits and weights are compared and added in float64 if one of them is float64, else
    in float32.
    """
    name = "leaf_targetids" if node.op == "TreeEnsemble" else "target_ids"
    _check_targets(node, name, forest, targets)
    x = rows(node)
    if forest.features.size:
        last, features = int(forest.features.max()), number_of(x.shape[1])
        if features is None:
            node.refuse(f"it reads feature {last}, but the number of features is open")
        if last >= features:
            node.refuse(
                f"its attribute 'nodes_featureids' has {last}, but the input has {features} "
                "features"
            )
    is_wide = "float64" in (x.dtype, forest.splits.dtype.name, forest.weight.dtype.name)
    dtype = "float64" if is_wide else "float32"
    leaf = _leaves(node, forest, x, dtype)
    weights, own = forest.votes(targets)
    tables: list[Any] = [weights.astype(dtype)]
    given: dict[str, Any] = {"count": targets, "aggregate": _aggregate(node)}
    names = []
    if own is not None:
        tables.append(own)
        names.append("targets")
    if len(base):
        tables.append(np.asarray(base, dtype))
        names.append("base")
    inputs = [leaf, *map(node.constant, tables)]
    return node.emit("tree_votes", _votes_of(names), inputs, **given)


def _votes_of(names: list[str]) -> Any:
    """Return :func:`texloom.ops.estimators.votes` with optional tensors in the order of `names`."""

    def votes(leaf: Any, weights: Any, *tables: Any, **options: Any) -> Any:
        return ops.votes(leaf, weights, **dict(zip(names, tables, strict=True)), **options)

    return votes


def _leaves(node: Node, forest: Forest, x: Value, dtype: str) -> Value:
    """Return the number of the leaf of each tree that each row reaches."""
    if not forest.features.size:  # every tree is a leaf
        trees = node.constant([len(forest.roots)], "int64")
        shape = node.convert("Concat", [_row_count(node, x), trees], axis=0)
        return node.convert("Expand", [node.constant(-1 - forest.roots), shape])
    tables = [
        forest.roots,
        forest.features,
        forest.splits.astype(dtype),
        forest.children,
    ]
    kinds = np.unique(forest.outcomes)
    if len(kinds) > 1:
        tables.append(forest.outcomes)
    options = {"outcome": int(kinds[0])} if len(kinds) == 1 else {}
    inputs = [x, *map(node.constant, tables)]
    return node.emit_part("leaves", "tree_leaves", ops.leaves, inputs, **options)


def _row_count(node: Node, x: Value) -> Value:
    return node.convert("Shape", [x], start=0, end=1)


def _aggregate(node: Node) -> str:
    given = node.attributes.get("aggregate_function", "SUM")
    if isinstance(given, int) and 0 <= given < len(_AGGREGATES):
        return _AGGREGATES[given]
    if given not in _AGGREGATES:
        node.refuse(
            f"its attribute 'aggregate_function' is {given!r}, not one of {', '.join(_AGGREGATES)}"
        )
    return str(given)


__all__ = ["tree_ensemble", "tree_ensemble_classifier", "tree_ensemble_regressor"]
