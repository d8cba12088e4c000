"""Results by configurations, in memory: what scripts keep beside logs."""

from __future__ import annotations

from typing import Any

from .measure import MeasureInput, MeasureResult
from .measure.log import measure_str_key


class DummyDatabase:
    """Results of this process. For results that outlast it, give a LocalRunner `records`."""

    def __init__(self) -> None:
        self.flush()

    def flush(self) -> None:
        """Forget all results."""
        self._results: dict[str, list[MeasureResult]] = {}

    def save(self, inp: MeasureInput, res: MeasureResult, extend: bool = False) -> None:
        """Keep the result of a configuration: beside earlier ones if `extend`, else alone."""
        key = measure_str_key(inp)
        self._results[key] = [*(self._results.get(key, ()) if extend else ()), res]

    def load(self, inp: MeasureInput, get_all: bool = False) -> Any:
        """Return the latest result of a configuration, or None; all of them if `get_all`."""
        found = self._results.get(measure_str_key(inp), [])
        if get_all:
            return list(found)
        return max(found, key=lambda each: each.timestamp, default=None)


__all__ = ["DummyDatabase"]
