"""Reductions, cumulative sums, the largest elements, and where they are."""
