"""What the trials of kernels say together: gains, knobs, storages, failures, devices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import exp, log
from statistics import fmean

from ...records import Trial
from ...records.trial import canonical
from .courses import Course, courses_of

_MOST_MESSAGES = 3  # of a class of failures


@dataclass(frozen=True)
class KnobValue:
    """A value of a knob.

    Attributes
    ----------
    value : str
        As JSON.
    ratio : float
        How many times as long the fastest point with this value takes as the fastest of all, in the
        geometric mean over kernels.
    kernels : int
        Those that have measured points with this value.
    """

    value: str
    ratio: float
    kernels: int


@dataclass(frozen=True)
class KnobWorth:
    """What a knob of a family is worth.

    Attributes
    ----------
    family, name : str
    kernels : int
        Those whose first point is measured, and that were measured with several values.
    worth : float
        How many times as long kernels take if the knob stays as it is in the first point and all
        others are tuned, in the geometric mean over kernels.
    values : tuple of KnobValue
        Those that the trials have, the best one first.
    """

    family: str
    name: str
    kernels: int
    worth: float
    values: tuple[KnobValue, ...]


@dataclass(frozen=True)
class StoragePair:
    """An operator whose kernels over buffers and over textures were both measured on a device."""

    buffer: Course
    texture: Course


@dataclass(frozen=True)
class FailureClass:
    """Failed trials of a class: their number, and the most frequent messages with theirs."""

    name: str
    count: int
    messages: tuple[tuple[str, int], ...]


class Findings:
    """What trials of kernels say.

    Parameters
    ----------
    trials : iterable of Trial
        Of kernels, in the order in which they began.
    counts : mapping of str to int, optional
        How often a run of the network has each kernel, by the identities of subjects; otherwise,
        each counts once.

    Attributes
    ----------
    courses : list of Course
        Of the kernels, those that take most of a run first.
    has_counts : bool
    """

    def __init__(self, trials: Iterable[Trial], counts: Mapping[str, int] | None = None) -> None:
        self.has_counts = counts is not None
        self.courses = courses_of(trials, dict(counts or {}))

    @property
    def trials(self) -> list[Trial]:
        """All trials, by kernels."""
        return [each for course in self.courses for each in course.trials]

    @property
    def totals(self) -> tuple[float, float]:
        """The seconds of a run with all first points, and with the best ones, where both exist."""
        known = [each for each in self.courses if each.speedup is not None]
        first = sum(each.count * (each.first_seconds or 0.0) for each in known)
        return first, sum(each.count * (each.best_seconds or 0.0) for each in known)

    @property
    def repeated(self) -> int:
        """How many trials took the place of others."""
        points = sum(len(p.trials) for course in self.courses for p in course.points)
        return len(self.trials) - points

    def progress(self) -> list[tuple[int, float]]:
        """Return the seconds of a run with the least times so far, after each trial.

        A kernel that has no time yet counts with its first one.
        """
        so_far = {}
        for each in self.courses:
            known = next((least for _, least in each.convergence if least is not None), None)
            if known is not None:
                so_far[each.subject.identity, each.device] = known, each.count
        total = sum(least * count for least, count in so_far.values())
        made = [(0, total)]
        ordered = sorted(self.trials, key=lambda each: (each.begun, each.id))
        for number, each in enumerate(ordered, 1):
            key = each.subject.identity, each.place.device
            if each.seconds is not None and each.seconds < so_far[key][0]:
                least, count = so_far[key]
                total -= (least - each.seconds) * count
                so_far[key] = each.seconds, count
                made.append((number, total))
        return [*made, (len(ordered), total)]

    @cached_property
    def knobs(self) -> list[KnobWorth]:
        """The knobs of all families, those first that are worth most."""
        by_family: dict[str, list[Course]] = {}
        for each in self.courses:
            if each.best is not None:
                by_family.setdefault(each.subject.family, []).append(each)
        found = []
        for family, courses in by_family.items():
            names = dict.fromkeys(n for c in courses for p in c.points for n in p.knobs)
            worths = (_worth(family, name, courses) for name in names)
            found += [each for each in worths if each is not None]
        return sorted(found, key=lambda each: (-each.worth, each.family, each.name))

    @cached_property
    def storages(self) -> list[StoragePair]:
        """The operators that have kernels of both storages, those with most time first."""
        found: dict[tuple[str, object], dict[bool, Course]] = {}
        for each in self.courses:
            if each.best is None:
                continue
            own = found.setdefault((each.subject.task, each.device), {})
            other = own.get(each.is_of_texels)
            if other is None or (each.best_seconds or 0) < (other.best_seconds or 0):
                own[each.is_of_texels] = each
        return [StoragePair(own[False], own[True]) for own in found.values() if len(own) == 2]

    @cached_property
    def failures(self) -> list[FailureClass]:
        """The classes of failures, the most frequent one first."""
        messages: dict[str, Counter[str]] = {}
        for each in self.trials:
            if each.failure is not None:
                messages.setdefault(each.failure.value, Counter())[each.message] += 1
        found = [
            FailureClass(name, own.total(), tuple(own.most_common(_MOST_MESSAGES)))
            for name, own in messages.items()
        ]
        return sorted(found, key=lambda each: (-each.count, each.name))


def _worth(family: str, name: str, courses: list[Course]) -> KnobWorth | None:
    """Return what a knob is worth; None if no kernel was measured with several values."""
    losses: list[float] = []
    ratios: dict[str, list[float]] = {}
    for each in courses:
        best: dict[str, float] = {}
        for point in each.points:
            if point.seconds is not None and name in point.knobs:
                value = canonical(point.knobs[name])
                best[value] = min(best.get(value, point.seconds), point.seconds)
        if len(best) < 2:
            continue
        least = min(best.values())
        for value, seconds in best.items():
            ratios.setdefault(value, []).append(log(seconds / least))
        first = each.points[0]
        if first.seconds is not None and name in first.knobs:
            losses.append(log(best[canonical(first.knobs[name])] / least))
    if not losses:
        return None
    values = [KnobValue(value, exp(fmean(own)), len(own)) for value, own in ratios.items()]
    values.sort(key=lambda each: (each.ratio, each.value))
    return KnobWorth(family, name, len(losses), exp(fmean(losses)), tuple(values))


__all__ = ["FailureClass", "Findings", "KnobValue", "KnobWorth", "StoragePair"]
