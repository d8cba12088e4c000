"""Kernels that are tuned: their spaces, and what is known of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from typing import Any, ClassVar
from uuid import UUID

from ..measure.loop import Sampling
from ..ops.schedules.family import knob_values
from ..records import Failure, Subject, Trial
from ..records.trial import canonical
from .device_process import Request
from .search import Searched

_FIRST_GAIN = 0.1
"""The share of a kernel's time that its first batch is expected to gain."""
_REPETITIONS = 2
"""How often the fastest point of a kernel is measured again, beside the default."""


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

    needs_default: ClassVar[bool] = True
    """Whether no point can be measured if the default fails, whose outputs others must have."""

    @property
    def speedup(self) -> float:
        """How many times as fast the best point is as the default; 1 without trials.

        Infinite if the default failed.
        """
        default, best = self.searched.default_seconds, self.searched.best_seconds
        if not best:
            return 1.0
        return default / best if default else inf

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
        """The seconds of a run that the next batch is expected to gain; infinite before a success.

        Nothing is expected if a default failed that is needed.
        """
        best = self.searched.best_seconds
        if self.is_done or (self.needs_default and self.searched.default_seconds is None):
            return 0.0
        return inf if best is None else self.count * best * self.gain

    @cached_property
    def _points(self) -> dict[str, Any]:
        return {canonical(knob_values(each)): each for each in self.searched.points}

    def point_of(self, values: Mapping[str, Any]) -> Any:
        """Return the point with these values of knobs; None if the space has none."""
        return self._points.get(canonical(dict(values)))

    def request(self, knobs: Any, sampling: Sampling, hopeless_seconds: float = inf) -> Request:
        """Return the trial of a point that a process is to make."""
        return Request(self.subject, knobs, sampling, hopeless_seconds=hopeless_seconds)

    def learn(self, trial: Trial) -> None:
        """Count a trial; one of knobs that the space does not have is passed over."""
        knobs = self.point_of(trial.knobs)
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


__all__ = ["Tuned"]
