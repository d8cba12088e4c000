"""Times: of functions beside what their devices can do, of anything in turns, in processes."""

from __future__ import annotations

from .benchmark import Benchmark, benchmark
from .device_rates import Rates
from .measurement import ErrorClass, Measurement

__all__ = ["Benchmark", "ErrorClass", "Measurement", "Rates", "benchmark"]
