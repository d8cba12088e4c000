"""The trials of one kernel on one device, in the order in which they were made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from ...ops.schedules.families import FAMILIES, KernelKind
from ...records import MeasuredDevice, Subject, Trial
from ...records.points import Point, best_point, points_of, standing

_TEXELS = frozenset(each.name for each in FAMILIES[KernelKind.TEXELS])


@dataclass(frozen=True)
class Course:
    """How a kernel was tuned on a device.

    Attributes
    ----------
    subject : Subject
    device : MeasuredDevice
    trials : tuple of Trial
        All of them, in the order in which they began; at least one.
    count : int
        How often a run of the network has the kernel; 1 if that is not known.
    """

    subject: Subject
    device: MeasuredDevice
    trials: tuple[Trial, ...]
    count: int = 1

    @cached_property
    def points(self) -> Sequence[Point]:
        """The points, the first one first: in a run of the tuner, that is the default."""
        return points_of(self.trials)

    @property
    def first_seconds(self) -> float | None:
        """The seconds of the first point; None if it failed."""
        return self.points[0].seconds

    @cached_property
    def best(self) -> Point | None:
        """The fastest verified point; None without one."""
        return best_point(self.trials)

    @property
    def best_seconds(self) -> float | None:
        """The seconds of the fastest point."""
        return None if self.best is None else self.best.seconds

    @property
    def speedup(self) -> float | None:
        """How many times as fast the best point is as the first one; None without either."""
        first, best = self.first_seconds, self.best_seconds
        return first / best if first and best else None

    @property
    def saved(self) -> float:
        """The seconds of a run that the best point saves."""
        first, best = self.first_seconds, self.best_seconds
        return self.count * (first - best) if first and best else 0.0

    @property
    def weight(self) -> float:
        """The seconds of a run with the first point, or else with the best one."""
        return self.count * (self.first_seconds or self.best_seconds or 0.0)

    @property
    def is_of_texels(self) -> bool:
        """Whether the kernel writes a texture."""
        return self.subject.family in _TEXELS

    @cached_property
    def convergence(self) -> list[tuple[float | None, float | None]]:
        """For each trial that stands: its seconds, and the least so far; None if there are none."""
        found: list[tuple[float | None, float | None]] = []
        least: float | None = None
        for each in standing(self.trials):
            if each.seconds is not None:
                least = each.seconds if least is None else min(least, each.seconds)
            found.append((each.seconds, least))
        return found

    @property
    def interval(self) -> tuple[float, float] | None:
        """The bounds of the best point's time with 95 % confidence, of its trial in the middle."""
        if self.best is None:
            return None
        ordered = sorted(self.best.trials, key=lambda each: each.seconds or 0.0)
        return ordered[len(ordered) // 2].interval


def courses_of(trials: Iterable[Trial], counts: dict[str, int]) -> list[Course]:
    """Return the courses of trials of kernels, those that take most of a run first.

    `counts` are how often a run has each kernel, by the identities of subjects.
    """
    found: dict[tuple[str, MeasuredDevice], list[Trial]] = {}
    for each in trials:
        found.setdefault((each.subject.identity, each.place.device), []).append(each)
    courses = [
        Course(own[0].subject, device, tuple(own), counts.get(identity, 1))
        for (identity, device), own in found.items()
    ]
    return sorted(courses, key=lambda each: (-each.weight, each.subject.identity))


__all__ = ["Course", "courses_of"]
