"""The classes of schedules, where TVM has them."""

from __future__ import annotations

from .._core import IterVar, Schedule, Stage
from .operation import create_schedule

__all__ = ["IterVar", "Schedule", "Stage", "create_schedule"]
