"""Searches of a kernel's space: which points to measure next."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from importlib.util import find_spec
from itertools import islice
from math import log
from statistics import median
from typing import Any

import numpy as np

from ..errors import refuse
from ..ops.schedules.family import Kernel, KernelTask, Space
from .features import numbers_of, table_of

_LEAST_TO_LEARN = 12
"""Trials of a family from which a model says more than the estimates."""
_SURPRISES = 0.2
"""The share of points that are not the model's first choices, so that it sees others."""
_CHILDREN = 20
"""Children that are made for each one that is wanted: most may be known, or illegal."""
_FAILED = 4.0
"""A failed point counts as so many times as slow as the default."""

_PARAMETERS = {
    "objective": "regression",
    "num_iterations": 80,
    "num_leaves": 15,
    "min_data_in_leaf": 3,
    "num_threads": 1,
    "verbosity": -1,
}
"""Of LightGBM; there are few trials."""


@dataclass
class Searched:
    """A kernel's space, and what is known of it.

    Attributes
    ----------
    kernel : tuple
        The family, or the name of a user's function; and the facts.
    space : Space
        All legal points.
    default : Any
    estimates : sequence of float
        The estimated seconds of each point; empty if the family has none.
    trials : dict of knobs to list of float
        The seconds of each trial of a point; empty if it failed.
    """

    kernel: tuple[Any, Any]
    space: Space[Any]
    default: Any
    estimates: Sequence[float] = ()
    trials: dict[Any, list[float]] = field(default_factory=dict)

    @classmethod
    def of(cls, kernel: Kernel, task: KernelTask) -> Searched:
        """Return the space of a kernel, of which nothing is measured."""
        family = kernel[0]
        space = family.space(task)
        estimates = []
        if family.is_estimated:
            estimates = [family.seconds(kernel[1], each, task.profile) for each in space]
        return cls(kernel, space, family.default(task), estimates)

    @property
    def points(self) -> tuple[Any, ...]:
        """All legal points."""
        return self.space.points

    def seconds_of(self, knobs: Any) -> float | None:
        """Return the median of a point's trials; None if it has none, or failed."""
        known = self.trials.get(knobs)
        return median(known) if known else None

    @property
    def size(self) -> int:
        """The number of points that may be measured."""
        return len(self.points)

    def values_of(self, knobs: Any) -> Mapping[str, Any]:
        """Return the values of knobs by name."""
        return {each.name: getattr(knobs, each.name) for each in fields(knobs)}

    def with_values(self, knobs: Any, values: Mapping[str, Any]) -> Any:
        """Return a point with these values, other knobs unchanged; None if it is not legal."""
        changed = replace(knobs, **values)
        return changed if changed in self._legal else None

    @cached_property
    def _legal(self) -> frozenset[Any]:
        return frozenset(self.points)

    def new(self, ordered: Sequence[Any], count: int) -> list[Any]:
        """Return the first of some points that are not measured yet."""
        return list(islice((each for each in ordered if each not in self.trials), count))

    @property
    def best(self) -> Any:
        """The fastest measured point; the default if there is none."""
        known = {each: median(seconds) for each, seconds in self.trials.items() if seconds}
        return min(known, key=known.__getitem__, default=self.default)

    @property
    def best_seconds(self) -> float | None:
        """The seconds of :attr:`best`; None if no point was measured."""
        return self.seconds_of(self.best)

    @property
    def default_seconds(self) -> float | None:
        """The measured seconds of the default."""
        return self.seconds_of(self.default)

    @cached_property
    def relative_estimates(self) -> Mapping[Any, float]:
        """The logarithms of estimates, relative to that of the default; empty without estimates."""
        by_point = dict(zip(self.points, self.estimates, strict=True)) if self.estimates else {}
        base = by_point.get(self.default)
        if not base:
            return {}
        return {knobs: log(max(each, 1e-12) / base) for knobs, each in by_point.items()}

    @property
    def base_seconds(self) -> float | None:
        """The seconds of the default; of the best point if the default has none."""
        return self.default_seconds or self.best_seconds

    def draw(self, is_ordered: bool) -> None:
        """Choose points of a space that is too large to be listed; others have all of them.

        `is_ordered` says whether they are searched in their order.
        """

    def by_estimate(self) -> list[Any]:
        """Return all points, those that are estimated to be fastest first."""
        if not self.estimates:
            return list(self.points)
        order = np.argsort(np.asarray(self.estimates), kind="stable")
        return [self.points[int(each)] for each in order]


class Search(ABC):
    """A search: it may see all kernels, to learn from similar ones.

    Parameters
    ----------
    seed : int
    """

    name: str
    is_ordered = False

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)

    @abstractmethod
    def next(self, one: Searched, count: int, others: Sequence[Searched]) -> list[Any]:
        """Return up to `count` points of a kernel that are not measured yet, the best first.

        None are left if the list is empty. `others` are kernels of the same family.
        """

    def shuffled(self, one: Searched) -> list[Any]:
        """Return all points in a random order."""
        return [one.points[int(each)] for each in self.random.permutation(len(one.points))]


class GridSearch(Search):
    """All points in their order."""

    name = "grid"
    is_ordered = True

    def next(self, one: Searched, count: int, others: Sequence[Searched]) -> list[Any]:
        """Return the first points."""
        del others
        return one.new(one.points, count)


class RandomSearch(Search):
    """Points in a random order."""

    name = "random"

    def next(self, one: Searched, count: int, others: Sequence[Searched]) -> list[Any]:
        """Return random points."""
        del others
        return one.new(self.shuffled(one), count)


class DirectedSearch(Search):
    """Neighbors of the best point so far, those first that differ in the fewest knobs."""

    name = "directed"

    def next(self, one: Searched, count: int, others: Sequence[Searched]) -> list[Any]:
        """Return neighbors."""
        del others
        neighbors = one.space.neighbors(one.best)
        return one.new(neighbors, count)


class GeneticSearch(Search):
    """Children of fast points: each knob has the value of one of two parents, or a random one.

    Parameters
    ----------
    seed : int
    population : int
        The random points before the first children, and the most parents.
    elite : int
        The fastest points, of which each child has at least one as a parent.
    mutation : float
        The probability that a knob has a random value.
    """

    name = "genetic"

    def __init__(
        self, seed: int, population: int = 16, elite: int = 3, mutation: float = 0.1
    ) -> None:
        super().__init__(seed)
        self._population, self._elite, self._mutation = population, elite, mutation

    def next(self, one: Searched, count: int, others: Sequence[Searched]) -> list[Any]:
        """Return children; random points at first, and where there are no other ones."""
        del others
        chosen: dict[Any, None] = {}
        known = [(one.seconds_of(each), each) for each in one.trials]
        ranked = sorted(((s, each) for s, each in known if s), key=lambda pair: pair[0])
        parents = [each for _, each in ranked[: self._population]]
        if len(one.trials) >= self._population and len(parents) > 1:
            for _ in range(_CHILDREN * count):
                if len(chosen) < count:
                    child = self._child(one, parents)
                    if child is not None and child not in one.trials:
                        chosen[child] = None
        for each in one.new(self.shuffled(one), count + len(chosen)):
            if len(chosen) < count:
                chosen[each] = None
        return list(chosen)

    def _child(self, one: Searched, parents: Sequence[Any]) -> Any:
        first = parents[int(self.random.integers(min(self._elite, len(parents))))]
        second, other = (
            each[int(self.random.integers(len(each)))] for each in (parents, one.points)
        )
        names = list(one.values_of(first))
        sources = [
            other if self.random.random() < self._mutation else second if coin else first
            for coin in self.random.integers(0, 2, len(names))
        ]
        pairs = zip(names, sources, strict=True)
        return one.with_values(first, {name: one.values_of(own)[name] for name, own in pairs})


class ModelSearch(Search):
    """What the estimates prefer first, then what a model that learns from trials prefers.

    The model (gradient-boosted trees, LightGBM) predicts how many times as long as the default a
    point takes, from its knobs, the facts of the kernel and the estimate, and is fitted to the
    trials of all kernels of the family. A share of the points is random, or differs little from the
    best one.

    Raises
    ------
    TVMError
        TL5016 if the package lightgbm is missing.
    """

    name = "model"

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        if find_spec("lightgbm") is None:
            refuse(
                "UnknownName",
                "a search by a model needs the Python package lightgbm",
                "pip install 'texloom[tune]', or search without a model, as --search directed",
            )

    def next(self, one: Searched, count: int, others: Sequence[Searched]) -> list[Any]:
        """Return points by the model, or by estimates while there are few trials."""
        learned = [each for each in others if each.base_seconds]
        trials = sum(len(each.trials) for each in learned)
        ordered = one.by_estimate()
        if trials >= _LEAST_TO_LEARN:
            ordered = self._by_model(one, learned)
        surprises = min(count - 1, round(count * _SURPRISES))
        chosen = one.new(ordered, count - surprises)
        near = one.space.neighbors(one.best)
        for source in (near, self.shuffled(one)):
            share = -(-surprises // 2) if source is near else count - len(chosen)
            chosen += [each for each in one.new(source, len(chosen) + share) if each not in chosen][
                :share
            ]
        return chosen[:count]

    def _by_model(self, one: Searched, learned: Sequence[Searched]) -> list[Any]:
        import lightgbm

        rows, labels = [], []
        for each in learned:
            base = each.base_seconds
            if base is None:
                continue
            estimates = each.relative_estimates
            for knobs in each.trials:
                seconds = each.seconds_of(knobs)
                rows.append([*_facts(each), estimates.get(knobs, 0.0), *numbers_of(knobs)])
                labels.append(log(_FAILED if seconds is None else seconds / base))
        estimates = one.relative_estimates
        left = one.new(one.points, len(one.points))
        if not left:
            return []
        table = table_of(
            rows + [[*_facts(one), estimates.get(k, 0.0), *numbers_of(k)] for k in left]
        )
        known = lightgbm.Dataset(table[: len(rows)], np.asarray(labels))
        model = lightgbm.train(_PARAMETERS | {"seed": int(self.random.integers(1 << 30))}, known)
        predicted = np.asarray(model.predict(table[len(rows) :]))
        return [left[int(each)] for each in np.argsort(predicted, kind="stable")]


def _facts(one: Searched) -> list[float]:
    return numbers_of(one.kernel[1])


SEARCHES: dict[str, type[Search]] = {
    each.name: each
    for each in (ModelSearch, DirectedSearch, GeneticSearch, RandomSearch, GridSearch)
}
"""All searches by name."""

__all__ = [
    "SEARCHES",
    "DirectedSearch",
    "GeneticSearch",
    "GridSearch",
    "ModelSearch",
    "RandomSearch",
    "Search",
    "Searched",
]
