"""Builders and runners of AutoTVM."""

from .measure import (
    Builder,
    MeasureErrorNo,
    MeasureInput,
    MeasureResult,
    Runner,
)
from .measure_methods import LocalBuilder, LocalRunner
from .options import create_measure_batch, measure_option

__all__ = [
    "Builder",
    "LocalBuilder",
    "LocalRunner",
    "MeasureErrorNo",
    "MeasureInput",
    "MeasureResult",
    "Runner",
    "create_measure_batch",
    "measure_option",
]
