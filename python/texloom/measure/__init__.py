"""Measurements: functions against the rates of devices, alternating arms, separate processes."""

from __future__ import annotations

from .benchmark import Benchmark, benchmark
from .device_rates import Rates
from .measurement import ErrorClass, Measurement

__all__ = ["Benchmark", "ErrorClass", "Measurement", "Rates", "benchmark"]
