"""Ensembles of decision trees.

Nodes and leaves are numbered over all trees. An interior node compares a feature with a split and
names its two children. A child or a root is the number of an interior node, or ``-1 - leaf``. Trees
have no cycles, so that every walk ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from ... import te, tir
from ..._core import Tensor
from ...extents import product, shape_of
from ..raveling import unraveled
from ..threads import each_thread

LESS, EQUAL, GREATER, MISSING = 1, 2, 4, 8
"""Outcomes of a comparison of a feature with a split; a missing feature is NaN."""

Aggregate = Literal["SUM", "AVERAGE", "MIN", "MAX"]


def leaves(
    x: Tensor,
    roots: Tensor,
    features: Tensor,
    splits: Tensor,
    children: Tensor,
    outcomes: Tensor | None = None,
    *,
    outcome: int = 0,
) -> Tensor:
    """Return the leaf of each tree that each row reaches, as ``[rows, trees]`` of int32.

    A thread walks through one tree for one row.

    Parameters
    ----------
    x : Tensor
        ``[rows, features]``.
    roots : Tensor
        ``[trees]`` of int32.
    features : Tensor
        ``[nodes]`` of int32.
    splits : Tensor
        ``[nodes]``; `x` is compared in its type.
    children : Tensor
        ``[nodes, 2]`` of int32: the child if the test of the node fails, and if it holds.
    outcomes : Tensor, optional
        ``[nodes]`` of int32: the sum of the outcomes for which the test of each node holds.
    outcome : int
        The same for all nodes, without `outcomes`.
    """
    (rows, _), (trees,) = shape_of(x), shape_of(roots)
    tables = [] if outcomes is None else [outcomes]

    def walk(inputs: Sequence[Any], outputs: Sequence[Any]) -> Any:
        ib = tir.ir_builder.create()
        own, root, feature, split, child, *known = (ib.buffer_ptr(each) for each in inputs)
        result = ib.buffer_ptr(outputs[0])
        with each_thread(ib, product([rows, trees])) as thread:
            row, tree = unraveled(thread, (rows, trees))
            row, tree = ib.let("row", row), ib.let("tree", tree)
            node = ib.allocate("int32", (1,), name="node", scope="local")
            node[0] = root[tree]
            with ib.while_loop(node[0] >= 0):
                at = ib.let("at", node[0])
                value = ib.let("value", own[row, feature[at]].astype(splits.dtype))
                limit = ib.let("limit", split[at])
                if known:
                    holds = tir.bitwise_and(known[0][at], _outcome(value, limit)) != 0
                else:
                    holds = _holds(value, limit, outcome)
                node[0] = te.if_then_else(holds, child[at, 1], child[at, 0])
            result[row, tree] = -1 - node[0]
        return ib.get()

    given = [x, roots, features, splits, children, *tables]
    return te.extern((rows, trees), given, walk, name="leaves", dtype="int32")


def _outcome(value: Any, limit: Any) -> Any:
    """Return the outcome of a comparison; 0 if only the limit is NaN."""
    missing = te.if_then_else(te.isnan(value), MISSING, 0)
    above = te.if_then_else(value > limit, GREATER, missing)
    return te.if_then_else(value < limit, LESS, te.if_then_else(value.equal(limit), EQUAL, above))


def _holds(value: Any, limit: Any, outcome: int) -> Any:
    """Return whether a test with constant outcomes holds."""
    tests = {
        LESS: lambda: value < limit,
        EQUAL: lambda: value.equal(limit),
        GREATER: lambda: value > limit,
        LESS | EQUAL: lambda: value <= limit,
        GREATER | EQUAL: lambda: value >= limit,
    }
    known = tests.get(outcome)
    if known is not None:
        return known()
    return tir.bitwise_and(te.const(outcome, "int32"), _outcome(value, limit)) != 0


def votes(
    leaf: Tensor,
    weights: Tensor,
    targets: Tensor | None = None,
    base: Tensor | None = None,
    *,
    count: int,
    aggregate: Aggregate = "SUM",
) -> Tensor:
    """Return what the reached leaves vote for each target, as ``[rows, count]``.

    The trees are added in their order, so that sums are the same on all devices.

    Parameters
    ----------
    leaf : Tensor
        ``[rows, trees]``, the result of :func:`leaves`.
    weights : Tensor
        ``[leaves, count]``; with `targets`, ``[leaves]``. NaN is no vote.
    targets : Tensor, optional
        ``[leaves]`` of int32: the only target for which each leaf votes.
    base : Tensor, optional
        ``[count]``: numbers that are added at the end.
    count : int
        The number of targets.
    aggregate : str
        How the votes for a target are joined. Without votes, the result is 0; an average divides by
        the number of trees.
    """
    rows, trees = shape_of(leaf)
    dtype = weights.dtype
    tables = [each for each in (targets, base) if each is not None]

    def joined(inputs: Sequence[Any], outputs: Sequence[Any]) -> Any:
        ib = tir.ir_builder.create()
        reached, weight, *rest = (ib.buffer_ptr(each) for each in inputs)
        result = ib.buffer_ptr(outputs[0])
        with each_thread(ib, product([rows, count])) as thread:
            row, target = unraveled(thread, (rows, count))
            row, target = ib.let("row", row), ib.let("target", target)
            total = ib.allocate(dtype, (1,), name="total", scope="local")
            total[0] = te.const(_START[aggregate], dtype)
            with ib.for_range(0, trees, name="tree") as tree:
                place = ib.let("place", reached[row, tree])
                if targets is None:
                    vote = ib.let("vote", weight[place, target])
                    votes_for = te.isnan(vote).equal(te.const(False, "bool"))
                else:
                    vote = ib.let("vote", weight[place])
                    votes_for = rest[0][place].equal(target)
                total[0] = te.if_then_else(votes_for, _join(total[0], vote, aggregate), total[0])
            made = _finished(total[0], trees, aggregate)
            result[row, target] = made if base is None else made + rest[-1][target]
        return ib.get()

    given = [leaf, weights, *tables]
    return te.extern((rows, count), given, joined, name="votes", dtype=dtype)


_START = {"SUM": 0.0, "AVERAGE": 0.0, "MIN": float("inf"), "MAX": float("-inf")}


def _join(total: Any, vote: Any, aggregate: Aggregate) -> Any:
    if aggregate in ("SUM", "AVERAGE"):
        return total + vote
    wins = vote < total if aggregate == "MIN" else vote > total
    return te.if_then_else(wins, vote, total)


def _finished(total: Any, trees: Any, aggregate: Aggregate) -> Any:
    if aggregate == "SUM":
        return total
    if aggregate == "AVERAGE":
        return total / te.const(int(trees), total.dtype)
    start = te.const(_START[aggregate], total.dtype)
    return te.if_then_else(total.equal(start), te.const(0, total.dtype), total)


__all__ = ["EQUAL", "GREATER", "LESS", "MISSING", "Aggregate", "leaves", "votes"]
