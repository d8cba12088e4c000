"""Families of schedules: their knobs as data, their estimates, and the choice of knobs.

A *family* schedules one form of kernel, such as products by tiles in shared memory. Its *knobs* are
a frozen dataclass: extents of tiles, the width of vectors, slices of a sum. For a task, it has a
finite *space* of knobs that are legal on the target, and for each point of it an *estimate* in
seconds, if measurements showed how to make one. The *default* is the point with the least
estimate. A tuner measures other points: it chooses knobs in place of :func:`default_knobs`.
"""

from .choice import Choice, Kernel
from .family import Choose, Family, default_knobs
from .knob_values import knob_values, point_with
from .space import MOST_POINTS, Space, Spaces, first_of_least
from .task import KernelTask, Scheduled

__all__ = [
    "MOST_POINTS",
    "Choice",
    "Choose",
    "Family",
    "Kernel",
    "KernelTask",
    "Scheduled",
    "Space",
    "Spaces",
    "default_knobs",
    "first_of_least",
    "knob_values",
    "point_with",
]
