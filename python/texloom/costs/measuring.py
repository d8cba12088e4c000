"""Measures the call sites of a graph: each where it runs, between its neighbors.

A kernel takes less time if its inputs are still in a cache. So whole networks run, whose kernels
the device stamps with the times at which they begin and end: one with as few textures as possible,
one with as many, and two in which every other operator uses textures, for the conversions. Each
network also runs without time stamps, and the costs of its kernels add up to that time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from statistics import mean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..device_kinds import devices
from .database import CostDatabase, MeasuredCost, MeasuredDevice, MeasuredNetwork
from .runs import Runs, timed_runs
from .table import CostTable

Progress = Callable[[str, int, int], None]

Compile = Callable[[str, Sequence[str]], Any]
"""``compile(scopes, fixed)`` returns the core's graph, compiled with these alternatives."""

_FIRST_WARM_UP, _WARM_UP = 8.0, 0.3  # seconds before the first network on a GPU, and before others
_NOISE = 0.1  # by which a network may become faster without a reason
_MOST_REPEATS = 3
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
    measuring = _Measuring(inputs, device, database, of, table)
    networks = list(_networks(alternatives))
    for done, (scopes, fixed) in enumerate(networks):
        if progress is not None:
            progress("networks are measured", done, len(networks))
        measuring.add(compile(scopes, fixed))
    for _ in range(_MOST_REPEATS):
        if not measuring.became_faster():
            break
        for done, compiled in enumerate(again := measuring.forget()):
            if progress is not None:
                progress("networks are measured again", done, len(again))
            measuring.add(compiled)


class _Measuring:
    """Measures networks one after another: of each the call sites that are not known yet."""

    def __init__(
        self,
        inputs: Sequence[NDArray[Any]],
        device: Any,
        database: CostDatabase,
        of: MeasuredDevice,
        table: CostTable,
    ) -> None:
        self._inputs, self._device, self._table = inputs, device, table
        self._database, self._of = database, of
        self._before = database.costs(of)
        self._known = dict(self._before)
        self._measured: list[tuple[Any, float]] = []  # with the nanoseconds of a run
        self._is_gpu = devices(device.driver)[device.device_id]["type"] == "gpu"
        self._warm_up = _FIRST_WARM_UP if self._is_gpu else _WARM_UP

    def add(self, compiled: Any) -> None:
        """Measure a compiled network, and add its costs to the database."""
        runs = [run for run in compiled.summary()["runs"] if run[3]]
        if all(key in self._known for _, key, *_ in runs if key):
            return
        timed = self._runs(compiled)
        self._warm_up = _WARM_UP
        count = sum(run[3] for run in runs)
        stamped, launches = _launch_times(*timed.stamps(count), timed.total)
        costs = _costs(runs, launches, self._table.asked, self._known)
        self._database.add(self._of, costs)
        key = sha256("\n".join(key for _, key, *_ in runs).encode()).hexdigest()[:32]
        network = MeasuredNetwork(key, launches.shape[1], stamped, timed.total)
        self._database.add_network(self._of, network)
        self._known |= {each.key: each for each in costs}
        self._measured.append((compiled, timed.total))

    def _runs(self, compiled: Any) -> Runs:
        return timed_runs(compiled, self._device, self._inputs, self._warm_up)

    def became_faster(self) -> bool:
        """Whether the first network takes less time now: the clock of the GPU has risen."""
        if not self._measured or not self._is_gpu:
            return False
        compiled, total = self._measured[0]
        return self._runs(compiled).total < total * (1 - _NOISE)

    def forget(self) -> list[Any]:
        """Return the networks that were measured, which may now be measured again."""
        networks = [compiled for compiled, _ in self._measured]
        self._measured, self._known = [], dict(self._before)
        return networks


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


__all__ = ["measure_sites"]
