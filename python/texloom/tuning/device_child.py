"""The child of :mod:`texloom.tuning.device_process`.

    python -m texloom.tuning.device_child CONNECTION DEVICE

Answers each request with the phases that begin, then with the trial, which has failed if the
default of the kernel fails, or with the build. An exception is the answer if there is no such
kernel.
"""

from __future__ import annotations

import os
import sys
from multiprocessing.connection import Connection

from ..devices.lookup import present
from ..errors import TVMError
from ..records import Failure, Place, Subject, Trial, measured_device
from .device_process import BuildRequest, Request, failed_trial
from .kernel_build import Build, Measurable, built
from .kernel_trial import Expected, measured_trial
from .operator import Operator
from .program_trial import ExpectedProgram, Reference, UserProgram

_KEPT = 3
"""Kernels that are kept with what is expected: the reference, and those measured in turn."""


class Child:
    """Makes trials and builds; what the latest ones are compared with is kept, with its outputs."""

    def __init__(self, connection: Connection, device: str) -> None:
        self._connection, self._device = connection, present(device)
        self._kept: dict[Subject | str, Expected | Reference] = {}

    def answer(self, request: Request | BuildRequest) -> Trial | Build:
        """Do what is requested."""
        return self.trial(request) if isinstance(request, Request) else self.build(request)

    def trial(self, request: Request) -> Trial:
        """Make a trial."""
        try:
            expected = self._of(request)
            _ = expected.outputs  # computed before a trial is timed
        except TVMError as error:
            return failed_trial(
                request,
                Place.here(measured_device(self._device)),
                Failure.LAUNCH,
                f"the default, whose outputs are expected: {str(error).splitlines()[0]}",
                {},
            )
        return measured_trial(
            expected,
            request.knobs,
            request.sampling,
            request.parent,
            self._connection.send,
            request.build,
            request.hopeless_seconds,
        )

    def build(self, request: BuildRequest) -> Build:
        """Build a point for a trial of another process."""
        trial = request.trial
        return built(self._of(trial), trial.knobs, request.package, self._connection.send)

    def _of(self, request: Request) -> Measurable:
        program = request.program
        if program is None:
            return self._kernel(request.subject)
        reference = None if program.expected is None else self._reference(program)
        return ExpectedProgram(request.subject, self._device, program, reference)

    def _kernel(self, subject: Subject) -> Expected:
        kept = self._kept.pop(subject, None)
        if not isinstance(kept, Expected):
            operator = Operator(subject.text, self._device)
            kernel = operator.kernel_of(subject)
            if kernel is None:
                raise LookupError(f"no family has the kernel {subject.family}: {subject.facts}")
            kept = Expected(operator, kernel)
        self._keep(subject, kept)
        return kept

    def _reference(self, program: UserProgram) -> Reference:
        text = program.expected
        assert text is not None
        if program.inputs is not None:
            return Reference(text, self._device, program.inputs)
        kept = self._kept.pop(text, None)
        if not isinstance(kept, Reference):
            kept = Reference(text, self._device)
        self._keep(text, kept)
        return kept

    def _keep(self, name: Subject | str, one: Expected | Reference) -> None:
        self._kept[name] = one
        if len(self._kept) > _KEPT:
            del self._kept[next(iter(self._kept))]


def main() -> None:
    """Answer until the connection is closed."""
    connection = Connection(int(sys.argv[1]))
    child = Child(connection, sys.argv[2])
    while True:
        try:
            request = connection.recv()
        except EOFError:
            # Exit without releasing objects: drivers may fail to release them.
            os._exit(0)
        try:
            answer: Trial | Build | Exception = child.answer(request)
        except Exception as error:
            answer = error
        connection.send(answer)


if __name__ == "__main__":
    main()
