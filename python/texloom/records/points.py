"""What the trials of a subject say about its points. Needs only the standard library."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

from .trial import Trial, Verification, canonical


@dataclass(frozen=True)
class Point:
    """A point of a kernel's space, with its trials.

    Attributes
    ----------
    knobs : mapping of str to Any
    trials : tuple of Trial
        At least one, in the order in which they were given; none that another one took the place
        of.
    """

    knobs: Mapping[str, Any]
    trials: tuple[Trial, ...]

    @property
    def seconds(self) -> float | None:
        """The median of the trials' medians; None if one of them failed."""
        known = [each.seconds for each in self.trials if each.seconds is not None]
        return median(known) if len(known) == len(self.trials) else None

    @property
    def is_verified(self) -> bool:
        """Whether all trials have times, and outputs that were compared and were right."""
        return all(each.verification is Verification.PASSED for each in self.trials)


def standing(trials: Iterable[Trial]) -> list[Trial]:
    """Return trials without those that another one took the place of, in their order.

    A trial takes the place of its parent if it has the same subject, device and knobs: it was
    measured again, because the earlier time is in doubt.
    """
    given = list(trials)
    own = {each.id: each for each in given}
    replaced = {
        each.parent
        for each in given
        if each.parent in own and _measures_again(each, own[each.parent])
    }
    return [each for each in given if each.id not in replaced]


def _measures_again(one: Trial, other: Trial) -> bool:
    return (
        one.knobs == other.knobs
        and one.place.device == other.place.device
        and one.subject.identity == other.subject.identity
    )


def points_of(trials: Iterable[Trial]) -> list[Point]:
    """Return the points of one subject's trials on one device, in the order of first trials."""
    found: dict[str, list[Trial]] = {}
    for each in standing(trials):
        found.setdefault(canonical(dict(each.knobs)), []).append(each)
    return [Point(own[0].knobs, tuple(own)) for own in found.values()]


def best_point(trials: Iterable[Trial]) -> Point | None:
    """Return the fastest verified point of one subject's trials on one device; None without one."""
    known = [each for each in points_of(trials) if each.is_verified]
    return min(known, key=lambda each: each.seconds or 0.0, default=None)


__all__ = ["Point", "best_point", "points_of", "standing"]
