"""A tuning run: which kernel is measured next, and when it ends."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from ..graph.tuned_knobs import subject_of
from ..measure.loop import Sampling
from ..ops.schedules import Choice
from ..ops.schedules.family import Kernel, knob_values
from ..records import Failure, MeasuredDevice, Subject, Trial, Wanted
from ..records.best_file import BestKnobs
from ..records.trial import canonical
from .device_process import DeviceProcess, Request
from .kernel_trial import SHORT
from .search import Search, Searched

if TYPE_CHECKING:
    from .._core import _Task
    from ..records.database import Records

BATCH = 8
"""Trials of a kernel in a row."""
_FIRST_GAIN = 0.1
"""The share of a kernel's time that its first batch is expected to gain."""
_LEAST_GAIN = 0.01
"""The search of a network ends when no more than this share of its time is expected."""
_REPETITIONS = 2
"""How often the fastest point of a kernel is measured again, beside the default."""
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
        The operators of the network that have this kernel.
    cut : mapping of str to int
        How many points rules left out, before anything was built.
    known : int
        The trials that records already had.
    failures : Counter of Failure
    gain : float
        The share of the kernel's time that a batch is expected to gain.
    """

    subject: Subject
    searched: Searched
    count: int
    cut: Mapping[str, int]
    known: int = 0
    failures: Counter[Failure] = field(default_factory=Counter)
    gain: float = _FIRST_GAIN
    is_done: bool = False

    needs_default: ClassVar[bool] = True
    """Whether no point can be measured if the default fails."""

    @property
    def speedup(self) -> float:
        """How many times as fast the best point is as the default; 1 without trials.

        Infinite if the default failed.
        """
        default, best = self.searched.default_seconds, self.searched.best_seconds
        if not best:
            return 1.0
        return default / best if default else float("inf")

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
        """The seconds that the next batch is expected to gain; infinite before the first one.

        Nothing is expected if the default failed: there are no outputs to compare others with.
        """
        best = self.searched.best_seconds
        has_failed = self.searched.trials.get(self.searched.default) == []
        if self.is_done or (has_failed and self.needs_default):
            return 0.0
        return float("inf") if best is None else self.count * best * self.gain

    @cached_property
    def _points(self) -> dict[str, Any]:
        return {canonical(knob_values(each)): each for each in self.searched.points}

    def point_of(self, values: Mapping[str, Any]) -> Any:
        """Return the point with these values of knobs; None if the space has none."""
        return self._points.get(canonical(dict(values)))

    def trial(self, process: DeviceProcess, knobs: Any, sampling: Sampling) -> Trial:
        """Measure a point."""
        return process.trial(Request(self.subject, knobs, sampling))

    def learn(self, trial: Trial) -> None:
        """Count a trial; one of knobs that the space does not have is passed over."""
        knobs = self.point_of(trial.knobs)
        if knobs is None:
            return
        times = self.searched.trials.setdefault(knobs, [])
        if trial.failure is not None:
            self.failures[trial.failure] += 1
        elif trial.seconds is not None:
            times.append(trial.seconds)


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
    measuring_seconds : float
        Of them, those in which the device or compilers worked.
    """

    kernels: Sequence[Tuned]
    current: Tuned
    trial: Trial
    trials: int
    seconds: float
    measuring_seconds: float


class Session:
    """A tuning run over the kernels of some tasks.

    Trials that the records have count, so that a run that was interrupted goes on.

    Parameters
    ----------
    tasks : iterable of _Task
        Of operators of a graph.
    records : Records
    process : DeviceProcess
    device : MeasuredDevice
        Of the process, as records name it.
    search : Search
    effort : Effort
    sampling : Sampling
    declared : iterable of Tuned
        Further kernels, which users schedule.

    Attributes
    ----------
    kernels : list of Tuned
        The kernels with several points.
    """

    def __init__(
        self,
        tasks: Iterable[_Task],
        records: Records,
        process: DeviceProcess,
        device: MeasuredDevice,
        search: Search,
        effort: Effort,
        sampling: Sampling = SHORT,
        declared: Iterable[Tuned] = (),
    ) -> None:
        self._records, self._process, self._device = records, process, device
        self._search, self._effort, self._sampling = search, effort, sampling
        self._begin, self._measuring, self._trials = time.monotonic(), 0.0, 0
        self._show: Callable[[Progress], object] = lambda _: None
        self.kernels = [*_found(tasks), *declared]
        for each in self.kernels:
            for trial in records.trials(Wanted(subject=each.subject, device=device)):
                each.learn(trial)
            each.known = len(each.searched.trials)

    def run(self, show: Callable[[Progress], object]) -> int:
        """Measure until nothing is left that is expected to pay; return the number of trials.

        The fastest points are measured again in the end, beside the defaults: a point may owe its
        first time to luck. Each trial is recorded when it is made, so that Ctrl-C loses none.
        """
        self._begin, self._show = time.monotonic(), show
        searching = self._effort.seconds * (1 - _SHARE_TO_REPEAT)
        while (kernel := self._next(searching)) is not None:
            before = kernel.searched.best_seconds
            chosen = self._chosen(kernel)
            kernel.is_done = not chosen
            for knobs in chosen:
                if self._elapsed() >= searching:
                    break
                self._measure(kernel, knobs, self._sampling)
            _revise(kernel, before)
        self._repeat()
        return self._trials

    def best_knobs(self) -> list[BestKnobs]:
        """Return the best knobs of the kernels whose default is not the fastest point."""
        faster = [each for each in self.kernels if each.speedup > 1]
        return [
            BestKnobs(
                each.subject.identity,
                each.subject.family,
                each.subject.version,
                each.subject.target,
                each.subject.facts,
                knob_values(each.searched.best),
                round((each.searched.best_seconds or 0.0) * 1e6, 3),
                str(self._device),
            )
            for each in sorted(faster, key=lambda each: each.subject.identity)
        ]

    def _repeat(self) -> None:
        """Measure again what was faster than a default, where most was gained first."""
        faster = [each for each in self.kernels if each.speedup > 1 and not each.is_repeated]
        for kernel in sorted(faster, key=lambda each: each.gained, reverse=True):
            # Another point may be the fastest once this one was measured again.
            while kernel.speedup > 1 and not kernel.is_repeated:
                again = [kernel.searched.best]
                if kernel.searched.default_seconds:
                    again.insert(0, kernel.searched.default)
                for knobs in again:
                    if self._elapsed() >= self._effort.seconds:
                        return
                    self._measure(kernel, knobs, self._sampling)

    def _measure(self, kernel: Tuned, knobs: Any, sampling: Sampling) -> None:
        start = time.monotonic()
        trial = kernel.trial(self._process, knobs, sampling)
        self._measuring += time.monotonic() - start
        self._records.add(trial)
        kernel.learn(trial)
        self._trials += 1
        progress = (kernel, trial, self._trials, self._elapsed(), self._measuring)
        self._show(Progress(self.kernels, *progress))

    def _elapsed(self) -> float:
        return time.monotonic() - self._begin

    def _next(self, end: float) -> Tuned | None:
        """Return the kernel whose next batch is expected to pay most; None if none is."""
        if self._elapsed() >= end:
            return None
        for each in self.kernels:
            each.is_done |= len(each.searched.trials) >= self._effort.trials
        total = sum(each.count * (each.searched.best_seconds or 0.0) for each in self.kernels)
        left = sum(each.expected for each in self.kernels)
        if not left or left < self._effort.least_gain * total:
            return None
        return max(self.kernels, key=lambda each: each.expected)

    def _chosen(self, kernel: Tuned) -> list[Any]:
        """Return points of a kernel to measure: the default, then what the search wants."""
        if kernel.searched.default not in kernel.searched.trials:
            return [kernel.searched.default]
        family = kernel.searched.kernel[0]
        others = [each.searched for each in self.kernels if each.searched.kernel[0] == family]
        left = self._effort.trials - len(kernel.searched.trials)
        kernel.searched.draw(self._search.is_ordered)
        return self._search.next(kernel.searched, min(BATCH, left), others)


def _found(tasks: Iterable[_Task]) -> list[Tuned]:
    """Return each kernel that has several points once."""
    from ..graph.scheduler import alternatives_of

    found: dict[Kernel, Tuned] = {}
    for task in tasks:
        choice = Choice()
        alternatives_of(task, choice)
        for kernel, own in choice.kernels.items():
            if kernel in found:
                found[kernel].count += 1
                continue
            searched = Searched.of(kernel, own)
            if len(searched.points) < 2:
                continue
            found[kernel] = Tuned(subject_of(task, kernel), searched, 1, searched.space.cut)
    return list(found.values())


def _revise(kernel: Tuned, before: float | None) -> None:
    """Expect of the next batch what this one has gained, and half of what was expected of it."""
    after = kernel.searched.best_seconds
    if before is None or after is None:
        return  # the first batch has one trial: the default
    kernel.gain = kernel.gain / 2 + (before - after) / before


__all__ = ["BATCH", "EFFORTS", "Effort", "Progress", "Session", "Tuned"]
