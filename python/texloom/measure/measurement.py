"""The record of a measurement: the times, or why there are none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from statistics import fmean, median, pstdev, quantiles


class ErrorClass(Enum):
    """The class of the error that ended a measurement."""

    COMPILE = "compile"
    """The kernels could not be built, or their first run failed."""
    RUN = "run"
    """A later run failed, or the process that ran them ended."""
    TIMEOUT = "timeout"
    """The process was ended because it took too long."""


class MeasurementError(Exception):
    """A measurement that failed; the message says why.

    Attributes
    ----------
    error : ErrorClass
    """

    def __init__(self, error: ErrorClass, message: str) -> None:
        super().__init__(message)
        self.error = error


@contextmanager
def failing_as(error: ErrorClass) -> Iterator[None]:
    """Turn an exception that the body raises into a MeasurementError of this class."""
    try:
        yield
    except Exception as problem:
        raise MeasurementError(error, str(problem)) from problem


@dataclass(frozen=True)
class Measurement:
    """Times in seconds per run: `results` are means of `runs` consecutive runs.

    A failed measurement has no results, and so no statistics: check `error` first.

    Attributes
    ----------
    results : tuple of float
        Seconds per run, in the order of measurement. Empty if the measurement failed.
    runs : int
        Runs of each result.
    error : ErrorClass or None
        Why the measurement failed; None if it did not.
    message : str
        What was wrong.
    """

    results: tuple[float, ...]
    runs: int
    error: ErrorClass | None = None
    message: str = ""

    @property
    def median(self) -> float:
        """The median of the results."""
        return median(self.results)

    @property
    def quartiles(self) -> tuple[float, float, float]:
        """The lower quartile, the median and the upper quartile."""
        if len(self.results) == 1:
            return (self.results[0],) * 3
        lower, middle, upper = quantiles(self.results, method="inclusive")
        return lower, middle, upper

    @property
    def mean(self) -> float:
        """The mean of the results."""
        return fmean(self.results)

    @property
    def min(self) -> float:
        """The shortest result."""
        return min(self.results)

    @property
    def max(self) -> float:
        """The longest result."""
        return max(self.results)

    @property
    def std(self) -> float:
        """The standard deviation of the results."""
        return pstdev(self.results)


__all__ = ["ErrorClass", "Measurement", "MeasurementError", "failing_as"]
