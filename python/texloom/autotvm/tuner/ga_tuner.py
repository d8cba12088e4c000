"""A tuner by a genetic search."""

from __future__ import annotations

from ...tuning.search import GeneticSearch
from ..task.task import Task
from .searching import SearchTuner


class GATuner(SearchTuner):
    """Configurations whose knobs are those of fast ones: :class:`.GeneticSearch`.

    Parameters
    ----------
    task : Task
    pop_size : int
        The random configurations at first, and the most parents.
    elite_num : int
        The fastest configurations, of which each further one has at least one as a parent.
    mutation_prob : float
        The probability that a knob has a random value.
    seed : int
    """

    def __init__(
        self,
        task: Task,
        pop_size: int = 100,
        elite_num: int = 3,
        mutation_prob: float = 0.1,
        seed: int = 0,
    ) -> None:
        self.pop_size = min(pop_size, task.config_space.range_length)
        super().__init__(task, GeneticSearch(seed, self.pop_size, elite_num, mutation_prob))


__all__ = ["GATuner"]
