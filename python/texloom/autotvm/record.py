"""Logs of AutoTVM, version 0.2, and their best configurations."""

from .history import ApplyHistoryBest
from .measure import MeasureInput, MeasureResult
from .measure.log import (
    decode,
    encode,
    load_from_buffer,
    load_from_file,
    measure_str_key,
    pick_best,
)

__all__ = [
    "ApplyHistoryBest",
    "MeasureInput",
    "MeasureResult",
    "decode",
    "encode",
    "load_from_buffer",
    "load_from_file",
    "measure_str_key",
    "pick_best",
]
