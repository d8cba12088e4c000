"""A tuning run: which kernel is measured next, and when it ends."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any
from uuid import UUID

from ..graph.tuned_knobs import subject_of
from ..measure.loop import Sampling
from ..ops.schedules import Choice
from ..ops.schedules.family import Kernel, knob_values
from ..records import Failure, MeasuredDevice, Subject, Trial, Wanted
from ..records.best_file import BestKnobs
from ..records.points import standing
from ..records.trial import canonical
from .build_pool import BuildPool
from .device_process import DeviceProcess
from .kernel_trial import SHORT
from .measuring import Candidate, Measuring
from .search import Search, Searched
from .working_time import WorkingTime

if TYPE_CHECKING:
    from ..graph.scheduler import Collected
    from ..records.database import Records

BATCH = 8
"""Trials of a kernel in a row."""
_FIRST_GAIN = 0.1
"""The share of a kernel's time that its first batch is expected to gain."""
_LEAST_GAIN = 0.01
"""The search of a network ends when no more than this share of its time is expected."""
_REPETITIONS = 2
"""How often the fastest point of a kernel is measured again, beside the default."""
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


@dataclass
class Tuned:
    """A kernel that is tuned.

    Attributes
    ----------
    subject : Subject
    searched : Searched
        Its space, with all trials.
    count : int
        The operators of the network that have this kernel: it runs so often in each run.
    cut : mapping of str to int
        How many points rules left out, before anything was built.
    known : int
        The trials that records already had.
    failures : Counter of Failure
    failed : set of knobs
        Points other than the default that failed once, and so do not count.
    times : dict of UUID to tuple of knobs and float
        The points and the seconds of the trials that nothing took the place of.
    gain : float
        The share of the kernel's time that a batch is expected to gain.
    """

    subject: Subject
    searched: Searched
    count: int
    cut: Mapping[str, int]
    known: int = 0
    failures: Counter[Failure] = field(default_factory=Counter)
    failed: set[Any] = field(default_factory=set)
    times: dict[UUID, tuple[Any, float]] = field(default_factory=dict)
    gain: float = _FIRST_GAIN
    is_done: bool = False

    @property
    def speedup(self) -> float:
        """How many times as fast the best point is as the default; 1 without trials."""
        default, best = self.searched.default_seconds, self.searched.best_seconds
        return default / best if default and best else 1.0

    @property
    def gained(self) -> float:
        """The seconds that the best point saves."""
        default, best = self.searched.default_seconds, self.searched.best_seconds
        return self.count * (default - best) if default and best else 0.0

    @property
    def is_repeated(self) -> bool:
        """Whether the best point was measured again."""
        return len(self.searched.trials.get(self.searched.best, ())) > _REPETITIONS

    @property
    def expected(self) -> float:
        """The seconds of a run that the next batch is expected to gain.

        Nothing is expected if the default failed: there are no outputs to compare others with.
        """
        best = self.searched.best_seconds
        if self.is_done or best is None or self.searched.default_seconds is None:
            return 0.0
        return self.count * best * self.gain

    def learn(self, trial: Trial, points: Mapping[str, Any]) -> None:
        """Count a trial; one of knobs that the space does not have is passed over."""
        knobs = points.get(canonical(dict(trial.knobs)))
        if knobs is None:
            return
        times = self.searched.trials.setdefault(knobs, [])
        again = None if trial.parent is None else self.times.get(trial.parent)
        if again is not None and again[0] == knobs and knobs not in self.failed:
            times.remove(again[1])
        if trial.failure is not None:
            self.failures[trial.failure] += 1
            if knobs != self.searched.default:  # whose earlier times others are compared with
                self.failed.add(knobs)
                times.clear()
        elif trial.seconds is not None and knobs not in self.failed:
            times.append(trial.seconds)
            self.times[trial.id] = knobs, trial.seconds


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
    tasks : Collected
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

    Attributes
    ----------
    kernels : list of Tuned
        The kernels with several points.
    """

    def __init__(
        self,
        tasks: Collected,
        records: Records,
        process: DeviceProcess,
        device: MeasuredDevice,
        search: Search,
        effort: Effort,
        sampling: Sampling = SHORT,
        builds: BuildPool | None = None,
        working: WorkingTime | None = None,
    ) -> None:
        self._device, self._search, self._effort = device, search, effort
        self._points: dict[str, dict[str, Any]] = {}
        self._begin = time.monotonic()
        self._measuring = Measuring(records, process, builds, sampling, self._learn)
        self._working = WorkingTime() if working is None else working
        self._show: Callable[[Progress], object] = lambda _: None
        self.kernels = self._found(tasks)
        for each in self.kernels:
            for trial in standing(records.trials(Wanted(subject=each.subject, device=device))):
                each.learn(trial, self._points[each.subject.identity])
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
                defaults = [Candidate(each.subject, each.searched.default) for each in some]
                self._measuring.batch(defaults, end)
        while (kernel := self._next(end)) is not None:
            before = kernel.searched.best_seconds
            chosen = self._chosen(kernel)
            kernel.is_done = not chosen
            hopeless = inf if before is None else before * _HOPELESS
            self._measuring.batch(
                [Candidate(kernel.subject, each, hopeless) for each in chosen], end
            )
            _revise(kernel, before)

    def best_knobs(self) -> list[BestKnobs]:
        """Return the best knobs of the kernels whose default is not the fastest point."""
        faster = [each for each in self.kernels if each.speedup > 1]
        return [
            BestKnobs.of(
                each.subject,
                knob_values(each.searched.best),
                each.searched.best_seconds or 0.0,
                self._device,
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
                points = (kernel.searched.default, kernel.searched.best)
                self._measuring.batch([Candidate(kernel.subject, each) for each in points], end)

    def _learn(self, trial: Trial) -> None:
        """Count a trial, and show it."""
        identity = trial.subject.identity
        kernel = next(each for each in self.kernels if each.subject.identity == identity)
        kernel.learn(trial, self._points[identity])
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

    def _found(self, tasks: Collected) -> list[Tuned]:
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
                subject = subject_of(task, kernel)
                points = {canonical(knob_values(each)): each for each in searched.points}
                self._points[subject.identity] = points
                found[kernel] = Tuned(subject, searched, count, searched.space.cut)
        return list(found.values())

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
        others = [each.searched for each in self.kernels if each.searched.kernel[0] is family]
        left = self._effort.trials - len(kernel.searched.trials)
        return self._search.next(kernel.searched, min(BATCH, left), others)


def _revise(kernel: Tuned, before: float | None) -> None:
    """Expect of the next batch what this one has gained, and half of what was expected of it."""
    after = kernel.searched.best_seconds
    if before is None or after is None:
        return
    # The best point may be slower than it seemed, once it was measured again.
    kernel.gain = kernel.gain / 2 + max(before - after, 0.0) / before


__all__ = ["BATCH", "EFFORTS", "Effort", "Progress", "Session", "Tuned"]
