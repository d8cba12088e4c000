"""The drawers of all operators."""

from . import elementwise, language, sums
from .drawing import DRAWERS, Draw, operators_with_bodies, versions_with_bodies
from .outcomes import outcome_of

__all__ = [
    "DRAWERS",
    "Draw",
    "elementwise",
    "language",
    "operators_with_bodies",
    "outcome_of",
    "sums",
    "versions_with_bodies",
]
