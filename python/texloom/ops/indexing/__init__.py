"""Operators that read or write elements by index: gathers, scatters."""

from __future__ import annotations

from .choosing import one_hot, reverse_sequence
from .gathering import gather, gather_elements, gather_nd, gather_series
from .ranges import write_range
from .scatter_elements import combine_elements, last_update, replace_elements, scatter_elements
from .scatter_nd import combine_nd, last_update_nd, replace_parts, scatter_nd

__all__ = [
    "combine_elements",
    "combine_nd",
    "gather",
    "gather_elements",
    "gather_nd",
    "gather_series",
    "last_update",
    "last_update_nd",
    "one_hot",
    "replace_elements",
    "replace_parts",
    "reverse_sequence",
    "scatter_elements",
    "scatter_nd",
    "write_range",
]
