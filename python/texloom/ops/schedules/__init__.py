"""Schedules that fit any computation: families of schedules, and the default."""

from __future__ import annotations

from .default import schedule_default
from .family import Choice, Family, KernelTask, Scheduled, Space

__all__ = [
    "Choice",
    "Family",
    "KernelTask",
    "Scheduled",
    "Space",
    "schedule_default",
]
