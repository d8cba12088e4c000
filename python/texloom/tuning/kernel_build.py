"""Builds of kernels: what can be done before a trial, in another process than that of the trial."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, Protocol

from numpy.typing import NDArray

from .._core import Function
from ..devices.lookup import devices
from ..errors import TVMError
from ..functions.files import load
from ..measure.loop import Arm
from ..records import Failure, Subject, kernel_digest

_FAILURES = {"TL5009": Failure.OUT_OF_MEMORY, "TL5010": Failure.DEVICE_COMPILE}
"""The classes of errors with these codes; others are those of the phase."""
_COMPILES_LATE = "compiles-at-first-run"
"""The quirk of devices whose compiler works in the first run of a kernel."""


class Phase(Enum):
    """A part of a trial."""

    HOST_COMPILE = "host compile"
    DEVICE_COMPILE = "device compile"
    FIRST_RUN = "first run"
    """Of a kernel; on some devices, their compiler works in it."""
    RUN = "run"


@dataclass
class Phases:
    """The seconds of each phase so far, and what failed. `see` is told which phase begins."""

    see: Callable[[Phase], object] | None
    seconds: dict[str, float] = field(default_factory=dict)
    failure: Failure | None = None
    message: str = ""

    @contextmanager
    def of(self, phase: Phase, failure: Failure) -> Iterator[None]:
        """Time the body; an error of Texloom ends it, and is a failure of the trial."""
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
            seconds = time.monotonic() - begin
            self.seconds[phase.value] = self.seconds.get(phase.value, 0.0) + seconds


@dataclass(frozen=True)
class Build:
    """A kernel that was built: the message from a process that builds to one that measures.

    The code that the device's compiler made of the kernel's source is not in it: drivers find it
    under that source in the folder of compiled kernels, which both processes use.

    Attributes
    ----------
    package : Path or None
        The file with the function, which the receiver owns; missing if the build failed. None if
        it was not begun.
    kernels : tuple of str
        Digests of the sources of the kernels.
    phases : mapping of str to float
        The seconds of each phase.
    failure : Failure or None
    message : str
        What was wrong.
    """

    package: Path | None
    kernels: tuple[str, ...] = ()
    phases: Mapping[str, float] = field(default_factory=dict)
    failure: Failure | None = None
    message: str = ""

    def function(self, device: Any) -> Function:
        """Return the function, for a device; the build must not have failed."""
        assert self.package is not None
        return load(self.package, device, native=True)[0]


class Measurable(Protocol):
    """What is built and measured: an operator's kernel, or a program that a user schedules.

    Attributes
    ----------
    refusal : Failure
        The class of errors of :meth:`built`.
    """

    refusal: Failure

    @property
    def subject(self) -> Subject:
        """What trials measure."""

    @property
    def device(self) -> Any:
        """The device."""

    @property
    def outputs(self) -> Sequence[NDArray[Any]] | None:
        """The outputs that are expected; None if they are not compared."""

    def built(self, knobs: Any) -> Function:
        """Return the compiled function of a point; the device's compiler has not run yet."""

    def first_run(self, function: Function) -> tuple[Arm, list[NDArray[Any]]]:
        """Run the function; return how to time it, and its outputs."""


def built(
    one: Measurable,
    knobs: Any,
    package: Path,
    see: Callable[[Phase], object] | None = None,
) -> Build:
    """Build a point for its device, by the device's compiler, too.

    On a device whose compiler works in the first run of a kernel, the function runs once, so that a
    kernel that hangs needs a process of its own.

    Parameters
    ----------
    one : Measurable
    knobs : Any
        The point.
    package : Path
        The file that is written.
    see : callable, optional
        Is told which phase begins.
    """
    phases = Phases(see)
    kernels: tuple[str, ...] = ()
    function: Function | None = None
    with phases.of(Phase.HOST_COMPILE, one.refusal):
        function = one.built(knobs)
        kernels = tuple(kernel_digest(each.source) for each in function.kernels)
        function.export_library(package)
    if phases.failure is None and function is not None:
        if _compiles_late(one.device):
            with phases.of(Phase.FIRST_RUN, Failure.LAUNCH):
                one.first_run(function)
        else:
            with phases.of(Phase.DEVICE_COMPILE, Failure.DEVICE_COMPILE):
                function._build_on(one.device)
    return Build(package, kernels, phases.seconds, phases.failure, phases.message)


def _compiles_late(device: Any) -> bool:
    return _COMPILES_LATE in devices(device.driver)[device.device_id]["quirks"]


__all__ = ["Build", "Measurable", "Phase", "Phases", "built"]
