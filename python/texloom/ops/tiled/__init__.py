"""Products of matrices that are packed in tiles, as micro-kernels take them (docs/microkernels.md).

:func:`texloom.target.mmt4d_tile` says which tiles suit a target.
"""

from __future__ import annotations

from .computations import mmt4d, pack, unpack
from .intrinsic import mmt4d_intrinsic
from .schedule import schedule_mmt4d

__all__ = ["mmt4d", "mmt4d_intrinsic", "pack", "schedule_mmt4d", "unpack"]
