"""The loop of a tuner: it chooses configurations, has them measured, and tells callbacks."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ...tuning.declared import is_collecting
from ..measure import MeasureInput, MeasureResult, create_measure_batch
from ..measure.log import Record, cost_of
from ..task.space import ConfigEntity
from ..task.task import Task

_LOGGER = logging.getLogger("autotvm")
_PREFIXES = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}

Callback = Callable[["Tuner", Sequence[MeasureInput], Sequence[MeasureResult]], object]


def format_si_prefix(value: float, si_prefix: str) -> float:
    """Return a number in units of a prefix: ``""``, ``"K"``, ``"M"``, ``"G"`` or ``"T"``."""
    return value / _PREFIXES[si_prefix.upper()]


class Tuner(ABC):
    """A tuner of a task; subclasses choose configurations.

    Parameters
    ----------
    task : Task

    Attributes
    ----------
    task : Task
    best_config : ConfigEntity or None
        The fastest one; None if all have failed.
    best_flops : float
        Its operations per second, by :attr:`.Task.flop`.
    best_measure_pair : tuple or None
        Its MeasureInput and MeasureResult.
    best_iter : int
        The number of the trial in which it was found.
    n_trial, ttl : int
        The trials of :meth:`tune`, and how many are left.
    """

    def __init__(self, task: Task, **kwargs: Any) -> None:
        self.task, self.param = task, kwargs
        self.n_trial = self.ttl = 0
        self.early_stopping: float = 0
        self._most_errors = 150
        self.reset()

    def reset(self) -> None:
        """Forget the best configuration."""
        self.best_config: ConfigEntity | None = None
        self.best_flops = 0.0
        self.best_measure_pair: Record | None = None
        self.best_iter = 0
        self._best_cost = float("inf")

    @abstractmethod
    def has_next(self) -> bool:
        """Whether there are configurations that were not measured."""

    @abstractmethod
    def next_batch(self, batch_size: int) -> list[ConfigEntity]:
        """Return up to so many configurations that were not measured."""

    def update(  # noqa: B027 (a tuner need not learn)
        self, inputs: Sequence[MeasureInput], results: Sequence[MeasureResult]
    ) -> None:
        """Learn from configurations that were measured."""

    def load_history(self, data_set: Iterable[Record], min_seed_records: int = 500) -> None:
        """Learn from records of this task, or of similar ones."""
        raise NotImplementedError

    def set_error_threshold(self, threshold: int) -> None:
        """Warn after so many failures in a row."""
        self._most_errors = threshold

    def tune(
        self,
        n_trial: int,
        measure_option: Mapping[str, Any],
        early_stopping: int | None = None,
        callbacks: Sequence[Callback] = (),
        si_prefix: str = "G",
    ) -> None:
        """Measure configurations until none are left, or for so many trials.

        Under ``texloom tune SCRIPT.py``, which tunes the tasks of a script itself, it does nothing.

        Parameters
        ----------
        n_trial : int
        measure_option : dict
            The result of :func:`.measure_option`.
        early_stopping : int, optional
            Ends after so many trials without a faster configuration.
        callbacks : sequence of callable
            Are given the tuner, inputs and results after each batch.
        si_prefix : str
            Of operations per second in the lines of the logger ``autotvm``.
        """
        if is_collecting():
            return
        measure_batch = create_measure_batch(self.task, measure_option)
        size = getattr(measure_batch, "n_parallel", 1)
        self.n_trial, self.early_stopping = n_trial, early_stopping or float("inf")
        done = errors = 0
        format_si_prefix(0, si_prefix)  # a wrong one is an error before the first trial
        try:
            while done < n_trial and self.has_next():
                configs = self.next_batch(min(size, n_trial - done))
                if not configs:
                    break
                inputs = [MeasureInput(self.task.target, self.task, each) for each in configs]
                results = measure_batch(inputs)
                for number, pair in enumerate(zip(inputs, results, strict=True), start=done):
                    errors = 0 if pair[1].error_no == 0 else errors + 1
                    self._keep(number, *pair, si_prefix)
                done += len(results)
                self.ttl = int(min(self.early_stopping + self.best_iter, n_trial)) - done
                self.update(inputs, results)
                for callback in callbacks:
                    callback(self, inputs, results)
                if done >= self.best_iter + self.early_stopping:
                    _LOGGER.debug("Early stopped. Best iter: %d.", self.best_iter)
                    break
                if errors > self._most_errors:
                    errors = 0
                    _LOGGER.warning(
                        "%d configurations in a row have failed, the last one: %s",
                        self._most_errors,
                        results[-1].costs[0],
                    )
        finally:
            for each in (measure_option["builder"], measure_option["runner"]):
                close = getattr(each, "close", None)
                if close is not None:
                    close()

    def _keep(self, number: int, inp: MeasureInput, result: MeasureResult, prefix: str) -> None:
        flops = 0.0
        if result.error_no == 0:
            cost = cost_of(result)
            flops = self.task.flop / cost
            if cost < self._best_cost:
                self._best_cost, self.best_flops, self.best_config = cost, flops, inp.config
                self.best_measure_pair, self.best_iter = (inp, result), number
        _LOGGER.debug(
            "No: %d\t%sFLOPS: %.2f/%.2f\tresult: %s\t%s",
            number + 1,
            prefix,
            format_si_prefix(flops, prefix),
            format_si_prefix(self.best_flops, prefix),
            result,
            inp.config,
        )


__all__ = ["Callback", "Tuner", "format_si_prefix"]
