"""Reductions, cumulative sums, the largest elements, and where they are."""

from __future__ import annotations
