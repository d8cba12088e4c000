"""Alternating measurement of several implementations."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Protocol


class Timed(Protocol):
    """An implementation to compare, in any process."""

    def seconds(self, count: int) -> float:
        """Seconds of one run, of `count` runs that are waited for together."""


@dataclass(frozen=True)
class Arm:
    """An implementation that runs in this process.

    Attributes
    ----------
    run : callable
        Does the work once, possibly without waiting for the device.
    sync : callable
        Waits until all work is done.
    """

    run: Callable[[], object]
    sync: Callable[[], object]

    def seconds(self, count: int) -> float:
        """Seconds of one run, of `count` runs that are waited for together."""
        self.sync()
        begin = time.perf_counter()
        for _ in range(count):
            self.run()
        self.sync()
        return (time.perf_counter() - begin) / count


def interleaved_medians(
    arms: Sequence[Timed], *, rounds: int = 7, sample_seconds: float = 0.02
) -> list[float]:
    """Return median seconds per run of each arm.

    The arms alternate, and each is first in a round equally often, so that changes of clock speed
    or load affect them equally. Each arm first runs once, unmeasured.

    Parameters
    ----------
    arms : sequence of Timed
        The arms to compare.
    rounds : int
        Samples of each arm.
    sample_seconds : float
        Approximate duration of a sample; shorter runs are repeated within it.
    """
    return medians_in_turns(samples_of(arms, sample_seconds), rounds)


def samples_of(arms: Sequence[Timed], sample_seconds: float) -> list[Callable[[], float]]:
    """Return for each arm what takes a sample of about that duration.

    Each arm runs twice, unmeasured: the first time it compiles kernels and allocates memory.
    """
    counts = []
    for arm in arms:
        arm.seconds(1)
        counts.append(max(1, round(sample_seconds / max(arm.seconds(1), 1e-9))))
    return [partial(arm.seconds, count) for arm, count in zip(arms, counts, strict=True)]


def medians_in_turns(samples: Sequence[Callable[[], float]], rounds: int) -> list[float]:
    """Return the median of `rounds` calls of each, which alternate and start equally often."""
    return [median(times) for times in results_in_turns(samples, rounds)]


def results_in_turns(samples: Sequence[Callable[[], float]], rounds: int) -> list[list[float]]:
    """Return the results of `rounds` calls of each; see :func:`medians_in_turns`."""
    results: list[list[float]] = [[] for _ in samples]
    for number in range(rounds):
        for place in range(len(samples)):
            turn = (place + number) % len(samples)
            results[turn].append(samples[turn]())
    return results
