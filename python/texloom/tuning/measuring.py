"""Trials of a run, in batches: built ahead, recorded, and measured again after a disturbance."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING, Any
from uuid import UUID

from ..measure.loop import Sampling
from ..records import Subject, Trial
from .build_pool import BuildPool
from .device_process import DeviceProcess, Request
from .kernel_build import Build
from .reference import Reference

if TYPE_CHECKING:
    from ..records.database import Records

_BETWEEN_READINGS = 8
"""Trials after which the reference is measured."""
_MOST_REPETITIONS = 2
"""How often trials are made again until the reference is what it was."""


@dataclass(frozen=True)
class Candidate:
    """A point of a kernel's space that is to be measured.

    Attributes
    ----------
    subject : Subject
    knobs : Any
    hopeless_seconds : float
        One sample is enough if it takes longer than this.
    parent : UUID or None
        The trial whose place is taken.
    """

    subject: Subject
    knobs: Any
    hopeless_seconds: float = inf
    parent: UUID | None = None


@dataclass(frozen=True)
class _Made:
    """A candidate, with its successful trial."""

    candidate: Candidate
    trial: Trial

    def again(self) -> Candidate:
        """Return the candidate that takes the place of the trial."""
        return replace(self.candidate, parent=self.trial.id)


class Measuring:
    """Makes trials of points for a run, one batch after another.

    Between batches, a reference kernel is measured: the first one whose trial succeeds. If its time
    has drifted, the trials since its last reading are made again, as children of the trials whose
    place they take.

    Parameters
    ----------
    records : Records
        Trials are added when they are made, by a thread, while the next one is made.
    process : DeviceProcess
    builds : BuildPool or None
        None to build in the process itself.
    sampling : Sampling
    learn : callable
        Is told of each trial when it is recorded.

    Attributes
    ----------
    trials : int
        Made so far.
    repeated : int
        Of them, those that take the place of others.
    waiting_seconds : float
        How long other processes were waited for.
    """

    def __init__(
        self,
        records: Records,
        process: DeviceProcess,
        builds: BuildPool | None,
        sampling: Sampling,
        learn: Callable[[Trial], None],
    ) -> None:
        self._records, self._process, self._builds = records, process, builds
        self._sampling, self._learn = sampling, learn
        self._reference = Reference()
        self._reference_is: Candidate | None = None
        self._since: list[_Made] = []  # since the last reading
        self._writer = ThreadPoolExecutor(1)
        self._adding: deque[tuple[Trial, Future[None]]] = deque()
        self.trials = self.repeated = 0
        self.waiting_seconds = 0.0

    def batch(self, candidates: Sequence[Candidate], end: float) -> None:
        """Make a trial of each candidate, unless the monotonic clock is past `end` before."""
        self._since += self._made(candidates, end)
        if len(self._since) >= _BETWEEN_READINGS:
            self.check(end)

    def check(self, end: float) -> None:
        """Measure the reference, and what was measured since its last reading, if it drifted."""
        doubtful, self._since = self._since, []
        if self._reference_is is None or not doubtful:
            return
        reference = self._reference_is
        for number in range(_MOST_REPETITIONS + 1):
            made = self._made([reference], end)
            if not made or self._reference.is_steady(made[0].trial.times):
                return
            if number < _MOST_REPETITIONS:
                reference = made[0].again()
                doubtful = self._made([each.again() for each in doubtful], end)
                self.repeated += len(doubtful)
            else:
                self._reference.begin_again(made[0].trial.times)

    def _made(self, candidates: Sequence[Candidate], end: float) -> list[_Made]:
        """Make trials; return those that did not fail."""
        made: list[_Made] = []
        with self._built(candidates) as builds:
            for candidate, build in zip(candidates, builds, strict=True):
                if time.monotonic() >= end:
                    break
                trial = self._trial(candidate, build)
                if trial.failure is not None:
                    continue
                made.append(_Made(candidate, trial))
                if self._reference_is is None:
                    self._reference_is = candidate
                    self._reference.is_steady(trial.times)
        self._settle(0)
        return made

    def _trial(self, candidate: Candidate, build: Future[Build] | None) -> Trial:
        with self._waiting():
            own = None if build is None else build.result()
            trial = self._process.trial(
                Request(
                    candidate.subject,
                    candidate.knobs,
                    self._sampling,
                    candidate.parent,
                    own,
                    candidate.hopeless_seconds,
                )
            )
        if own is not None:
            own.package.unlink(missing_ok=True)
        self._adding.append((trial, self._writer.submit(self._records.add, trial)))
        self._settle(1)  # the disk works while the next trial is made
        return trial

    def _settle(self, most: int) -> None:
        """Wait until at most so many trials are not recorded, and learn of those that are."""
        while len(self._adding) > most:
            trial, added = self._adding[0]
            added.result()
            self._adding.popleft()
            self.trials += 1
            self._learn(trial)

    def close(self) -> None:
        """Record what was measured before an exception ended the run."""
        self._writer.shutdown()
        self._settle(0)

    @contextmanager
    def _built(self, candidates: Sequence[Candidate]) -> Iterator[Iterable[Future[Build] | None]]:
        """Begin to build candidates; those that nobody waited for are cancelled in the end."""
        if self._builds is None:
            yield [None] * len(candidates)
            return
        begun = [self._builds.start(each.subject, each.knobs) for each in candidates]
        try:
            if self._builds.disturbs:
                with self._waiting():
                    wait(begun)
            yield begun
        finally:
            for each in begun:
                each.cancel()

    @contextmanager
    def _waiting(self) -> Iterator[None]:
        begin = time.monotonic()
        try:
            yield
        finally:
            self.waiting_seconds += time.monotonic() - begin


__all__ = ["Candidate", "Measuring"]
