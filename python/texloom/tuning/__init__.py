"""Trials of kernels: an operator alone, with the knobs of one kernel, checked and timed."""

from __future__ import annotations

from ..graph.tuned_knobs import subject_of
from .kernel_trial import Expected, measured_trial
from .operator import Operator
from .verification import Verified, verified

__all__ = ["Expected", "Operator", "Verified", "measured_trial", "subject_of", "verified"]
