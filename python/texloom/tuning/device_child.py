"""The child of :mod:`texloom.tuning.device_process`.

    python -m texloom.tuning.device_child CONNECTION DEVICE

Answers each request with the phases that a trial begins, then with the trial, which has failed if
the default of the kernel fails. An exception is the answer if there is no such kernel.
"""

from __future__ import annotations

import os
import sys
from multiprocessing.connection import Connection

from ..devices.lookup import present
from ..errors import TVMError
from ..ops.schedules.family import knob_values
from ..records import Failure, Place, Subject, Trial, measured_device
from .device_process import Request
from .kernel_trial import Expected, Measurable, measured_trial
from .operator import Operator
from .program_trial import Candidate, ExpectedProgram, Reference


class Child:
    """Makes trials; what the last one was compared with is kept, with its outputs."""

    def __init__(self, connection: Connection, device: str) -> None:
        self._connection, self._device = connection, present(device)
        self._subject: Subject | None = None
        self._expected: Expected | None = None
        self._expected_program: Reference | None = None

    def trial(self, request: Request) -> Trial:
        """Make a trial."""
        try:
            expected = self._of(request)
        except TVMError as error:
            return Trial(
                request.subject,
                Place.here(measured_device(self._device)),
                knob_values(request.knobs),
                failure=Failure.LAUNCH,
                message=f"the default, whose outputs are expected: {str(error).splitlines()[0]}",
                parent=request.parent,
            )
        return measured_trial(
            expected, request.knobs, request.sampling, request.parent, self._connection.send
        )

    def _of(self, request: Request) -> Measurable:
        candidate = request.candidate
        if candidate is None:
            return self._kernel(request.subject)
        reference = None if candidate.expected is None else self._reference(candidate)
        return ExpectedProgram(request.subject, self._device, candidate, reference)

    def _kernel(self, subject: Subject) -> Expected:
        if self._expected is None or self._subject != subject:
            operator = Operator(subject.text, self._device)
            kernel = operator.kernel_of(subject)
            if kernel is None:
                raise LookupError(f"no family has the kernel {subject.family}: {subject.facts}")
            self._expected, self._subject = Expected(operator, kernel), subject
            assert self._expected.outputs is not None  # computed before a trial is timed
        return self._expected

    def _reference(self, candidate: Candidate) -> Reference:
        assert candidate.expected is not None
        kept = self._expected_program
        if kept is None or kept.text != candidate.expected or candidate.inputs is not None:
            self._expected_program = None
            kept = Reference(candidate.expected, self._device, candidate.inputs)
            assert kept.outputs is not None  # computed before a trial is timed
            self._expected_program = kept
        return kept


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
            answer: Trial | Exception = child.trial(request)
        except Exception as error:
            answer = error
        connection.send(answer)


if __name__ == "__main__":
    main()
