"""The best configurations of logs, for templates that are called in a context."""

from __future__ import annotations

from collections.abc import Iterable
from io import TextIOBase
from os import PathLike
from pathlib import Path
from typing import Any

from .measure.log import Record, cost_of, load_from_buffer, load_from_file
from .task.dispatcher import DispatchContext
from .task.space import ConfigSpace


class ApplyHistoryBest(DispatchContext):
    """Templates get the fastest configuration of some records.

    A record of the same target is preferred to one of another target of the same kind.

    Parameters
    ----------
    records : str, path, file, iterable of records, list of these, or None
        Logs, or pairs of a MeasureInput and a MeasureResult.

    Raises
    ------
    TVMError
        As :func:`.load_from_file`.
    """

    def __init__(self, records: Any) -> None:
        super().__init__()
        self._best: dict[tuple[str, Any], tuple[float, ConfigSpace]] = {}
        self._given: dict[tuple[str, Any], ConfigSpace] = {}
        if records is not None:
            self.load(records)

    def load(self, records: Any) -> None:
        """Add records, as for the constructor."""
        for inp, result in _records_of(records):
            if result.error_no == 0:
                cost = cost_of(result)
                for target in {str(inp.target), _kind(inp.target)}:
                    key = (target, inp.task.workload)
                    if key not in self._best or cost < self._best[key][0]:
                        self._best[key] = (cost, inp.config)

    def _query_inside(self, target: Any, workload: tuple[Any, ...] | None) -> ConfigSpace | None:
        keys = [(str(target), workload), (_kind(target), workload)]
        given = [self._given[each] for each in keys[:1] if each in self._given]
        found = [self._best[each][1] for each in keys if each in self._best]
        return next(iter([*given, *found]), None)

    def update(self, target: Any, workload: tuple[Any, ...], cfg: ConfigSpace) -> None:
        """Give a template this configuration, whatever the records say."""
        self._given[str(target), workload] = cfg


def _kind(target: Any) -> str:
    return str(target).split(" ", 1)[0]


def _records_of(source: Any) -> Iterable[Record]:
    if isinstance(source, TextIOBase):
        return load_from_buffer(source)
    if isinstance(source, (str, PathLike)):
        return load_from_file(Path(source))
    each = list(source)
    if each and isinstance(each[0], (str, PathLike, TextIOBase)):
        return (record for one in each for record in _records_of(one))
    return each


apply_history_best = ApplyHistoryBest

__all__ = ["ApplyHistoryBest", "apply_history_best"]
