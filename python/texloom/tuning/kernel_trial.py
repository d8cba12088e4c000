"""One trial of a kernel, in this process: built, checked, timed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Any, Protocol
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from .._core import Function
from ..errors import TVMError
from ..measure.loop import Arm, Sampling, measure
from ..ops.schedules.family import Kernel, knob_values
from ..records import Failure, Place, Subject, Trial, Verification, kernel_digest, measured_device
from .operator import Operator

TOLERANCE = 1e-4
"""The largest difference of an output to that of the default, relative to its largest element."""
SHORT = Sampling(rounds=7, sample_seconds=0.01)
"""How a trial is timed by default."""

_FAILURES = {"TL5009": Failure.OUT_OF_MEMORY, "TL5010": Failure.DEVICE_COMPILE}
"""The classes of errors with these codes; others are those of the phase."""


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

    def difference(self, outputs: Sequence[NDArray[Any]]) -> float:
        """Return the result of :func:`difference_of`."""
        return difference_of(outputs, self.outputs)


class Measurable(Protocol):
    """What a trial measures: an operator's kernel, or a program that a user schedules.

    Attributes
    ----------
    refusal : Failure
        The class of errors of :meth:`built`.
    """

    refusal: Failure

    @property
    def subject(self) -> Subject:
        """What the trial measures."""

    @property
    def device(self) -> Any:
        """The device."""

    def built(self, knobs: Any) -> Function:
        """Return the compiled function of a point."""

    def first_run(self, function: Function) -> tuple[Arm, list[NDArray[Any]]]:
        """Run the function; return how to time it, and its outputs."""

    def difference(self, outputs: Sequence[NDArray[Any]]) -> float | None:
        """Return the difference to what is expected; None if nothing is."""


def difference_of(outputs: Sequence[NDArray[Any]], expected: Sequence[NDArray[Any]]) -> float:
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


class Phase(Enum):
    """A part of a trial."""

    HOST_COMPILE = "host compile"
    FIRST_RUN = "first run"
    """With the device's compiler."""
    RUN = "run"


@dataclass
class _Phases:
    """The seconds of each phase so far, and what failed. `see` is told which phase begins."""

    see: Callable[[Phase], object] | None
    seconds: dict[str, float] = field(default_factory=dict)
    failure: Failure | None = None
    message: str = ""

    @contextmanager
    def of(self, phase: Phase, failure: Failure) -> Iterator[None]:
        """Time the body; an error of Texloom ends it, and fails the trial."""
        if self.see is not None:
            self.see(phase)
        begin = time.monotonic()
        try:
            yield
        except TVMError as error:
            self.failure = _FAILURES.get(error.code or "", failure)
            self.message = str(error).splitlines()[0]
        except MemoryError:
            self.failure, self.message = Failure.OUT_OF_MEMORY, "out of memory on the host"
        finally:
            self.seconds[phase.value] = time.monotonic() - begin


def measured_trial(
    expected: Measurable,
    knobs: Any,
    sampling: Sampling = SHORT,
    parent: UUID | None = None,
    see: Callable[[Phase], object] | None = None,
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
    """
    phases = _Phases(see)
    facts: dict[str, Any] = {}
    arm: Arm | None = None
    with phases.of(Phase.HOST_COMPILE, expected.refusal):
        function = expected.built(knobs)
        facts["kernels"] = tuple(kernel_digest(each.source) for each in function.kernels)
    if phases.failure is None:
        with phases.of(Phase.FIRST_RUN, Failure.LAUNCH):
            arm, outputs = expected.first_run(function)
            facts |= _verified(expected.difference(outputs), phases)
    if phases.failure is None and arm is not None:
        with phases.of(Phase.RUN, Failure.LAUNCH):
            (measured,) = measure([arm], sampling)
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


def _verified(difference: float | None, phases: _Phases) -> dict[str, Any]:
    if difference is None:
        return {}
    known = difference if np.isfinite(difference) else None
    if difference <= TOLERANCE:
        return {"verification": Verification.PASSED, "difference": known}
    phases.failure = Failure.WRONG_RESULT
    phases.message = f"an output differs by {difference:g} of its largest element"
    return {"verification": Verification.FAILED, "difference": known}


__all__ = [
    "SHORT",
    "TOLERANCE",
    "Expected",
    "Measurable",
    "Phase",
    "difference_of",
    "measured_trial",
]
