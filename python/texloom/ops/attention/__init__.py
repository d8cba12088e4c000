"""Attention: sums of values, weighted by the softmax of products of queries and keys."""

from __future__ import annotations

from .block_kernel import BlockTile
from .caches import inserted, positions, sequence_starts
from .fragment_kernel import FragmentBlock
from .heads import (
    Heads,
    appended,
    key_columns,
    merged_heads,
    scores,
    split_heads,
    split_shape,
    weighted_values,
)
from .masks import Visible, score_bias
from .online import attention
from .operands import Queries, Sizes
from .rotary import rotary_embedding
from .slice_kernel import KeySlices
from .thread_kernel import Tile

__all__ = [
    "BlockTile",
    "FragmentBlock",
    "Heads",
    "KeySlices",
    "Queries",
    "Sizes",
    "Tile",
    "Visible",
    "appended",
    "attention",
    "inserted",
    "key_columns",
    "merged_heads",
    "positions",
    "rotary_embedding",
    "score_bias",
    "scores",
    "sequence_starts",
    "split_heads",
    "split_shape",
    "weighted_values",
]
