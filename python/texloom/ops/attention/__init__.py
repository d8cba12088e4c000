"""Attention: sums of values, weighted by the softmax of products of queries and keys."""

from __future__ import annotations

from .online import attention

__all__ = ["attention"]
