"""Schedules that fit any computation."""

from __future__ import annotations

from .default import schedule_default

__all__ = ["schedule_default"]
