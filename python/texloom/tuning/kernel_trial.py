"""One trial of a kernel, in this process: built, checked, timed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from .._core import Function
from ..measure.loop import Arm, Sampling, measure
from ..ops.schedules.family import Kernel, knob_values
from ..records import Failure, Place, Subject, Trial, Verification, measured_device
from .kernel_build import Build, Measurable, Phase, Phases, built
from .operator import Operator

TOLERANCE = 1e-4
"""The largest difference of an output to that of the default, relative to its largest element."""
SHORT = Sampling(rounds=7, sample_seconds=0.01)
"""How a trial is timed by default."""


@dataclass(frozen=True)
class Expected:
    """A kernel of an operator, and the outputs that it must have: those of its default.

    Attributes
    ----------
    operator : Operator
    kernel : Kernel
        With several points.
    """

    operator: Operator
    kernel: Kernel

    refusal = Failure.HOST_COMPILE  # families have no knobs that Texloom does not compile

    @property
    def subject(self) -> Subject:
        """What trials of the kernel measure."""
        return self.operator.subject(self.kernel)

    @property
    def device(self) -> Any:
        """The device of the operator."""
        return self.operator.device

    @cached_property
    def place(self) -> int:
        """The place of the alternative with the kernel."""
        return self.operator.place_of(self.kernel)

    def built(self, knobs: Any) -> Function:
        """Return the compiled function of a point; the device's compiler has not run yet."""
        return self.operator.built(self.operator.programs(self.kernel, knobs)[self.place])

    def first_run(self, function: Function) -> tuple[Arm, list[NDArray[Any]]]:
        """Run a function of :meth:`built`; return how to time it, and its outputs."""
        return self.operator.first_run(function)

    def arm(self, knobs: Any) -> Arm:
        """Return how to time a point, after a first run."""
        return self.first_run(self.built(knobs))[0]

    @cached_property
    def outputs(self) -> list[NDArray[Any]]:
        """The outputs of the default."""
        default = self.kernel[0].default(self.operator.kernels[self.kernel])
        return self.operator.first_run(self.built(default))[1]


def _largest_difference(outputs: Sequence[NDArray[Any]], expected: Sequence[NDArray[Any]]) -> float:
    """Return the largest difference of an output, relative to the largest element.

    NaNs at the same places are equal; one that is not expected is infinitely different.
    """
    pairs = zip(outputs, expected, strict=True)
    return max((_difference(one, other) for one, other in pairs), default=0.0)


def _difference(one: NDArray[Any], other: NDArray[Any]) -> float:
    one, other = one.astype("float64"), other.astype("float64")
    same = (one == other) | (np.isnan(one) & np.isnan(other))
    if same.all():
        return 0.0
    largest = max(1e-30, float(np.abs(other[np.isfinite(other)]).max(initial=0)))
    with np.errstate(invalid="ignore"):
        distances = np.abs(one - other)[~same]
    return float(np.where(np.isfinite(distances), distances, np.inf).max()) / largest


def measured_trial(
    expected: Measurable,
    knobs: Any,
    sampling: Sampling = SHORT,
    parent: UUID | None = None,
    see: Callable[[Phase], object] | None = None,
    build: Build | None = None,
    hopeless_seconds: float = inf,
) -> Trial:
    """Measure a point of a kernel's space; a failure is part of the trial.

    A kernel that hangs or ends the process needs a process of its own.

    Parameters
    ----------
    expected : Measurable
        The kernel, and the outputs with which those of the point are compared.
    knobs : Any
        The point.
    sampling : Sampling
    parent : UUID, optional
        The trial from which this one is made.
    see : callable, optional
        Is told which phase begins.
    build : Build, optional
        The point, built in another process; by default, it is built here.
    hopeless_seconds : float
        One sample is enough if it takes longer than this.
    """
    if build is None:
        with TemporaryDirectory() as folder:
            build = built(expected, knobs, Path(folder, "kernel.tlp"), see)
            return measured_trial(expected, knobs, sampling, parent, see, build, hopeless_seconds)
    phases = Phases(see, dict(build.phases), build.failure, build.message)
    facts: dict[str, Any] = {"kernels": build.kernels}
    arm: Arm | None = None
    if phases.failure is None:
        with phases.of(Phase.FIRST_RUN, Failure.LAUNCH):
            arm, outputs = expected.first_run(build.function(expected.device))
            if expected.outputs is not None:
                facts |= _verified(_largest_difference(outputs, expected.outputs), phases)
    if phases.failure is None and arm is not None:
        with phases.of(Phase.RUN, Failure.LAUNCH):
            (measured,) = measure([arm], sampling, hopeless_seconds)
            facts |= {"times": measured.results, "runs": measured.runs}
    return Trial(
        expected.subject,
        Place.here(measured_device(expected.device)),
        knob_values(knobs),
        failure=phases.failure,
        message=phases.message,
        phases=phases.seconds,
        parent=parent,
        **facts,
    )


def _verified(difference: float, phases: Phases) -> dict[str, Any]:
    known = difference if np.isfinite(difference) else None
    if difference <= TOLERANCE:
        return {"verification": Verification.PASSED, "difference": known}
    phases.failure = Failure.WRONG_RESULT
    phases.message = f"an output differs by {difference:g} of its largest element"
    return {"verification": Verification.FAILED, "difference": known}


__all__ = ["SHORT", "TOLERANCE", "Expected", "measured_trial"]
