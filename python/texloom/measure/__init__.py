"""Times of functions beside what their devices can do."""

from __future__ import annotations

from .benchmark import Benchmark, benchmark

__all__ = ["Benchmark", "benchmark"]
