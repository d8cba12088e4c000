"""Measures the best trials of records again, and compares the times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import TVMError
from ..measure.loop import Sampling
from ..ops.schedules.family import Kernel, point_with
from ..records import Trial
from ..records.foreign import is_foreign
from .kernel_trial import SHORT, Expected, measured_trial
from .operator import Operator


@dataclass(frozen=True)
class Verified:
    """A trial, and another one of the same knobs.

    Attributes
    ----------
    trial : Trial
        The earlier trial.
    again : Trial or None
        The trial now; None if the subject or the knobs are not those of this version of Texloom.
    reason : str
        Why there is no other trial.
    """

    trial: Trial
    again: Trial | None = None
    reason: str = ""

    @property
    def ratio(self) -> float | None:
        """How many times as long it takes now; None if there is no time now."""
        now = None if self.again is None else self.again.seconds
        return None if now is None or self.trial.seconds is None else now / self.trial.seconds

    @property
    def has_same_kernels(self) -> bool:
        """Whether the sources of the kernels are what they were."""
        return self.again is not None and self.again.kernels == self.trial.kernels


def verified(trial: Trial, device: Any, sampling: Sampling = SHORT) -> Verified:
    """Measure a successful trial of a kernel again, on a device of this machine."""
    if is_foreign(trial.subject.family):
        return Verified(trial, reason="its schedule is in a script or another program: run that")
    try:
        operator = Operator(trial.subject.text, device)
        kernel = operator.kernel_of(trial.subject)
    except TVMError as error:
        return Verified(trial, reason=str(error).splitlines()[0])
    if kernel is None:
        return Verified(trial, reason="no family has this kernel in this version")
    knobs = knobs_of(operator, kernel, trial)
    if knobs is None:
        return Verified(trial, reason="its knobs are not in the space of this version")
    return Verified(trial, measured_trial(Expected(operator, kernel), knobs, sampling, trial.id))


def knobs_of(operator: Operator, kernel: Kernel, trial: Trial) -> Any:
    """Return the point of the kernel's space with the trial's knobs; None if there is none."""
    return point_with(kernel[0].space(operator.kernels[kernel]), trial.knobs)


__all__ = ["Verified", "knobs_of", "verified"]
