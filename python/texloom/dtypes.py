"""How element types are spelled, and their sizes."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

# "float32", np.float32 or np.dtype("float32"); _core.dtype_name gives the name.
DType: TypeAlias = str | np.dtype | type


def bytes_of(dtype: str) -> int:
    """Return the bytes of an element."""
    bits = dtype.lstrip("abcdefghijklmnopqrstuvwxyz")
    return max(1, int(bits or 8) // 8)


__all__ = ["DType", "bytes_of"]
