"""Measures the call sites of a graph in whole networks.

A kernel is faster if its inputs are still in a cache, so each call site is timed between its
neighbors. Four networks run: one with as few textures as possible, one with as many, and two in
which every other operator uses textures, so that conversions are timed as well. The device stamps
each kernel with the times at which it begins and ends. Each network also runs without time stamps,
and the costs of its kernels are scaled to add up to that time.

No launch costs less than the launch of an almost empty kernel. A network can hide a short launch
behind a longer kernel, but another network may not hide it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from statistics import mean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .choosing import Costs
from .database import MeasuredCost, MeasuredNetwork
from .runs import run_time, timed_runs
from .table import CostTable

Progress = Callable[[str, int, int], None]

Compile = Callable[[str, Sequence[str]], Any]
"""``compile(scopes, fixed)`` returns the core's graph, compiled with these alternatives."""

_SHORT = "launches of next to nothing"  # the key of the network of almost empty kernels

_LEAST_SHARE = 0.2  # a launch costs at least this share of the time between its stamps


def measure_sites(
    compile: Compile,
    alternatives: Sequence[Sequence[str]],
    inputs: Sequence[NDArray[Any]],
    device: Any,
    costs: Costs,
    table: CostTable,
    launches: Callable[[], Any],
    progress: Progress | None = None,
) -> None:
    """Measure the call sites that have no costs yet, and add them to the file of costs.

    Parameters
    ----------
    compile : callable
        Compiles the graph; costs are looked up in `table`.
    alternatives : sequence of sequence of str
        The names of the alternatives of each node.
    inputs : sequence of array
        Inputs of the graph.
    device : Device
    costs : Costs
        Costs of the device.
    table : CostTable
    launches : callable
        Compiles a graph of almost empty kernels.
    progress : callable, optional
        As for :meth:`texloom.graph.Graph.compile`.
    """
    database, of = costs.database, costs.device
    networks = list(_networks(alternatives))
    for done, (scopes, fixed) in enumerate(networks):
        if progress is not None:
            progress("networks are measured", done, len(networks))
        compiled = compile(scopes, fixed)
        runs = [run for run in compiled.summary()["runs"] if run[3]]
        known = database.costs(of)
        if all(key in known for _, key, *_ in runs if key):
            continue
        least = _least_launch(costs, device, launches)
        timed = timed_runs(compiled, device, inputs)
        stamps = timed.stamps(sum(run[3] for run in runs))
        stamped, times = _launch_times(*stamps, timed.total, least)
        database.add(of, _costs(runs, times, table.asked, known))
        key = sha256("\n".join(key for _, key, *_ in runs).encode()).hexdigest()[:32]
        database.add_network(of, MeasuredNetwork(key, times.shape[1], stamped, timed.total))


def _networks(alternatives: Sequence[Sequence[str]]) -> Iterator[tuple[str, list[str]]]:
    """Yield scopes and fixed alternatives of networks that together use all alternatives."""
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


def _least_launch(costs: Costs, device: Any, launches: Callable[[], Any]) -> float:
    """Return the nanoseconds of an almost empty launch, measured once for each device."""
    for network in costs.database.networks(costs.device):
        if network.key == _SHORT:
            return network.total_ns / network.launches
    compiled = launches()
    inputs = [np.zeros(each.shape, each.dtype) for each in compiled.inputs]
    total = run_time(compiled._core, device, inputs)
    network = MeasuredNetwork(_SHORT, compiled.summary["launches"], total, total)
    costs.database.add_network(costs.device, network)
    return network.total_ns / network.launches


def _launch_times(
    begins: NDArray[np.float64], ends: NDArray[np.float64], total: float, least: float
) -> tuple[float, NDArray[np.float64]]:
    """Return the stamped time of a run, and the times of its launches, scaled to sum to `total`.

    The time of a launch is end - begin, or end - previous end (gap included). The function takes
    whichever sum is closer to `total`, the time of a run without time stamps: on processors, gaps
    are part of the time; on other devices, time stamps cause the gaps. The difference that remains
    is spread evenly over the launches, since stamps make each launch longer by the same time. A
    launch keeps at least a share of its stamped time, and costs at least `least`, even if the sum
    then exceeds `total`.
    """
    own = np.maximum(ends - begins, 1.0)
    latest = np.maximum.accumulate(ends.ravel())
    steps = np.diff(latest, prepend=begins[0, 0]).reshape(ends.shape)
    sums = {float(np.median(each, axis=0).sum()): each for each in (own, steps)}
    stamped = min(sums, key=lambda each: abs(each - total))
    times = np.maximum(sums[stamped], own * _LEAST_SHARE)
    times = np.maximum(times + (total - stamped) / times.shape[1], times * _LEAST_SHARE)
    times *= total / float(np.median(times, axis=0).sum())
    return stamped, np.maximum(times, least)


def _costs(
    runs: Sequence[tuple[str, str, float, int]],
    launches: NDArray[np.float64],
    asked: Mapping[str, MeasuredCost],
    known: Mapping[str, MeasuredCost],
) -> list[MeasuredCost]:
    """Return the costs of unmeasured call sites; a site may run several times in a network."""
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
