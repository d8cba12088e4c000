"""Tables of ensembles of trees, made from the attributes of nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....ops.estimators.trees import EQUAL, GREATER, LESS, MISSING
from ...nodes import Node
from .arguments import numbers_of

_OUTCOMES = {
    "BRANCH_LEQ": LESS | EQUAL,
    "BRANCH_LT": LESS,
    "BRANCH_GTE": GREATER | EQUAL,
    "BRANCH_GT": GREATER,
    "BRANCH_EQ": EQUAL,
    "BRANCH_NEQ": LESS | GREATER,
}
_MEMBER = len(_OUTCOMES)  # the number of the mode BRANCH_MEMBER, which tests for several equals


@dataclass
class Forest:
    """Trees as :mod:`texloom.ops.estimators.trees` reads them, and the votes of their leaves.

    Attributes
    ----------
    roots, features, splits, children, outcomes : array
        As for :func:`texloom.ops.estimators.leaves`.
    leaves : int
        The number of leaves.
    leaf, target, weight : array
        The votes: numbers of the leaf and of the target, and the weight.
    """

    roots: NDArray[Any]
    features: NDArray[Any]
    splits: NDArray[Any]
    children: NDArray[Any]
    outcomes: NDArray[Any]
    leaves: int
    leaf: NDArray[Any]
    target: NDArray[Any]
    weight: NDArray[Any]

    def votes(self, targets: int) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Return the weights, and the targets if no leaf votes for more than one target.

        The weights are ``[leaves]`` with targets, and ``[leaves, targets]`` without. Several votes
        of a leaf for a target are added.
        """
        keys = self.leaf * targets + self.target
        unique, place = np.unique(keys, return_inverse=True)
        weight = np.zeros(len(unique), self.weight.dtype)
        np.add.at(weight, place, self.weight)
        leaf, target = unique // targets, unique % targets
        if targets > 1 and len(np.unique(leaf)) == len(leaf):
            weights, own = np.zeros(self.leaves, weight.dtype), np.full(self.leaves, -1, "int32")
            weights[leaf], own[leaf] = weight, target
            return weights, own
        table = np.full((self.leaves, targets), np.nan, weight.dtype)
        table[leaf, target] = weight
        return table, None


def list_or_tensor(node: Node, name: str, default: Any = None) -> NDArray[Any]:
    """Return floats: a list of float32, or an attribute ``..._as_tensor`` of float64."""
    tensor = node.attributes.get(f"{name}_as_tensor")
    if tensor is None or tensor.size == 0:
        return numbers_of(node, name, "float32", default=default)
    if len(node.attributes.get(name, ())):
        node.refuse(f"it has both attributes {name!r} and '{name}_as_tensor', but needs one")
    return np.asarray(tensor).reshape(-1)


def forest_of_tree_ids(node: Node, kind: str) -> Forest:
    """Return the trees of a TreeEnsembleClassifier or TreeEnsembleRegressor.

    `kind` is the first word of the attributes of votes: "class" or "target".
    """
    trees = numbers_of(node, "nodes_treeids", "int64")
    count = [trees.size]
    ids = numbers_of(node, "nodes_nodeids", "int64", count)
    modes = node.attributes.get("nodes_modes", [])
    _check_modes(node, modes, count)
    is_leaf = np.array([mode == "LEAF" for mode in modes])
    places = {key: i for i, key in enumerate(zip(trees.tolist(), ids.tolist(), strict=True))}
    if len(places) < trees.size:
        node.refuse("its attributes 'nodes_treeids' and 'nodes_nodeids' name a node twice")
    number = np.where(is_leaf, -np.cumsum(is_leaf), np.cumsum(~is_leaf) - 1).astype("int32")
    inner = np.flatnonzero(~is_leaf)

    def branch(name: str) -> NDArray[Any]:
        own = numbers_of(node, name, "int64", count)[inner]
        keys = zip(trees[inner].tolist(), own.tolist(), strict=True)
        return number[[_place(node, places, name, key) for key in keys]]

    children = np.stack([branch("nodes_falsenodeids"), branch("nodes_truenodeids")], 1)
    splits = list_or_tensor(node, "nodes_values")
    _check_count(node, "nodes_values", splits.size, count[0])
    outcomes = np.array([_OUTCOMES[modes[i]] for i in inner], "int32")
    starts = np.flatnonzero(np.diff(trees, prepend=trees[0] - 1))
    if len(np.unique(trees[starts])) < len(starts):
        node.refuse("its attribute 'nodes_treeids' has nodes of a tree apart from each other")
    leaf, target, weight = _votes_of_tree_ids(node, kind, places, number)
    made = Forest(
        number[starts],
        numbers_of(node, "nodes_featureids", "int64", count)[inner].astype("int32"),
        splits[inner],
        children.reshape(-1, 2).astype("int32"),
        outcomes | _missing(node, count[0])[inner],
        int(is_leaf.sum()),
        leaf,
        target,
        weight,
    )
    return _checked(node, made, "nodes_values")


def _check_modes(node: Node, modes: Sequence[str], count: Sequence[int]) -> None:
    _check_count(node, "nodes_modes", len(modes), count[0])
    for mode in set(modes) - {*_OUTCOMES, "LEAF"}:
        known = ", ".join([*_OUTCOMES, "LEAF"])
        node.refuse(f"its attribute 'nodes_modes' has {mode!r}, not one of {known}")


def _check_count(node: Node, name: str, own: int, count: int) -> None:
    if own != count:
        node.refuse(f"its attribute {name!r} has {own} elements for {count} nodes")


def _place(node: Node, places: dict[tuple[int, int], int], name: str, key: tuple[int, int]) -> int:
    place = places.get(key)
    if place is None:
        node.refuse(
            f"its attribute {name!r} names node {key[1]} of tree {key[0]}, which is missing"
        )
    return place


def _missing(node: Node, count: int) -> NDArray[Any]:
    """Return the outcome MISSING for each node at which a missing feature takes the true branch."""
    name = "nodes_missing_value_tracks_true"
    given = numbers_of(node, name, "int64", default=np.zeros(count))
    _check_count(node, name, given.size, count)
    return np.where(given != 0, MISSING, 0).astype("int32")


def _votes_of_tree_ids(
    node: Node, kind: str, places: dict[tuple[int, int], int], number: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return leaf, target and weight of each vote; votes of other nodes are left out.

    Old converters wrote votes of interior nodes.
    """
    targets = numbers_of(node, f"{kind}_ids", "int64")
    count = [targets.size]
    trees, ids = (
        numbers_of(node, f"{kind}_{each}ids", "int64", count).tolist() for each in ("tree", "node")
    )
    weights = list_or_tensor(node, f"{kind}_weights")
    if weights.size != targets.size:
        node.refuse(
            f"its attribute '{kind}_weights' has {weights.size} weights for {count[0]} votes"
        )
    keys = zip(trees, ids, strict=True)
    own = number[[_place(node, places, f"{kind}_nodeids", key) for key in keys]]
    kept = own < 0
    return -1 - own[kept].astype("int64"), targets[kept], weights[kept]


def forest_of_roots(node: Node) -> Forest:
    """Return the trees of a TreeEnsemble."""
    features = numbers_of(node, "nodes_featureids", "int64")
    count = [features.size]
    splits = numbers_of(node, "nodes_splits", str(node.attributes["nodes_splits"].dtype), count)
    modes = numbers_of(node, "nodes_modes", "int64", count)
    if modes.min() < 0 or modes.max() > _MEMBER:
        node.refuse(f"its attribute 'nodes_modes' has a number that is not from 0 to {_MEMBER}")
    weights = np.asarray(node.attributes["leaf_weights"]).reshape(-1)
    targets = numbers_of(node, "leaf_targetids", "int64", [weights.size])

    def branch(side: str) -> NDArray[Any]:
        child = numbers_of(node, f"nodes_{side}nodeids", "int64", count)
        is_leaf = numbers_of(node, f"nodes_{side}leafs", "int64", count) != 0
        outside = (child < 0) | (child >= np.where(is_leaf, weights.size, features.size))
        if outside.any():
            node.refuse(
                f"its attribute 'nodes_{side}nodeids' has {child[outside][0]}, but there are "
                f"{features.size} nodes and {weights.size} leaves"
            )
        return np.where(is_leaf, -1 - child, child)

    children = np.stack([branch("false"), branch("true")], 1)
    roots = numbers_of(node, "tree_roots", "int64")
    if roots.min() < 0 or roots.max() >= features.size:
        node.refuse(f"its attribute 'tree_roots' has a number that is not from 0 to {count[0] - 1}")
    outcomes = np.array([*_OUTCOMES.values(), EQUAL], "int32")[modes] | _missing(node, count[0])
    made = Forest(
        roots.astype("int32"),
        features.astype("int32"),
        splits,
        children.astype("int32"),
        outcomes,
        weights.size,
        np.arange(weights.size),
        targets,
        weights,
    )
    return _with_members(node, _checked(node, made, "nodes_splits", modes != _MEMBER), modes)


def _with_members(node: Node, forest: Forest, modes: NDArray[Any]) -> Forest:
    """Return a forest in which a test for membership is a chain of tests for equality."""
    tested = np.flatnonzero(modes == _MEMBER)
    if not tested.size:
        return forest
    values = np.asarray(node.attributes.get("membership_values", ())).reshape(-1)
    ends = np.flatnonzero(np.isnan(values))
    if ends.size != tested.size:
        node.refuse(
            f"its attribute 'membership_values' has {ends.size} lists, which end with NaN, for "
            f"{tested.size} nodes of the mode BRANCH_MEMBER"
        )
    parts = {name: [getattr(forest, name)] for name in ("features", "children", "outcomes")}
    splits, count = [forest.splits.copy()], forest.features.size
    for at, begin, end in zip(tested, [0, *(ends[:-1] + 1)], ends, strict=True):
        members = values[begin:end]
        if not members.size:
            node.refuse("its attribute 'membership_values' has an empty list")
        more = len(members) - 1
        false, true = forest.children[at]
        chain = np.append(np.arange(count, count + more), false).astype("int32")
        splits[0][at], forest.children[at, 0] = members[0], chain[0]
        splits.append(members[1:].astype(forest.splits.dtype))
        parts["features"].append(np.full(more, forest.features[at]))
        parts["outcomes"].append(np.full(more, forest.outcomes[at]))
        parts["children"].append(np.stack([chain[1:], np.full(more, true)], 1))
        count += more
    for name, arrays in parts.items():
        setattr(forest, name, np.concatenate(arrays).astype("int32"))
    forest.splits = np.concatenate(splits)
    return forest


def _checked(
    node: Node, forest: Forest, splits: str, compared: NDArray[Any] | None = None
) -> Forest:
    """Refuse splits that are not numbers, features that are negative, and cycles."""
    own = forest.splits if compared is None else forest.splits[compared]
    if np.isnan(own).any():
        node.refuse(f"its attribute {splits!r} has NaN, with which no feature can be compared")
    if np.isnan(forest.weight).any():
        node.refuse("a leaf of its trees has the weight NaN")
    if forest.features.size and forest.features.min() < 0:
        node.refuse(f"its attribute 'nodes_featureids' has {forest.features.min()}")
    level, depth = forest.roots[forest.roots >= 0], 0
    while level.size:
        below = np.unique(forest.children[level])
        level, depth = below[below >= 0], depth + 1
        if depth > forest.features.size:
            node.refuse("its trees have a cycle: a node is below itself")
    return forest


__all__ = ["Forest", "forest_of_roots", "forest_of_tree_ids", "list_or_tensor"]
