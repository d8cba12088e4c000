"""Attention: sums of values, weighted by the softmax of products of queries and keys."""

from __future__ import annotations

from .caches import inserted, positions, sequence_starts
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
from .online import Tile, attention
from .rotary import rotary_embedding

__all__ = [
    "Heads",
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
