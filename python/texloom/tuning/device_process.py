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
from multiprocessing.connection import Connection, Pipe
from types import TracebackType
from typing import Any
from uuid import UUID

from ..measure.loop import Sampling
from ..ops.schedules.family import knob_values
from ..records import Failure, Place, Subject, Trial
from .kernel_trial import Phase
from .program_trial import Candidate

LIMITS: Mapping[Phase, float] = {
    Phase.HOST_COMPILE: 60.0,
    Phase.FIRST_RUN: 60.0,
    Phase.RUN: 20.0,
}
"""Seconds that a phase of a trial may take, before its process is killed."""
START_SECONDS = 120.0
"""Seconds in which a process must have opened its device, and run the default of an operator."""
_TIMEOUTS = {
    Phase.HOST_COMPILE: Failure.BUILD_TIMEOUT,
    Phase.FIRST_RUN: Failure.RUN_TIMEOUT,
    Phase.RUN: Failure.RUN_TIMEOUT,
}
_ENDS = {
    Phase.HOST_COMPILE: Failure.INTERNAL,
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
    candidate : Candidate or None
        For a kernel that a user schedules: its program with these knobs.
    """

    subject: Subject
    knobs: Any
    sampling: Sampling
    parent: UUID | None = None
    candidate: Candidate | None = None


class DeviceProcess:
    """Measures trials on a device in a process of its own, one after another.

    The process is started by the first trial, and again after one that ended it.

    Parameters
    ----------
    device : str
        Such as ``"opencl:0"``.
    place : Place
        Of trials that the process does not survive.
    limits : mapping of Phase to float, optional
    start_seconds : float, optional

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
    ) -> None:
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

        An exception of the process, which a bug of Texloom raised, is raised here.
        """
        answer = self._answer(request)
        if isinstance(answer, Trial):
            return answer
        raise answer

    def _answer(self, request: Request) -> Trial | Exception:
        begin, phases = time.monotonic(), {}
        phase, limit = Phase.HOST_COMPILE, self._start_seconds
        try:
            connection = self._connected()
            connection.send(request)
            while True:
                if not connection.poll(limit):
                    seconds = time.monotonic() - begin
                    self.kill()
                    message = f"{phase.value} took more than {limit:.0f} s: the process was killed"
                    phases[phase.value] = seconds
                    return self._failed(request, _TIMEOUTS[phase], message, phases)
                answer = connection.recv()
                if not isinstance(answer, Phase):
                    return answer
                now = time.monotonic()
                if answer is not phase:
                    phases[phase.value] = now - begin
                phase, begin, limit = answer, now, self.limits[answer]
        except (EOFError, ConnectionError):
            message = f"{phase.value}: {self._end_of_process()}"
            return self._failed(request, _ENDS[phase], message, phases)
        except BaseException:  # Ctrl-C: the answer would be taken for that of another request
            self.kill()
            raise

    def kill(self) -> None:
        """End the process at once, with compilers that it started."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
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

    def _failed(
        self, request: Request, failure: Failure, message: str, phases: Mapping[str, float]
    ) -> Trial:
        return Trial(
            request.subject,
            self.place,
            knob_values(request.knobs),
            failure=failure,
            message=message,
            phases=dict(phases),
            parent=request.parent,
        )


__all__ = ["LIMITS", "START_SECONDS", "DeviceProcess", "Request"]
