"""What is measured, what came of it, and who builds and runs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Any, NamedTuple

from ..task.space import ConfigEntity
from ..task.task import Task

_BATCH = 8


class MeasureErrorNo(IntEnum):
    """Why a configuration has no times, as logs have it."""

    NO_ERROR = 0
    INSTANTIATION_ERROR = 1
    COMPILE_HOST = 2
    COMPILE_DEVICE = 3
    RUNTIME_DEVICE = 4
    WRONG_ANSWER = 5
    BUILD_TIMEOUT = 6
    RUN_TIMEOUT = 7
    UNKNOWN_ERROR = 8


class MeasureInput(NamedTuple):
    """A configuration to measure.

    Attributes
    ----------
    target : Target
    task : Task
    config : ConfigEntity
    """

    target: Any
    task: Task
    config: ConfigEntity


class MeasureResult(NamedTuple):
    """What came of it.

    Attributes
    ----------
    costs : tuple
        All times, in seconds for each run; an exception if it failed.
    error_no : int
        One of :class:`MeasureErrorNo`.
    all_cost : float
        The seconds of the whole trial.
    timestamp : float
        When it ended, in seconds since 1970.
    """

    costs: tuple[Any, ...]
    error_no: int
    all_cost: float
    timestamp: float


class Builder(ABC):
    """Builds configurations.

    Parameters
    ----------
    timeout : float
        The seconds that a build may take.
    n_parallel : int, optional
        How many configurations are given to it at a time.
    """

    def __init__(self, timeout: float = 10, n_parallel: int | None = None) -> None:
        self.timeout, self.n_parallel = timeout, n_parallel or _BATCH
        self.task: Task | None = None
        self.build_kwargs: Mapping[str, Any] = {}

    def set_task(self, task: Task, build_kwargs: Mapping[str, Any] | None = None) -> None:
        """Say for which task configurations will be built."""
        self.task, self.build_kwargs = task, dict(build_kwargs or {})

    @abstractmethod
    def build(self, measure_inputs: Sequence[MeasureInput]) -> Sequence[Any]:
        """Return what the runner needs of each configuration."""

    def close(self) -> None:  # noqa: B027 (most builders hold nothing)
        """Release what the builder holds; it may be used again."""


class Runner(ABC):
    """Measures configurations.

    Parameters
    ----------
    timeout : float
        The seconds that runs of a configuration may take.
    n_parallel : int, optional
        Accepted for the sake of existing scripts: a device measures one after another.
    """

    def __init__(self, timeout: float = 5, n_parallel: int | None = None) -> None:
        self.timeout, self.n_parallel = timeout, n_parallel or 1
        self.task: Task | None = None

    def set_task(self, task: Task) -> Any:
        """Say for which task configurations will be measured."""
        self.task = task

    def get_build_kwargs(self) -> Mapping[str, Any]:
        """Return what the builder must know of the device."""
        return {}

    @abstractmethod
    def run(
        self, measure_inputs: Sequence[MeasureInput], build_results: Sequence[Any]
    ) -> Sequence[MeasureResult]:
        """Return what came of each configuration."""

    def close(self) -> None:  # noqa: B027 (most runners hold nothing)
        """Release what the runner holds; it may be used again."""


__all__ = [
    "Builder",
    "MeasureErrorNo",
    "MeasureInput",
    "MeasureResult",
    "Runner",
]
