"""The default cost model, for kernels without a measured or declared cost."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from numbers import Real
from sys import float_info

from ..errors import refuse


@dataclass(frozen=True)
class CostModel:
    """The estimated cost of a kernel: the times of its start, its bytes and its operations.

    Attributes
    ----------
    start_ns : float
        Nanoseconds before a kernel does anything.
    bytes_per_ns : float
        Bytes of arguments that a kernel moves per nanosecond; each argument counts once.
    operations_per_ns : float
        Operations that a kernel computes per nanosecond.
    """

    start_ns: float = 2000.0
    bytes_per_ns: float = 100.0
    operations_per_ns: float = 1000.0

    def __post_init__(self) -> None:
        """Refuse rates that are not positive, and times that are negative."""
        for name, value in vars(self).items():
            least = 0.0 if name == "start_ns" else float_info.min
            if not isinstance(value, Real) or not least <= value < inf:
                refuse(
                    "BadValue",
                    f"the cost model's {name} is {value!r}",
                    "give a positive number; start_ns may be 0",
                )


__all__ = ["CostModel"]
