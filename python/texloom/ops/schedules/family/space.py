"""Spaces of knobs, and the choice of a point by estimates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from math import inf
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from ....profiles import DeviceProfile

F = TypeVar("F", bound=Hashable)
"""Facts: the properties of a task on which its space and its estimates depend."""
K = TypeVar("K", bound=Hashable)
"""Knobs."""

MOST_POINTS = 8192
"""The most points of a space, with those that break rules: so many steps choose the default."""
_DIGITS = 15
"""Digits of estimates that count, so that equal ones are equal, whatever was rounded."""


@dataclass(frozen=True)
class Space(Generic[K]):
    """The knobs that a family has for a task.

    Attributes
    ----------
    points : tuple
        The legal knobs, each once, in the order in which equal estimates are preferred.
    cut : mapping of str to int
        How many knobs were left out, by the rule that they break.
    """

    points: tuple[K, ...]
    cut: Mapping[str, int]

    @classmethod
    def of(cls, points: Iterable[tuple[K | None, str | None]]) -> Space[K]:
        """Return the space of the points of :meth:`Spaces.points`."""
        legal: dict[K, None] = {}
        cut: Counter[str] = Counter()
        for knobs, broken in points:
            if broken is not None:
                cut[broken] += 1
            elif knobs is not None:
                legal[knobs] = None
        return cls(tuple(legal), dict(cut))

    def __len__(self) -> int:
        """Return the number of legal points."""
        return len(self.points)

    def __iter__(self) -> Iterator[K]:
        """Iterate over the legal points."""
        return iter(self.points)

    def __contains__(self, knobs: object) -> bool:
        """Whether knobs are a legal point."""
        return knobs in self.points

    def neighbors(self, knobs: K) -> list[K]:
        """Return the other points, those first that differ from `knobs` in the fewest knobs."""
        differences = {each: _differences(each, knobs) for each in self.points if each != knobs}
        return sorted(differences, key=lambda each: differences[each])


def _differences(one: Any, other: Any) -> int:
    return sum(getattr(one, each.name) != getattr(other, each.name) for each in fields(one))


class Spaces(ABC, Generic[F, K]):
    """Spaces of knobs by facts, and the choice of a point.

    Attributes
    ----------
    name : str
        The name by which reports, and records of tuners, refer to it.
    version : int
        Whoever changes what the knobs of a point mean, or which kernel they make, increases it:
        then earlier measurements do not count any more (:mod:`texloom.records`).
    is_estimated : bool
        Whether there are estimates. If not, the points are in the order of preference.
    """

    name: ClassVar[str]
    version: ClassVar[int] = 1
    is_estimated: ClassVar[bool] = False

    @abstractmethod
    def points(self, facts: F) -> Iterable[tuple[K | None, str | None]]:
        """Return all points, and the rule that each breaks, or None; at most :data:`MOST_POINTS`.

        The knobs of a point that breaks a rule may be None.

        Rules are those of legality and of the device's limits: they are known before anything is
        built.
        """

    def seconds(self, facts: F, knobs: K, profile: DeviceProfile) -> float:
        """Return the seconds that the kernels are estimated to take, with their launches."""
        raise NotImplementedError(f"{self.name} has no estimates")

    def least(self, facts: F, profile: DeviceProfile) -> K | None:
        """Return the point with the least estimate, the first of equal ones; None without points.

        A family of thousands of points estimates all of them at once.
        """
        legal = tuple(self._legal(facts))
        place = first_of_least([self.seconds(facts, knobs, profile) for knobs in legal])
        return None if place is None else legal[place]

    def best(self, facts: F, profile: DeviceProfile) -> K | None:
        """Return the legal point with the least estimate, the first of equal ones.

        The first point if there are no estimates; None if there are no legal points.
        """
        if self.is_estimated:
            found: K | None = _least(self, facts, profile)
            return found
        return next(self._legal(facts), None)

    def least_seconds(self, facts: F, profile: DeviceProfile) -> float:
        """Return the estimate of the best point; infinity if there are no legal points."""
        knobs = self.best(facts, profile)
        return inf if knobs is None else self.seconds(facts, knobs, profile)

    def _legal(self, facts: F) -> Iterator[K]:
        return (k for k, broken in self.points(facts) if broken is None and k is not None)


@lru_cache(maxsize=4096)
def _least(spaces: Spaces[Any, Any], facts: Any, profile: DeviceProfile) -> Any:
    return spaces.least(facts, profile)


def first_of_least(seconds: Sequence[float] | NDArray[np.float64]) -> int | None:
    """Return the place of the first of the least estimates; None if there are no estimates."""
    return int(np.argmin(np.round(seconds, _DIGITS))) if len(seconds) else None


__all__ = ["MOST_POINTS", "F", "K", "Space", "Spaces", "first_of_least"]
