"""How long something worked, where several things may work at the same time."""

from __future__ import annotations

from threading import Lock


class WorkingTime:
    """The length of the union of intervals, which threads add in any order."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._intervals: list[tuple[float, float]] = []

    def add(self, begin: float, end: float) -> None:
        """Add an interval, in seconds of one monotonic clock."""
        with self._lock:
            merged: list[tuple[float, float]] = []
            for each in self._intervals:
                if each[1] < begin or end < each[0]:
                    merged.append(each)
                else:
                    begin, end = min(begin, each[0]), max(end, each[1])
            self._intervals = [*merged, (begin, end)]

    @property
    def seconds(self) -> float:
        """The seconds in which at least one interval was."""
        with self._lock:
            return sum(end - begin for begin, end in self._intervals)


__all__ = ["WorkingTime"]
