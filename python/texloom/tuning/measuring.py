"""Trials of a run, in batches: built ahead, recorded, and measured again after a disturbance."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..records import Trial
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
class _Made:
    """A request, with its successful trial."""

    request: Request
    trial: Trial

    def again(self) -> Request:
        """Return the request of a trial that takes the place of this one."""
        return replace(self.request, parent=self.trial.id)


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
        learn: Callable[[Trial], None],
    ) -> None:
        self._records, self._process, self._builds = records, process, builds
        self._learn = learn
        self._reference = Reference()
        self._reference_is: Request | None = None
        self._since: list[_Made] = []  # since the last reading
        self._writer = ThreadPoolExecutor(1)
        self._adding: deque[tuple[Trial, Future[None]]] = deque()
        self.trials = self.repeated = 0
        self.waiting_seconds = 0.0

    def batch(self, requests: Sequence[Request], end: float) -> None:
        """Make trials, until the monotonic clock is past `end`."""
        self._since += self._made(requests, end)
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

    def _made(self, requests: Sequence[Request], end: float) -> list[_Made]:
        """Make trials; return those that did not fail."""
        made: list[_Made] = []
        with self._built(requests) as builds:
            for request, build in zip(requests, builds, strict=True):
                if time.monotonic() >= end:
                    break
                trial = self._trial(request, build)
                if trial.failure is not None:
                    continue
                made.append(_Made(request, trial))
                if self._reference_is is None:
                    self._reference_is = request
                    self._reference.is_steady(trial.times)
        self._settle(0)
        return made

    def _trial(self, request: Request, begun: Future[Build] | None) -> Trial:
        package: Path | None = None
        with self._waiting():
            if begun is not None:
                build = begun.result()
                request, package = replace(request, build=build), build.package
            trial = self._process.trial(request)
        if package is not None:
            package.unlink(missing_ok=True)
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
    def _built(self, requests: Sequence[Request]) -> Iterator[Iterable[Future[Build] | None]]:
        """Begin to build points; those that nobody waited for are cancelled in the end."""
        if self._builds is None:
            yield [None] * len(requests)
            return
        builds = [self._builds.start(each) if each.build is None else None for each in requests]
        begun = [each for each in builds if each is not None]
        try:
            if self._builds.disturbs:
                with self._waiting():
                    wait(begun)
            yield builds
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


__all__ = ["Measuring"]
