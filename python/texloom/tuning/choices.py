"""Spaces of knobs that users declare: products of values, which nothing lists if they are large."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from ..ops.schedules.family import MOST_POINTS, Space

_DRAWN = 2048
"""Points of a large space that a search sees at a time."""


class Point(Mapping[str, Any]):
    """A value for each knob, by name. Lists become tuples, so that points can be keys.

    Parameters
    ----------
    values : mapping of str to Any
        What JSON has, by name.
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = {name: _hashable(each) for name, each in values.items()}

    def __getitem__(self, name: str) -> Any:
        """Return the value of a knob."""
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of knobs."""
        return iter(self._values)

    def __len__(self) -> int:
        """Return the number of knobs."""
        return len(self._values)

    def __hash__(self) -> int:
        """Return the hash of the values, in any order of the names."""
        return hash(frozenset(self._values.items()))

    def __repr__(self) -> str:
        return f"Point({self._values})"


def _hashable(value: Any) -> Hashable:
    if isinstance(value, (list, tuple)):
        return tuple(map(_hashable, value))
    made: Hashable = value
    return made


@dataclass(frozen=True)
class Drawn(Space[Point]):
    """Some points of a space, or all."""

    def neighbors(self, knobs: Point) -> list[Point]:
        """Return the other points, those first that differ from `knobs` in the fewest knobs."""
        differences = {
            each: sum(each[name] != value for name, value in knobs.items())
            for each in self.points
            if each != knobs
        }
        return sorted(differences, key=differences.__getitem__)


Rule = Callable[[Point], bool]
"""Whether a point is legal."""


@dataclass(frozen=True)
class Choices:
    """All combinations of the values of some knobs, except those that break a rule.

    Points have numbers: the first knob changes fastest.

    Attributes
    ----------
    knobs : mapping of str to sequence
        The values of each knob, by name.
    rules : mapping of str to callable
        What holds for legal points, by what it says.
    """

    knobs: Mapping[str, Sequence[Any]]
    rules: Mapping[str, Rule] = field(default_factory=dict)

    @cached_property
    def size(self) -> int:
        """The number of points, with those that break rules."""
        return prod(map(len, self.knobs.values()))

    def point(self, index: int) -> Point:
        """Return the point with this number, legal or not; IndexError if there is none."""
        places = self.places(index)
        return Point({name: own[places[name]] for name, own in self.knobs.items()})

    def places(self, index: int) -> dict[str, int]:
        """Return the place of each knob's value in the point with this number, as :meth:`point`."""
        if not 0 <= index < self.size:
            raise IndexError(f"there is no point {index}: the space has {self.size}")
        places = {}
        for name, own in self.knobs.items():
            index, places[name] = divmod(index, len(own))
        return places

    def index(self, point: Mapping[str, Any]) -> int | None:
        """Return the number of a point; None if the space has no such values."""
        if set(point) != set(self.knobs):
            return None
        found, step = 0, 1
        for name, places in self._places.items():
            place = places.get(_hashable(point[name]))
            if place is None:
                return None
            found, step = found + place * step, step * len(self.knobs[name])
        return found

    @cached_property
    def _places(self) -> dict[str, dict[Hashable, int]]:
        """The place of each value of a knob; the first one of equal values."""
        return {
            name: {_hashable(each): place for place, each in reversed(list(enumerate(own)))}
            for name, own in self.knobs.items()
        }

    def broken(self, point: Point) -> str | None:
        """Return the rule that a point breaks; None if it is legal."""
        return next((rule for rule, holds in self.rules.items() if not holds(point)), None)

    def drawn(self, indices: Iterable[int]) -> Drawn:
        """Return the legal ones of some points, and how many break which rule."""
        legal: dict[Point, None] = {}
        cut: Counter[str] = Counter()
        for point in map(self.point, indices):
            broken = self.broken(point)
            if broken is None:
                legal[point] = None
            else:
                cut[broken] += 1
        return Drawn(tuple(legal), dict(cut))

    def neighbors(self, point: Mapping[str, Any]) -> Iterator[int]:
        """Yield the numbers of the points that differ from a point in one knob."""
        for name, own in self.knobs.items():
            for value in own:
                if _hashable(value) != point[name]:
                    found = self.index({**point, name: value})
                    assert found is not None
                    yield found


@dataclass
class Drawing:
    """Which points of a space a search sees: all, or at random some, and neighbors of the best.

    Attributes
    ----------
    choices : Choices
    seed : int
    first, last : int
        The numbers of the first point and of the last one that may be chosen.
    """

    choices: Choices
    seed: int = 0
    first: int = 0
    last: int = -1

    def __post_init__(self) -> None:
        if self.last < 0:
            self.last = self.choices.size - 1
        self._random = np.random.default_rng(self.seed)
        self._next = self.first

    @property
    def length(self) -> int:
        """The number of points, with those that break rules."""
        return self.last - self.first + 1

    def has(self, point: Point) -> bool:
        """Whether a point may be chosen."""
        index = self.choices.index(point)
        is_inside = index is not None and self.first <= index <= self.last
        return is_inside and self.choices.broken(point) is None

    @property
    def has_all(self) -> bool:
        """Whether all points are drawn at once."""
        return self.length <= MOST_POINTS

    def all_in_order(self) -> Drawn:
        """Return the next points in their order; all of them if there are few."""
        if self.has_all:
            return self.choices.drawn(range(self.first, self.last + 1))
        begin, self._next = self._next, min(self._next + _DRAWN, self.last + 1)
        return self.choices.drawn(range(begin, self._next))

    def at_random(self, best: Iterable[Point]) -> Drawn:
        """Return points in a random order; neighbors of the best ones first if there are many."""
        if self.has_all:
            order = self._random.permutation(self.length)
            return self.choices.drawn(self.first + int(each) for each in order)
        near = [index for each in best for index in self.choices.neighbors(each)]
        near = [index for index in near if self.first <= index <= self.last]
        # Spaces may have more points than NumPy's integers have values.
        parts = self._random.integers(0, 1 << 30, (_DRAWN, 3))
        far = [
            self.first + ((int(a) << 60 | int(b) << 30 | int(c)) % self.length) for a, b, c in parts
        ]
        return self.choices.drawn([*near, *far])


__all__ = ["Choices", "Drawing", "Drawn", "Point", "Rule"]
