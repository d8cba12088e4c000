"""The parts of attention over several heads: products that read heads in either of two layouts.

Heads are an axis, ``[B, H, S, D]``, or the slower part of the last axis, ``[B, S, H * D]``. The
number of heads of queries is a multiple of that of keys and values: consecutive heads of queries
share one head of keys and values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ... import te
from ..._core import Tensor
from ...extents import Extent, agreed, plain, shape_of
from ..contraction import Contraction
from ..precision import sum_dtype
from ..products.matrix import rounded


@dataclass(frozen=True)
class Heads:
    """The numbers of heads.

    Attributes
    ----------
    query : int
        The number of heads of queries, a multiple of `key`.
    key : int
        The number of heads of keys and values.
    """

    query: int
    key: int

    def of_key(self, head: Any) -> Any:
        """Return the head of keys and values that a head of queries uses."""
        group = self.query // self.key
        return head if group == 1 else head // group


def place(
    shape: Sequence[Extent], heads: int, batch: Any, head: Any, row: Any, column: Any
) -> tuple[Any, ...]:
    """Return the indices of an element in a tensor of this shape, in either layout of heads."""
    if len(shape) == 4:
        return batch, head, row, column
    size = plain(shape[-1] // heads)
    return batch, row, head * size + column


def split_shape(shape: Sequence[Extent], heads: int) -> tuple[Extent, ...]:
    """Return the shape of a tensor whose heads become an axis."""
    if len(shape) == 4:
        return tuple(shape)
    batch, rows, width = shape
    return batch, heads, rows, plain(width // heads)


def split_heads(x: Tensor, heads: int) -> Tensor:
    """Return ``[B, S, H * D]`` as ``[B, H, S, D]``."""
    shape = shape_of(x)
    return te.compute(
        split_shape(shape, heads), lambda *i: x(*place(shape, heads, *i)), name="split_heads"
    )


def appended(past: Tensor, new: Tensor, heads: int) -> Tensor:
    """Append keys or values to a cache.

    Parameters
    ----------
    past : Tensor
        ``[B, H, P, D]``.
    new : Tensor
        ``[B, H, S, D]`` or ``[B, S, H * D]``.
    heads : int

    Returns
    -------
    Tensor
        ``[B, H, P + S, D]``.
    """
    own, shape = shape_of(new), shape_of(past)
    rows = split_shape(own, heads)[2]

    def at(b: Any, h: Any, n: Any, d: Any) -> Any:
        added = new(*place(own, heads, b, h, n - shape[2], d))
        return te.if_then_else(n < shape[2], past(b, h, n, d), added)

    return te.compute((*shape[:2], plain(shape[2] + rows), shape[3]), at, name="appended")


def key_columns(key: Tensor, heads: int) -> Tensor:
    """Return keys, in either layout, as columns: ``[B, H, D, N]``."""
    own = shape_of(key)
    batch, count, rows, depth = split_shape(own, heads)
    return te.compute(
        (batch, count, depth, rows),
        lambda b, h, d, n: key(*place(own, heads, b, h, n, d)),
        name="key_columns",
    )


def scores(query: Tensor, key: Tensor, heads: Heads) -> Tensor:
    """Multiply queries by keys.

    Parameters
    ----------
    query : Tensor
        ``[B, H, M, D]`` or ``[B, M, H * D]``.
    key : Tensor
        ``[B, H of keys, D, N]``: the keys are columns.
    heads : Heads

    Returns
    -------
    Tensor
        ``[B, H, M, N]``, in the type in which elements of `query` are summed.
    """
    own, dtype = shape_of(query), sum_dtype(query.dtype)
    batch, count, rows, depth = split_shape(own, heads.query)
    k = te.reduce_axis((0, agreed([depth, shape_of(key)[2]])), name="k")

    def product(b: Any, h: Any, m: Any, n: Any) -> Any:
        left = query(*place(own, heads.query, b, h, m, k.var)).astype(dtype)
        return te.sum(left * key(b, heads.of_key(h), k.var, n).astype(dtype), axis=k)

    shape = (batch, count, rows, shape_of(key)[3])
    return te.compute(shape, product, name="scores", **Contraction(rows=2).marks())


def weighted_values(
    weights: Tensor, value: Tensor, heads: Heads, dtype: str, is_merged: bool = False
) -> Tensor:
    """Sum values by weights.

    Parameters
    ----------
    weights : Tensor
        ``[B, H, M, N]``.
    value : Tensor
        ``[B, H of keys, N, E]`` or ``[B, N, H of keys * E]``.
    heads : Heads
    dtype : str
        The type of the result. Sums have the wider of the types of weights and values.
    is_merged : bool
        Whether the heads of the result are in its last axis.

    Returns
    -------
    Tensor
        ``[B, H, M, E]`` or ``[B, M, H * E]``.
    """
    own = shape_of(value)
    wide = "float64" if "float64" in (weights.dtype, value.dtype) else "float32"
    _, _, keys, width = split_shape(own, heads.key)
    batch, count, rows, shared = shape_of(weights)
    k = te.reduce_axis((0, agreed([keys, shared])), name="k")

    def product(b: Any, h: Any, m: Any, e: Any) -> Any:
        right = value(*place(own, heads.key, b, heads.of_key(h), k.var, e)).astype(wide)
        return te.sum(weights(b, h, m, k.var).astype(wide) * right, axis=k)

    shape = (batch, count, rows, width)
    sums = te.compute(shape, product, name="sums", **Contraction(rows=2).marks())
    made = rounded(sums, dtype)
    return merged_heads(made) if is_merged else made


def merged_heads(x: Tensor) -> Tensor:
    """Return ``[B, H, S, D]`` as ``[B, S, H * D]``."""
    batch, heads, rows, size = shape_of(x)
    return te.compute(
        (batch, rows, plain(heads * size)),
        lambda b, s, c: x(b, c // size, s, c % size),
        name="merged_heads",
    )


__all__ = [
    "Heads",
    "appended",
    "key_columns",
    "merged_heads",
    "place",
    "scores",
    "split_heads",
    "split_shape",
    "weighted_values",
]
