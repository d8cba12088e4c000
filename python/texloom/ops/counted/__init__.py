"""Operators of which data decides how many elements they give.

Their outputs are as long as they can become, and an int64 scalar beside them counts the elements
that are results. Those after them are 0.
"""

from __future__ import annotations

from .choosing import compress, nonzero
from .suppression import Boxes, non_max_suppression
from .unique import unique

__all__ = ["Boxes", "compress", "non_max_suppression", "nonzero", "unique"]
