"""A tuner by a search of ``texloom tune``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ...tuning.choices import Drawn, Point
from ...tuning.search import Search, Searched
from ..measure import MeasureInput, MeasureResult
from ..measure.log import Record, cost_of
from ..task.space import ConfigEntity
from ..task.task import Task
from .tuner import Tuner


class SearchTuner(Tuner):
    """A tuner by a search.

    Parameters
    ----------
    task : Task
    search : Search
    range_idx : pair of int, optional
        The numbers of the first and the last configuration that may be measured.

    Attributes
    ----------
    space : ConfigSpace
    visited : set of int
        The numbers of the configurations that were chosen.
    range_length, index_offset : int
        The number of configurations that may be chosen, and the number of the first one.
    """

    def __init__(
        self, task: Task, search: Search, range_idx: tuple[int, int] | None = None, **kwargs: Any
    ) -> None:
        self._search, self.space = search, task.config_space
        self.visited: set[int] = set()
        self._searched = task.kernel(limits=range_idx).searched
        self._others: list[Searched] = []
        self.index_offset = self._searched.drawing.first
        self.range_length = self._searched.drawing.length
        self._left: list[Point] = []
        super().__init__(task, **kwargs)

    @property
    def counter(self) -> int:
        """How many configurations were chosen."""
        return len(self.visited)

    def has_next(self) -> bool:
        """Whether there are configurations that were not chosen."""
        if not self._left:
            self._draw(1)
        return bool(self._left)

    def next_batch(self, batch_size: int) -> list[ConfigEntity]:
        """Return up to so many configurations that were not chosen."""
        if len(self._left) < batch_size:
            self._draw(batch_size)
        chosen, self._left = self._left[:batch_size], self._left[batch_size:]
        for each in chosen:  # none is chosen again, even if nobody tells what came of it
            self._searched.trials.setdefault(each, [])
        configs = [self.space.config_of(each) for each in chosen]
        self.visited |= {each.index for each in configs}
        return configs

    def _draw(self, count: int) -> None:
        """Choose configurations that were not chosen before."""
        one = self._searched
        one.draw(self._search.is_ordered)
        self._left = self._search.next(one, count, [one, *self._others])

    def update(self, inputs: Sequence[MeasureInput], results: Sequence[MeasureResult]) -> None:
        """Learn from configurations that were measured."""
        for inp, result in zip(inputs, results, strict=True):
            _learn(self._searched, inp, result)
        self._left = []  # they were chosen without these results

    def load_history(self, data_set: Iterable[Record], min_seed_records: int = 500) -> None:
        """Learn from records, of this task and of others of its template.

        Parameters
        ----------
        data_set : iterable of records
            Pairs of a MeasureInput and a MeasureResult, as :func:`.load_from_file` yields.
        min_seed_records : int
            Accepted for the sake of existing scripts: any number of records counts.
        """
        del min_seed_records
        found: dict[tuple[Any, ...], Searched] = {}
        for inp, result in data_set:
            if inp.task.name == self.task.name:
                own = found.setdefault(
                    inp.task.args, Searched((inp.task.name, inp.task.args), Drawn((), {}), None)
                )
                _learn(own, inp, result)
        self._others += found.values()


def _learn(searched: Searched, inp: MeasureInput, result: MeasureResult) -> None:
    times = searched.trials.setdefault(inp.config.point, [])
    if result.error_no == 0:
        times.append(cost_of(result))


__all__ = ["SearchTuner"]
