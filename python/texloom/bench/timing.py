"""Times of several ways to do one thing, taken in turns."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Protocol


class Timed(Protocol):
    """One of the ways that are compared, wherever it runs."""

    def seconds(self, count: int) -> float:
        """Seconds of one run, of `count` runs that are waited for together."""


@dataclass(frozen=True)
class Arm:
    """A way that runs in this process.

    Attributes
    ----------
    run : callable
        Does the work once; need not wait for the device.
    sync : callable
        Waits until all that was begun is done.
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
    """Median seconds of one run of each arm.

    The arms take turns, each first in its round as often as the others, so that a change of clock
    speed or load meets them alike. Each arm is run once before, unmeasured.

    Parameters
    ----------
    arms : sequence of Timed
        What is compared.
    rounds : int
        Samples of each arm.
    sample_seconds : float
        About how long a sample takes; runs of less are repeated within it.
    """
    counts = []
    for arm in arms:
        arm.seconds(1)  # kernels are compiled and memory is there from now on
        counts.append(max(1, round(sample_seconds / max(arm.seconds(1), 1e-9))))
    samples: list[list[float]] = [[] for _ in arms]
    for number in range(rounds):
        for place in range(len(arms)):
            turn = (place + number) % len(arms)
            samples[turn].append(arms[turn].seconds(counts[turn]))
    return [median(times) for times in samples]
