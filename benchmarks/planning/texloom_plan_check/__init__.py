"""Checks plans of memory, and the proofs of their lower bounds.

The checker shares no code with the planner and imports nothing but Python's library, so it runs
without Texloom: ``python -m texloom_plan_check NET.json PLAN.json``. ``docs/planning.md`` describes
both files.
"""

from __future__ import annotations

from .check import Verdict, check
from .network import CheckError

__all__ = ["CheckError", "Verdict", "check"]
