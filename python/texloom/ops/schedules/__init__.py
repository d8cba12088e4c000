"""Schedules that fit any computation: families of schedules, and the default."""

from __future__ import annotations

from .default import schedule_default
from .families import FAMILIES, KernelKind, family_for
from .family import Choice, Family, KernelTask, Scheduled, Space

__all__ = [
    "FAMILIES",
    "Choice",
    "Family",
    "KernelKind",
    "KernelTask",
    "Scheduled",
    "Space",
    "family_for",
    "schedule_default",
]
