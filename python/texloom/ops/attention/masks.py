"""What attention adds to its scores: a mask, and minus infinity for hidden keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ... import te
from ..._core import Tensor
from ...extents import Extent, plain, value_of
from ..broadcast import element


@dataclass(frozen=True)
class Visible:
    """Which keys a query sees, by their positions.

    The position of query m is ``m + offset``, that of key n is n.

    Attributes
    ----------
    causal : bool
        Whether queries see no later keys.
    left, right : int or None
        How many earlier, and later, keys a query sees; None: all.
    offset : int or Expr
        The number of keys before the first query. If the lengths of the sequences are given, they
        replace it: the last query is at the last key of its sequence.
    """

    causal: bool = False
    left: int | None = None
    right: int | None = None
    offset: Extent = 0

    @property
    def is_all(self) -> bool:
        """Whether positions hide no keys."""
        return not self.causal and self.left is None and self.right is None

    def conditions(self, query: Any, key: Any) -> list[Any]:
        """Return the conditions for positions of a query and a key."""
        made = [key <= query] if self.causal else []
        if self.left is not None:
            made.append(query - key <= self.left)
        if self.right is not None:
            made.append(key - query <= self.right)
        return made


def score_bias(
    *given: Tensor,
    names: Sequence[str],
    shape: Sequence[Extent],
    rows: Extent,
    dtype: str,
    visible: Visible,
) -> Tensor:
    """Return the term to add to each score.

    Parameters
    ----------
    *given : Tensor
        The tensors of `names`: ``"mask"`` is broadcast to `shape`, but keys after its last one are
        hidden; in a mask of booleans, true shows a key; in a mask of numbers, each is a term.
        ``"lengths"`` is ``[B]`` of int64: in each sequence, keys from this number on are hidden.
    names : sequence of str
    shape : sequence of int or Expr
        The last axis is that of keys; the one before is that of queries, or has extent 1. If there
        are lengths, the shape has four axes, and begins with B.
    rows : int or Expr
        The number of queries.
    dtype : str
    visible : Visible
    """
    tensors = dict(zip(names, given, strict=True))
    mask, lengths = tensors.get("mask"), tensors.get("lengths")
    hidden = te.const(float("-inf"), dtype)
    position = "int32" if lengths is None else "int64"

    def term(*i: Any) -> Any:
        conditions = []
        key = i[-1].astype(position)
        offset = value_of(visible.offset, position)
        if lengths is not None:
            length = lengths(i[0])
            conditions.append(key < length)
            offset = length - value_of(rows, position)
        if not visible.is_all:
            conditions += visible.conditions(i[-2].astype(position) + offset, key)
        value = te.const(0, dtype)
        if mask is not None:
            value = _shown(element(mask, i), dtype, hidden)
            if mask.shape and not plain(mask.shape[-1]) == plain(shape[-1]):
                value = te.if_then_else(i[-1] < mask.shape[-1], value, hidden)
        return te.if_then_else(te.all(*conditions), value, hidden) if conditions else value

    return te.compute(tuple(shape), term, name="bias")


def _shown(value: Any, dtype: str, hidden: Any) -> Any:
    if value.dtype == "bool":
        return te.if_then_else(value, te.const(0, dtype), hidden)
    return value.astype(dtype)


__all__ = ["Visible", "score_bias"]
