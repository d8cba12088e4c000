"""Pooling: means, maxima and norms over windows."""

from __future__ import annotations

from .average import average_pool
from .maximum import max_pool, max_pool_with_indices, max_unpool
from .power import lp_pool

__all__ = ["average_pool", "lp_pool", "max_pool", "max_pool_with_indices", "max_unpool"]
