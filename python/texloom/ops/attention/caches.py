"""Caches of keys and values whose sequences have different lengths."""

from __future__ import annotations

from typing import Any

from ... import te
from ..._core import Tensor
from ...extents import Extent, plain, shape_of, value_of
from ..indexing.positions import inside
from .heads import place, split_shape


def sequence_starts(lengths: Tensor, *, rows: Extent, total: Extent) -> Tensor:
    """Return the number of keys in the cache before a step.

    Parameters
    ----------
    lengths : Tensor
        ``[B]``: the number of keys of each sequence after the step, less one.
    rows, total : int or Expr
        The numbers of keys of the step, and of the longest sequence after it. If they are equal,
        this is the first step, in which shorter sequences are padded.

    Returns
    -------
    Tensor
        ``[B]`` of int64.
    """
    count, zero = value_of(rows, "int64"), te.const(0, "int64")
    is_first = value_of(plain(total - rows), "int64").equal(zero)

    def start(b: Any) -> Any:
        later = lengths(b).astype("int64") + te.const(1, "int64") - count
        return te.if_then_else(is_first, zero, te.max(later, zero))

    return te.compute(lengths.shape, start, name="starts")


def positions(starts: Tensor, *, rows: Extent) -> Tensor:
    """Return the positions of `rows` consecutive tokens: ``[B, rows]`` of int64."""
    return te.compute(
        (*shape_of(starts), rows),
        lambda b, s: starts(b).astype("int64") + s.astype("int64"),
        name="positions",
    )


def inserted(
    new: Tensor, starts: Tensor, past: Tensor | None = None, *, heads: int, length: Extent
) -> Tensor:
    """Insert keys or values into a cache, each sequence at its own place.

    Parameters
    ----------
    new : Tensor
        ``[B, S, heads * D]``.
    starts : Tensor
        ``[B]`` of int64: the places of the first new keys; earlier keys are from `past`.
    past : Tensor, optional
        ``[B, heads, P, D]``.
    heads : int
    length : int or Expr

    Returns
    -------
    Tensor
        ``[B, heads, length, D]``, with zeros after the new keys.
    """
    own = shape_of(new)
    batch, count, rows, depth = split_shape(own, heads)

    def at(b: Any, h: Any, n: Any, d: Any) -> Any:
        row = n.astype("int64") - starts(b)
        added = new(*place(own, heads, b, h, inside(row, rows), d))
        zero = te.const(0, new.dtype)
        made = te.if_then_else(row < value_of(rows, "int64"), added, zero)
        if past is None:
            return te.if_then_else(row < 0, zero, made)
        limit = past.shape[2]
        before = te.if_then_else(n < limit, past(b, h, te.min(n, limit - 1), d), zero)
        return te.if_then_else(row < 0, before, made)

    return te.compute((batch, count, length, depth), at, name="cache")


__all__ = ["inserted", "positions", "sequence_starts"]
