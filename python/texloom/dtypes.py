"""How element types are spelled."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

# "float32", np.float32 or np.dtype("float32"); _core.dtype_name gives the name.
DType: TypeAlias = str | np.dtype | type

__all__ = ["DType"]
