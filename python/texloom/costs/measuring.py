"""Measures the call sites of a graph: each where it runs, between its neighbors.

A kernel takes less time if its inputs are still in a cache. So whole networks run, whose kernels
the device stamps with the times at which they begin and end: one with as few textures as possible,
one with as many, and two in which every other operator uses textures, for the conversions. Each
network also runs without time stamps, and the costs of its kernels add up to that time.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from statistics import mean, median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..device_kinds import devices
from ..errors import refuse
from .database import CostDatabase, MeasuredCost, MeasuredDevice, MeasuredNetwork
from .table import CostTable

Progress = Callable[[str, int, int], None]

Compile = Callable[[str, Sequence[str]], Any]
"""``compile(scopes, fixed)`` returns the core's graph, compiled with these alternatives."""

_SECONDS = 0.5  # of runs of one network
_FIRST_WARM_UP, _WARM_UP = 8.0, 0.3  # seconds before the first network on a GPU, and before others
_FEWEST_RUNS = 5
_MOST_RUNS = 200
_LEAST_SHARE = 0.2  # of what time stamps say of a launch


def measure_sites(
    compile: Compile,
    alternatives: Sequence[Sequence[str]],
    inputs: Sequence[NDArray[Any]],
    device: Any,
    database: CostDatabase,
    of: MeasuredDevice,
    table: CostTable,
    progress: Progress | None = None,
) -> None:
    """Measure what the database has not, and add it, one network after another.

    Parameters
    ----------
    compile : callable
        Compiles the graph, with the costs of `table`.
    alternatives : sequence of sequence of str
        The names of the alternatives of each node.
    inputs : sequence of array
        Of the graph.
    device : Device
    database : CostDatabase
    of : MeasuredDevice
        What the database calls `device`.
    table : CostTable
    progress : callable, optional
        As for :meth:`texloom.graph.Graph.compile`.
    """
    networks = list(_networks(alternatives))
    is_gpu = devices(device.driver)[device.device_id]["type"] == "gpu"
    warm_up = _FIRST_WARM_UP if is_gpu else _WARM_UP
    for done, (scopes, fixed) in enumerate(networks):
        if progress is not None:
            progress("networks are measured", done, len(networks))
        compiled = compile(scopes, fixed)
        runs = [run for run in compiled.summary()["runs"] if run[3]]
        known = database.costs(of)
        if all(key in known for _, key, *_ in runs if key):
            continue
        spans = _spans(compiled, device, inputs, sum(run[3] for run in runs), warm_up)
        warm_up = _WARM_UP
        total = _total(compiled, device, inputs)
        stamped, launches = _launch_times(*spans, total)
        database.add(of, _costs(runs, launches, table.asked, known))
        key = sha256("\n".join(key for _, key, *_ in runs).encode()).hexdigest()[:32]
        database.add_network(of, MeasuredNetwork(key, launches.shape[1], stamped, total))


def _networks(alternatives: Sequence[Sequence[str]]) -> Iterator[tuple[str, list[str]]]:
    """Yield scopes and fixed alternatives of networks that have all alternatives."""
    yield "global", []
    if any(len(names) > 1 for names in alternatives):
        yield "texture", []
    for parity in (0, 1):
        fixed, place = [], parity
        for names in alternatives:
            fixed.append(names[place % len(names)] if len(names) > 1 else "")
            place += len(names) > 1
        if any(fixed):
            yield "auto", fixed


def _spans(
    compiled: Any, device: Any, inputs: Sequence[NDArray[Any]], count: int, warm_up: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return when each launch begins and ends, in nanoseconds, a row for each run."""
    measurement = compiled.Measurement(compiled, device, list(inputs))
    seconds, _ = measurement.run(1)
    _warm_up(measurement, max(seconds, 1e-9), warm_up)
    seconds, _ = measurement.run(1)
    times = int(min(max(_SECONDS / max(seconds, 1e-9), _FEWEST_RUNS), _MOST_RUNS))
    _, commands = measurement.run(times)
    if len(commands) != times * count:
        refuse(
            "DeviceError",
            f"{times} runs of {count} kernels had {len(commands)} commands on the device",
            "measure a model without custom operators",
        )
    origin = commands[0][1]
    begins = np.array([begin - origin for _, begin, _ in commands], "float64")
    ends = np.array([end - origin for _, _, end in commands], "float64")
    return begins.reshape(times, count), ends.reshape(times, count)


def _warm_up(measurement: Any, seconds: float, least: float) -> None:
    """Run for so long: a device that was idle has caches and clocks to raise.

    The clocks of an H200 stay low for some seconds of work, and are then six times as high.
    """
    times = max(1, int(0.05 / seconds))
    end = time.monotonic() + least
    while time.monotonic() < end:
        measurement.run(times)


def _launch_times(
    begins: NDArray[np.float64], ends: NDArray[np.float64], total: float
) -> tuple[float, NDArray[np.float64]]:
    """Return what the time stamps add up to, and times of launches that add up to `total`.

    A launch takes the time from its begin to its end, or from the end of the one before: whichever
    adds up to nearer the total. Gaps count on processors; on other devices time stamps make gaps,
    and launches longer, each by as much. A launch keeps a share of what its stamps say.
    """
    own = np.maximum(ends - begins, 1.0)
    latest = np.maximum.accumulate(ends.ravel())
    steps = np.diff(latest, prepend=begins[0, 0]).reshape(ends.shape)
    sums = {float(np.median(each, axis=0).sum()): each for each in (own, steps)}
    stamped = min(sums, key=lambda each: abs(each - total))
    times = np.maximum(sums[stamped], own * _LEAST_SHARE)
    times = np.maximum(times + (total - stamped) / times.shape[1], times * _LEAST_SHARE)
    return stamped, times * (total / float(np.median(times, axis=0).sum()))


def _costs(
    runs: Sequence[tuple[str, str, float, int]],
    launches: NDArray[np.float64],
    asked: Mapping[str, MeasuredCost],
    known: Mapping[str, MeasuredCost],
) -> list[MeasuredCost]:
    """Return the costs of call sites that are not known. One may run several times in a network."""
    found: dict[str, list[NDArray[np.float64]]] = defaultdict(list)
    first = 0
    for _, key, _, count in runs:
        if key and key not in known:
            found[key].append(launches[:, first : first + count].sum(axis=1))
        first += count
    costs = []
    for key, places in found.items():
        facts = asked[key]
        quartiles = [np.subtract(*np.quantile(times, (0.75, 0.25))) for times in places]
        costs.append(
            MeasuredCost(
                key,
                facts.kind,
                facts.storage,
                facts.bytes,
                facts.operations,
                facts.launches,
                mean(float(np.median(times)) for times in places),
                mean(map(float, quartiles)),
                sum(map(len, places)),
            )
        )
    return costs


def _total(compiled: Any, device: Any, inputs: Sequence[NDArray[Any]]) -> float:
    """Return the nanoseconds of a run without time stamps."""
    compiled.run(device, list(inputs), [])
    once = compiled.time(device, 1)
    times = int(min(max(_SECONDS / 5 / max(once, 1e-9), 1), _MOST_RUNS))
    return median(compiled.time(device, times) / times for _ in range(5)) * 1e9


__all__ = ["measure_sites"]
