"""Trials of kernels: an operator alone, with the knobs of one kernel, checked and timed."""

from __future__ import annotations

from .kernel_trial import Expected, measured_trial
from .operator import Operator, subject_of
from .verification import Verified, verified

__all__ = ["Expected", "Operator", "Verified", "measured_trial", "subject_of", "verified"]
