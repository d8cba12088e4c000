"""Sorting: the order of elements, and the first elements in order."""

from __future__ import annotations

from .order import by_value, sorted_order
from .top_k import top_k

__all__ = ["by_value", "sorted_order", "top_k"]
