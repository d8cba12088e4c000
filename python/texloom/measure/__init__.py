"""Times of functions beside what their devices can do."""

from __future__ import annotations

from .benchmark import Benchmark, benchmark
from .device_rates import Rates

__all__ = ["Benchmark", "Rates", "benchmark"]
