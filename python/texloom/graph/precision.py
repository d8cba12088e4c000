"""How float32 tensors between operators are stored; the pass ``store_halves`` selects them."""

from __future__ import annotations

from typing import Literal

from ..checks.argument_kinds import shown
from ..errors import refuse

Precision = Literal["fp32", "fp16"]
"""How float32 tensors between operators are stored."""


def check_precision(precision: str) -> None:
    """Refuse an unknown precision.

    Raises
    ------
    TVMError
        TL2044.
    """
    if precision not in ("fp32", "fp16"):
        refuse(
            "BadValue",
            f"precision={shown(precision)} is not supported",
            "use 'fp32', or 'fp16' to store tensors as float16",
        )


__all__ = ["Precision", "check_precision"]
