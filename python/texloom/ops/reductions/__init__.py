"""Reductions, cumulative sums, and the positions of the largest elements."""

from __future__ import annotations

from .cumulative import cumprod, cumsum
from .places import argmax, argmin
from .reduce import (
    reduce_l1,
    reduce_l2,
    reduce_log_sum,
    reduce_log_sum_exp,
    reduce_max,
    reduce_mean,
    reduce_min,
    reduce_prod,
    reduce_sum,
    reduce_sum_square,
)

__all__ = [
    "argmax",
    "argmin",
    "cumprod",
    "cumsum",
    "reduce_l1",
    "reduce_l2",
    "reduce_log_sum",
    "reduce_log_sum_exp",
    "reduce_max",
    "reduce_mean",
    "reduce_min",
    "reduce_prod",
    "reduce_sum",
    "reduce_sum_square",
]
