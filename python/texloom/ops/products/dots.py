"""Which sums of products of small integers are instructions of a target."""

from __future__ import annotations

from typing import NamedTuple

from ... import _core
from ..._core import TargetValue


class DotProducts(NamedTuple):
    """The dot products of a target for processors.

    Attributes
    ----------
    of_bytes : bool
        Whether an instruction adds up four products of 8-bit integers.
    of_pairs : bool
        Whether an instruction adds up two products of 16-bit integers.
    """

    of_bytes: bool
    of_pairs: bool

    @classmethod
    def of(cls, target: TargetValue) -> DotProducts | None:
        """Return the dot products of a target; None if it has no native code."""
        return cls(*_core.vector_unit(target)[2:]) if target.kind == "llvm" else None


__all__ = ["DotProducts"]
