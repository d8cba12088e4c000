"""Attention in one kernel, without a matrix of scores in memory.

A block of threads computes some rows of the result. It goes through the keys in blocks: it computes
the scores of a block of keys, their exponentials relative to the greatest score so far, and their
terms of the sums. If a block of keys has a greater score, the previous sums are scaled down
("online softmax", Milakov and Gimelshein, 2018).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import te, tir
from ..._core import Tensor
from ..moves import Moved
from .block_kernel import BlockTile
from .fragment_kernel import FragmentBlock
from .heads import Heads
from .operands import Operands, Sizes, Task
from .slice_kernel import KeySlices
from .thread_kernel import Tile


def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *masks: Tensor,
    scale: float = 1.0,
    factor: float = 1.0,
    heads: Heads | None = None,
    is_merged: bool = False,
    is_masked: bool = False,
    hides_nan: bool = False,
    axes: Sequence[int] | None = None,
    tile: Tile | BlockTile | FragmentBlock | KeySlices | None = None,
) -> Tensor:
    """Return ``softmax(scale * (factor * query) @ key + masks) @ value``.

    Inputs that only move elements of other tensors are not stored: the kernel reads the elements
    where they are.

    Parameters
    ----------
    query : Tensor
        ``[..., M, D]`` of float32, float16 or float64.
    key : Tensor
        ``[..., D, N]``: the keys are columns.
    value : Tensor
        ``[..., N, E]``. The leading axes of `query`, `key` and `value` are broadcast.
    *masks : Tensor
        Broadcast to ``[..., M, N]``, and added in this order. Minus infinity hides a key; a row
        without keys is NaN.
    scale : float
        The factor of the scores.
    factor : float
        The factor of the queries, before they are multiplied by keys.
    heads : Heads, optional
        `query`, `key`, `value` and the result are then as for :func:`.scores` and
        :func:`.weighted_values`.
    is_merged : bool
        Whether the heads of the result are in its last axis.
    is_masked : bool
        Whether a row without keys is 0.
    hides_nan : bool
        Whether a row whose softmax is NaN is 0, as one without keys.
    axes : sequence of int, optional
        The axes of ``[..., M, E]`` that the axes of the result are; by default the same.
    tile : Tile, BlockTile, FragmentBlock or KeySlices
        By default, the kernel suits processors. A FragmentBlock multiplies queries,
        keys and values as float16, to which it rounds other types. KeySlices suit few queries.

    Returns
    -------
    Tensor
        ``[..., M, E]`` of the dtype of `query`. Elements of 16 bits are computed in float32, and
        rounded once.
    """
    sizes = Sizes.of(query, key, value, heads)
    shape = (*sizes.batch, sizes.rows, sizes.width)
    if heads is not None and is_merged:
        shape = (sizes.batch[0], sizes.rows, heads.query * sizes.width)
    order = list(axes) if axes is not None else list(range(len(shape)))
    given = [query, key, value, *masks]
    moved = [Moved.of(each) for each in given]
    task, own = Task(sizes, scale, is_masked, hides_nan), tile or Tile()

    def body(ins: Sequence[Any], outs: Sequence[Any]) -> Any:
        ib = tir.ir_builder.create()
        elements = {each: ib.buffer_ptr(buffer) for each, buffer in zip(sources, ins, strict=True)}
        inputs = [elements[each.source.op] for each in moved]
        own.body(
            ib, Operands(inputs, ib.buffer_ptr(outs[0]), moved, shape, order, heads, factor), task
        )
        return ib.get()

    sources = {each.source.op: each.source for each in moved}
    written = [shape[axis] for axis in order]
    return te.extern(written, list(sources.values()), body, name="attention", dtype=query.dtype)


__all__ = ["BlockTile", "FragmentBlock", "KeySlices", "Tile", "attention"]
