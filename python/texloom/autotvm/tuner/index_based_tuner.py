"""Tuners that choose configurations by their numbers."""

from __future__ import annotations

from ...tuning.search import GridSearch, RandomSearch
from ..task.task import Task
from .searching import SearchTuner


class RandomTuner(SearchTuner):
    """Configurations in a random order.

    Parameters
    ----------
    task : Task
    range_idx : pair of int, optional
        The numbers of the first and the last configuration that may be measured.
    seed : int
    """

    def __init__(self, task: Task, range_idx: tuple[int, int] | None = None, seed: int = 0) -> None:
        super().__init__(task, RandomSearch(seed), range_idx)


class GridSearchTuner(SearchTuner):
    """Configurations in their order. Parameters are those of :class:`RandomTuner`."""

    def __init__(self, task: Task, range_idx: tuple[int, int] | None = None) -> None:
        super().__init__(task, GridSearch(0), range_idx)


__all__ = ["GridSearchTuner", "RandomTuner"]
