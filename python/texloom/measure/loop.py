"""The timing loop: it warms up, then takes samples of all arms in turns.

An *arm* is an implementation that is timed beside others. This module imports only the record of a
measurement from Texloom.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, inf
from typing import Protocol

from .measurement import Measurement


class Timed(Protocol):
    """An implementation to time, in any process."""

    def seconds(self, count: int) -> float:
        """Mean seconds per run of `count` runs with one wait at the end."""


def seconds_of(run: Callable[[], object], sync: Callable[[], object] | None = None) -> float:
    """Return the seconds of one call; `sync` waits for the device before and after it."""
    if sync is not None:
        sync()
    begin = time.perf_counter()
    run()
    if sync is not None:
        sync()
    return time.perf_counter() - begin


@dataclass(frozen=True)
class Arm:
    """An implementation that runs in this process.

    Attributes
    ----------
    run : callable
        Does the work once, possibly without waiting for the device.
    sync : callable, optional
        Waits until all work is done.
    """

    run: Callable[[], object]
    sync: Callable[[], object] | None = None

    def seconds(self, count: int) -> float:
        """Mean seconds per run of `count` runs with one wait at the end."""

        def runs() -> None:
            for _ in range(count):
                self.run()

        return seconds_of(runs, self.sync) / count


@dataclass(frozen=True)
class BatchArm:
    """An implementation that is told how many runs to do, such as a compiled graph.

    Attributes
    ----------
    time : callable
        ``time(count)`` does `count` runs, and returns their total seconds.
    """

    time: Callable[[int], float]

    def seconds(self, count: int) -> float:
        """Mean seconds per run of `count` runs with one wait at the end."""
        return self.time(count) / count


@dataclass(frozen=True)
class Sampling:
    """How arms are sampled.

    Attributes
    ----------
    rounds : int
        Samples of each arm.
    sample_seconds : float
        The least duration of a sample: shorter runs are repeated.
    least_runs, most_runs : int
        Runs of a sample; `most_runs` takes precedence over `sample_seconds`.
    warm_up_seconds : float
        The least duration of the unmeasured runs. The first run compiles kernels and allocates
        memory; later runs fill caches and raise clocks.
    pause_seconds : float
        Pause after every `rounds_to_pause` rounds, so that the device cools down.
    rounds_to_pause : int
    rest_seconds : float
        Pause before each sample, so that threads of other arms stop looking for work.
    """

    rounds: int = 7
    sample_seconds: float = 0.02
    least_runs: int = 1
    most_runs: int = 1 << 30
    warm_up_seconds: float = 0.0
    pause_seconds: float = 0.0
    rounds_to_pause: int = 1
    rest_seconds: float = 0.0


def runs_of_sample(arm: Timed, sampling: Sampling) -> int:
    """Warm an arm up; return the runs of a sample."""
    end = time.monotonic() + sampling.warm_up_seconds
    arm.seconds(1)
    runs = sampling.least_runs
    while True:
        seconds = arm.seconds(runs) * runs
        if seconds < sampling.sample_seconds and runs < sampling.most_runs:
            enough = ceil(runs * sampling.sample_seconds / max(seconds, 1e-9))
            runs = min(max(2 * runs, enough), sampling.most_runs)
        elif time.monotonic() >= end:
            return runs


def measure(
    arms: Sequence[Timed], sampling: Sampling, hopeless_seconds: float = inf
) -> list[Measurement]:
    """Return the times of each arm.

    The arms alternate, and take turns in being the first of a round, so that changes of clock speed
    or load affect them about equally. An arm whose first sample takes longer than
    `hopeless_seconds` for each run gets no others.
    """
    runs = [runs_of_sample(arm, sampling) for arm in arms]
    results: list[list[float]] = [[] for _ in arms]
    for number in range(sampling.rounds):
        if number > 0 and number % sampling.rounds_to_pause == 0:
            time.sleep(sampling.pause_seconds)
        for place in range(len(arms)):
            turn = (place + number) % len(arms)
            if sampling.rest_seconds > 0:
                time.sleep(sampling.rest_seconds)
            if results[turn] and results[turn][0] > hopeless_seconds:
                continue
            results[turn].append(arms[turn].seconds(runs[turn]))
    return [Measurement(tuple(each), count) for each, count in zip(results, runs, strict=True)]


def medians(arms: Sequence[Timed], *, rounds: int = 7, sample_seconds: float = 0.02) -> list[float]:
    """Return the median seconds per run of each arm; see :func:`measure`."""
    sampling = Sampling(rounds, sample_seconds)
    return [each.median for each in measure(arms, sampling)]


__all__ = [
    "Arm",
    "BatchArm",
    "Sampling",
    "Timed",
    "measure",
    "medians",
    "runs_of_sample",
    "seconds_of",
]
