"""Operators whose number of results depends on data.

Their outputs have the greatest possible length. An additional int64 scalar counts the elements that
are results; the elements after them are 0.
"""

from __future__ import annotations

from .choosing import compress, nonzero
from .rows import joined_rows, masked_rows, places_from_begin
from .suppression import non_max_suppression
from .unique import unique

__all__ = [
    "compress",
    "joined_rows",
    "masked_rows",
    "non_max_suppression",
    "nonzero",
    "places_from_begin",
    "unique",
]
