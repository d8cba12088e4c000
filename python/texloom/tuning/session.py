"""A tuning run: which kernel is measured next, and when it ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

from ..devices.lookup import present
from ..graph.tuned_knobs import subject_of
from ..measure.loop import Sampling
from ..ops.schedules import Choice
from ..ops.schedules.family import Kernel, knob_values
from ..records import MeasuredDevice, Place, Trial, Wanted, measured_device, open_records
from ..records.best_file import BestKnobs
from ..records.points import standing
from .build_pool import BuildPool, builders
from .device_process import DeviceProcess
from .kernel_trial import SHORT
from .measuring import Measuring
from .search import Search, Searched
from .tuned import Tuned
from .working_time import WorkingTime

if TYPE_CHECKING:
    from ..graph.scheduler import Collected
    from ..records.database import Records

BATCH = 8
"""Trials of a kernel in a row."""
_LEAST_GAIN = 0.01
"""The search of a network ends when no more than this share of its time is expected."""
_HOPELESS = 3.0
"""One sample is enough for a point that takes so many times as long as the best one."""
_MOST_PASSES = 3
"""How often fastest points are looked for that were not measured again."""
_SHARE_TO_REPEAT = 0.15
"""The share of a run's seconds that is kept for it."""


@dataclass(frozen=True)
class Effort:
    """How long to search.

    Attributes
    ----------
    trials : int
        The most trials of a kernel, with those that records have.
    seconds : float
        Of the whole run.
    least_gain : float
        The search ends when the rest is expected to gain no more than this share of all kernels'
        time.
    """

    trials: int
    seconds: float
    least_gain: float = _LEAST_GAIN


EFFORTS = {
    "none": Effort(0, 0.0),
    "quick": Effort(32, 60.0),
    "normal": Effort(200, 900.0),
    "full": Effort(2000, float("inf"), 0.0),
}
"""Efforts by the names that users give."""


@dataclass(frozen=True)
class Progress:
    """What a run shows after each trial.

    Attributes
    ----------
    kernels : sequence of Tuned
    current : Tuned
        Whose trial it was.
    trial : Trial
    trials : int
        Made by this run.
    seconds : float
        Since it began.
    working_seconds : float
        Of them, those in which the device worked or kernels were compiled.
    own_seconds : float
        Of them, those in which the tuner itself worked: it did not wait for other processes.
    repeated : int
        The trials that took the place of others, because the device was disturbed.
    """

    kernels: Sequence[Tuned]
    current: Tuned
    trial: Trial
    trials: int
    seconds: float
    working_seconds: float
    own_seconds: float
    repeated: int


class Session:
    """A tuning run over the kernels of some tasks.

    Trials that the records have count, so that a run that was interrupted goes on.

    Parameters
    ----------
    tasks : Collected or None
        Of operators of a graph, with their numbers.
    records : Records
    process : DeviceProcess
    device : MeasuredDevice
        Of the process, as records name it.
    search : Search
    effort : Effort
    sampling : Sampling
    builds : BuildPool, optional
        Builds kernels ahead of their trials; without it, the process builds them.
    working : WorkingTime, optional
        Of the process and the builds.
    declared : iterable of Tuned
        Further kernels, which users schedule.

    Attributes
    ----------
    kernels : list of Tuned
        The kernels with several points.
    records : Records
    device : MeasuredDevice
    """

    def __init__(
        self,
        tasks: Collected | None,
        records: Records,
        process: DeviceProcess,
        device: MeasuredDevice,
        search: Search,
        effort: Effort,
        sampling: Sampling = SHORT,
        builds: BuildPool | None = None,
        working: WorkingTime | None = None,
        declared: Iterable[Tuned] = (),
    ) -> None:
        self.records, self.device = records, device
        self._search, self._effort = search, effort
        self._sampling = sampling
        self._begin = time.monotonic()
        self._measuring = Measuring(records, process, builds, self._learn)
        self._working = WorkingTime() if working is None else working
        self._show: Callable[[Progress], object] = lambda _: None
        self.kernels = [*(_found(tasks) if tasks else ()), *declared]
        for each in self.kernels:
            for trial in standing(records.trials(Wanted(subject=each.subject, device=device))):
                each.learn(trial)
            each.known = len(each.searched.trials)

    def run(self, show: Callable[[Progress], object]) -> int:
        """Measure until nothing is left that is expected to pay; return the number of trials.

        The fastest points are measured again in the end, beside the defaults: a point may owe its
        first time to luck. Each trial is recorded when it is made, so that Ctrl-C loses none that
        is finished.
        """
        self._begin, self._show = time.monotonic(), show
        try:
            self._search_all(self._begin + self._effort.seconds * (1 - _SHARE_TO_REPEAT))
            self._confirm(self._begin + self._effort.seconds)
        finally:
            self._measuring.close()
        return self._measuring.trials

    def _search_all(self, end: float) -> None:
        """Measure all defaults, then batches of the kernels for which they should pay most."""
        if self._effort.trials > 0:
            new = [k for k in self.kernels if k.searched.default not in k.searched.trials]
            for first in range(0, len(new), BATCH):
                some = new[first : first + BATCH]
                defaults = [each.request(each.searched.default, self._sampling) for each in some]
                self._measuring.batch(defaults, end)
        while (kernel := self._next(end)) is not None:
            before = kernel.searched.best_seconds
            chosen = self._chosen(kernel)
            kernel.is_done = not chosen
            hopeless = inf if before is None else before * _HOPELESS
            requests = [kernel.request(each, self._sampling, hopeless) for each in chosen]
            self._measuring.batch(requests, end)
            _revise(kernel, before)

    def best_knobs(self) -> list[BestKnobs]:
        """Return the best knobs of the kernels whose default is not the fastest point."""
        faster = [each for each in self.kernels if each.speedup > 1]
        return [
            BestKnobs.of(
                each.subject,
                knob_values(each.searched.best),
                each.searched.best_seconds or 0.0,
                self.device,
            )
            for each in sorted(faster, key=lambda each: each.subject.identity)
        ]

    def _confirm(self, end: float) -> None:
        """Measure again what was faster than a default, until no disturbance changes what that is.

        Where all the time is disturbed, what the last of several passes found is left.
        """
        for _ in range(_MOST_PASSES):
            self._repeat(end)
            before = self._measuring.repeated
            self._measuring.check(end)
            if self._measuring.repeated == before:
                return

    def _repeat(self, end: float) -> None:
        """Measure again what was faster than a default, where most was gained first."""
        faster = [each for each in self.kernels if each.speedup > 1 and not each.is_repeated]
        for kernel in sorted(faster, key=lambda each: each.gained, reverse=True):
            # Another point may be the fastest once this one was measured again.
            while kernel.speedup > 1 and not kernel.is_repeated:
                if time.monotonic() >= end:
                    return
                points = [kernel.searched.best]
                if kernel.searched.default_seconds is not None:
                    points.insert(0, kernel.searched.default)
                requests = [kernel.request(each, self._sampling) for each in points]
                self._measuring.batch(requests, end)

    def _learn(self, trial: Trial) -> None:
        """Count a trial, and show it."""
        identity = trial.subject.identity
        kernel = next(each for each in self.kernels if each.subject.identity == identity)
        kernel.learn(trial)
        made, seconds = self._measuring, time.monotonic() - self._begin
        self._show(
            Progress(
                self.kernels,
                kernel,
                trial,
                made.trials,
                seconds,
                self._working.seconds,
                seconds - made.waiting_seconds,
                made.repeated,
            )
        )

    def _next(self, end: float) -> Tuned | None:
        """Return the kernel whose next batch is expected to pay most; None if none is."""
        if time.monotonic() >= end:
            return None
        for each in self.kernels:
            each.is_done |= len(each.searched.trials) >= self._effort.trials
        total = sum(each.count * (each.searched.best_seconds or 0.0) for each in self.kernels)
        left = sum(each.expected for each in self.kernels)
        if not left or left < self._effort.least_gain * total:
            return None
        return max(self.kernels, key=lambda each: each.expected)

    def _chosen(self, kernel: Tuned) -> list[Any]:
        """Return points of a kernel that the search wants to be measured."""
        family = kernel.searched.kernel[0]
        others = [each.searched for each in self.kernels if each.searched.kernel[0] == family]
        left = self._effort.trials - len(kernel.searched.trials)
        kernel.searched.draw(self._search.is_ordered)
        return self._search.next(kernel.searched, min(BATCH, left), others)


@contextmanager
def opened_session(
    device: str,
    database: str,
    tasks: Collected | None,
    search: Search,
    effort: Effort,
    declared: Iterable[Tuned] = (),
) -> Iterator[Session]:
    """Open a database, made if it is missing, and processes that build and measure, for a run.

    Parameters
    ----------
    device : str
        Such as ``"opencl:0"``.
    database : str
        As :func:`texloom.records.open_records` takes it; see there for errors.
    tasks, search, effort, declared
        As :class:`Session` takes them.
    """
    own, working = measured_device(present(device)), WorkingTime()
    place = Place.here(own)
    with (
        open_records(database, creates=True) as records,
        DeviceProcess(device, place, working=working) as process,
        BuildPool(device, place, builders(), working) as builds,
    ):
        yield Session(
            tasks,
            records,
            process,
            own,
            search,
            effort,
            builds=builds,
            working=working,
            declared=declared,
        )


def _found(tasks: Collected) -> list[Tuned]:
    """Return each kernel that has several points once."""
    from ..graph.scheduler import alternatives_of

    found: dict[Kernel, Tuned] = {}
    for identity, task in tasks.items():
        count = tasks.operators[identity]
        choice = Choice()
        alternatives_of(task, choice)
        for kernel, own in choice.kernels.items():
            if kernel in found:
                found[kernel].count += count
                continue
            searched = Searched.of(kernel, own)
            if len(searched.points) < 2:
                continue
            found[kernel] = Tuned(subject_of(task, kernel), searched, count, searched.space.cut)
    return list(found.values())


def _revise(kernel: Tuned, before: float | None) -> None:
    """Expect of the next batch what this one has gained, and half of what was expected of it."""
    after = kernel.searched.best_seconds
    if before is None or after is None:
        return
    # The best point may be slower than it seemed, once it was measured again.
    kernel.gain = kernel.gain / 2 + max(before - after, 0.0) / before


__all__ = ["BATCH", "EFFORTS", "Effort", "Progress", "Session", "opened_session"]
