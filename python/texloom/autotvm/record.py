"""Logs of AutoTVM, version 0.2, and their best configurations."""

from .history import ApplyHistoryBest
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
    "decode",
    "encode",
    "load_from_buffer",
    "load_from_file",
    "measure_str_key",
    "pick_best",
]
