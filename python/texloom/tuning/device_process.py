"""The process that measures on a device. It is killed if a kernel hangs, and started again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from types import TracebackType
from typing import Any
from uuid import UUID

from ..measure.loop import Sampling
from ..ops.schedules.family import knob_values
from ..records import Failure, Place, Subject, Trial
from .kernel_build import Build, Phase
from .program_trial import UserProgram
from .working_time import WorkingTime

LIMITS: Mapping[Phase, float] = {
    Phase.HOST_COMPILE: 60.0,
    Phase.DEVICE_COMPILE: 60.0,
    Phase.FIRST_RUN: 60.0,
    Phase.RUN: 20.0,
}
"""Seconds that a phase of a trial may take, before its process is killed."""
START_SECONDS = 120.0
"""Seconds in which a process must have opened its device, and run the default of an operator."""
_TIMEOUTS = {
    Phase.HOST_COMPILE: Failure.BUILD_TIMEOUT,
    Phase.DEVICE_COMPILE: Failure.BUILD_TIMEOUT,
    Phase.FIRST_RUN: Failure.RUN_TIMEOUT,
    Phase.RUN: Failure.RUN_TIMEOUT,
}
_ENDS = {
    Phase.HOST_COMPILE: Failure.INTERNAL,
    Phase.DEVICE_COMPILE: Failure.DEVICE_COMPILE,
    Phase.FIRST_RUN: Failure.DEVICE_COMPILE,
    Phase.RUN: Failure.DEVICE_LOST,
}
"""What it means that the process ended in a phase."""


@dataclass(frozen=True)
class Request:
    """A trial to be made.

    Attributes
    ----------
    subject : Subject
        Of a kernel.
    knobs : Any
        A point of its space.
    sampling : Sampling
    parent : UUID or None
    program : UserProgram or None
        The point of a kernel that a user schedules; others are made from the text of the subject.
    build : Build or None
        The point, if it was built, or if that is known to fail.
    hopeless_seconds : float
        One sample is enough if it takes longer than this.
    """

    subject: Subject
    knobs: Any
    sampling: Sampling
    parent: UUID | None = None
    program: UserProgram | None = None
    build: Build | None = None
    hopeless_seconds: float = inf


@dataclass(frozen=True)
class BuildRequest:
    """A point to be built.

    Attributes
    ----------
    trial : Request
        The trial that will need it.
    package : Path
        The file to write.
    """

    trial: Request
    package: Path


@dataclass(frozen=True)
class _End:
    """The process did not answer: why, and the seconds of the phases that it told of."""

    failure: Failure
    message: str
    phases: Mapping[str, float]


class DeviceProcess:
    """Measures trials on a device, or builds kernels for it, in a process of its own, in turn.

    The process is started by the first request, and again after one that ended it.

    Parameters
    ----------
    device : str
        Such as ``"opencl:0"``.
    place : Place
        Of trials that the process does not survive.
    limits : mapping of Phase to float, optional
    start_seconds : float, optional
    working : WorkingTime, optional
        Is told when phases were.

    Attributes
    ----------
    place : Place
    limits : mapping of Phase to float
        Of the next trials.
    starts : int
        How often the process was started.
    """

    def __init__(
        self,
        device: str,
        place: Place,
        limits: Mapping[Phase, float] = LIMITS,
        start_seconds: float = START_SECONDS,
        working: WorkingTime | None = None,
    ) -> None:
        self._working = WorkingTime() if working is None else working
        self._device, self.place = device, place
        self.limits, self._start_seconds = limits, start_seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None
        self.starts = 0

    def __enter__(self) -> DeviceProcess:
        """Return itself; the process is killed in the end."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Kill the process."""
        del kind, error, trace
        self.kill()

    def trial(self, request: Request) -> Trial:
        """Return the trial; one that failed if the process ended, or took too long.

        A point whose build has failed is not given to the process. An exception of the process,
        which a bug of Texloom raised, is raised here.
        """
        build = request.build
        if build is not None and build.failure is not None:
            return failed_trial(
                request, self.place, build.failure, build.message, build.phases, build.kernels
            )
        answer = self._answer(request)
        if isinstance(answer, _End):
            known = {} if build is None else build.phases
            return failed_trial(
                request, self.place, answer.failure, answer.message, {**known, **answer.phases}
            )
        assert isinstance(answer, Trial)
        return answer

    def build(self, request: BuildRequest) -> Build:
        """Return the built point; one that failed if the process ended, or took too long."""
        answer = self._answer(request)
        if isinstance(answer, _End):
            return Build(
                request.package,
                phases=answer.phases,
                failure=answer.failure,
                message=answer.message,
            )
        assert isinstance(answer, Build)
        return answer

    def _answer(self, request: Request | BuildRequest) -> Trial | Build | _End:
        phases: dict[str, float] = {}
        begin, phase, limit = time.monotonic(), None, self._start_seconds

        def ended() -> None:
            if phase is not None:
                now = time.monotonic()
                self._working.add(begin, now)
                phases[phase.value] = phases.get(phase.value, 0.0) + now - begin

        try:
            connection = self._connected()
            connection.send(request)
            while True:
                if not connection.poll(limit):
                    ended()
                    self.kill()
                    own = phase or Phase.HOST_COMPILE
                    message = f"{own.value} took more than {limit:.0f} s: the process was killed"
                    return _End(_TIMEOUTS[own], message, phases)
                answer = connection.recv()
                if not isinstance(answer, Phase):
                    ended()
                    break
                ended()
                phase, begin, limit = answer, time.monotonic(), self.limits[answer]
        except (EOFError, ConnectionError):
            own = phase or Phase.HOST_COMPILE
            return _End(_ENDS[own], f"{own.value}: {self._end_of_process()}", phases)
        except BaseException:  # Ctrl-C: the answer would be taken for that of another request
            self.kill()
            raise
        if isinstance(answer, Exception):
            raise answer
        made: Trial | Build = answer
        return made

    def interrupt(self) -> None:
        """End the process, if there is one, while another thread waits for its answer."""
        process = self._process
        if process is not None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)

    def kill(self) -> None:
        """End the process at once, with compilers that it started."""
        if self._process is not None:
            self.interrupt()
            self._process.wait()
        if self._connection is not None:
            self._connection.close()
        self._process = self._connection = None

    def _connected(self) -> Connection:
        if self._connection is not None:
            return self._connection
        own, other = Pipe()
        command = [sys.executable, "-m", "texloom.tuning.device_child"]
        with other:
            self._process = subprocess.Popen(
                [*command, str(other.fileno()), self._device],
                pass_fds=[other.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                start_new_session=True,  # Ctrl-C is for the tuner alone
            )
        self._connection = own
        self.starts += 1
        return own

    def _end_of_process(self) -> str:
        process = self._process
        code = None if process is None else process.wait()
        self.kill()
        if code is not None and code < 0:
            return f"the process was ended by {signal.Signals(-code).name}"
        return f"the process ended with status {code}"


def failed_trial(
    request: Request,
    place: Place,
    failure: Failure,
    message: str,
    phases: Mapping[str, float],
    kernels: tuple[str, ...] = (),
) -> Trial:
    """Return a failed trial, which no process has answered."""
    return Trial(
        request.subject,
        place,
        knob_values(request.knobs),
        kernels=kernels,
        failure=failure,
        message=message,
        phases=dict(phases),
        parent=request.parent,
    )


__all__ = ["LIMITS", "START_SECONDS", "BuildRequest", "DeviceProcess", "Request", "failed_trial"]
