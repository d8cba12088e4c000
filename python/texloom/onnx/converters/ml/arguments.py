"""Inputs and attributes that operators of ``ai.onnx.ml`` share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...nodes import Node, Value


def rows(node: Node, number: int = 0) -> Value:
    """Return an input as ``[rows, features]``; a vector is one row."""
    x = node.input(number)
    if x.rank == 1:
        return node.convert("Reshape", [x, node.constant([1, -1], "int64")])
    if x.rank != 2:
        node.refuse(f"its input of shape {x.shape} has {x.rank} axes, not rows and features")
    return x


def one_of(node: Node, *names: str) -> str:
    """Return the only one of several attributes that a node has."""
    given = [name for name in names if len(node.attributes.get(name, ()))]
    if len(given) != 1:
        count = "none" if not given else " and ".join(map(repr, given))
        node.refuse(f"of its attributes {', '.join(names)} it has {count}, but needs one")
    return given[0]


def numbers_of(
    node: Node, name: str, dtype: str, counts: Sequence[Any] = (), default: Any = None
) -> np.ndarray:
    """Return an attribute that is a list; refuse a length that is not among the `counts`."""
    given = np.asarray(node.attributes.get(name, () if default is None else default))
    if given.size == 0 and default is None:
        node.refuse(f"it lacks the attribute {name!r}")
    if counts and given.size not in counts:
        known = " or ".join(map(str, dict.fromkeys(counts)))
        node.refuse(f"its attribute {name!r} has {given.size} numbers, not {known}")
    return given.astype(dtype).reshape(-1)


def no_strings(node: Node, *names: str, instead: str) -> None:
    """Refuse attributes that have strings; `instead` says what to use."""
    for name in names:
        if len(node.attributes.get(name, ())):
            node.refuse(f"its attribute {name!r} has strings, which are not supported: {instead}")


__all__ = ["no_strings", "numbers_of", "one_of", "rows"]
