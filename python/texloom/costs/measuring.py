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

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..measure.measurement import Measurement
from ..records import Clock, Place, Subject, Trial
from ..records.trial import digest_of
from .choosing import Costs
from .measured import MeasuredCost, network_subject, site_subject
from .runs import plain_runs, timed_runs
from .table import CostTable

Progress = Callable[[str, int, int], None]

Compile = Callable[[str, Sequence[str]], Any]
"""``compile(scopes, fixed)`` returns the core's graph, compiled with these alternatives."""

_SHORT = digest_of("launches of next to nothing")  # the key of the network of such kernels

_LEAST_SHARE = 0.2  # a launch costs at least this share of the time between its stamps


def measure_sites(
    compile: Compile,
    alternatives: Sequence[Sequence[str]],
    inputs: Sequence[NDArray[Any]],
    device: Any,
    costs: Costs,
    table: CostTable,
    launches: Callable[[], Any],
    target: str,
    progress: Progress | None = None,
) -> None:
    """Measure the call sites that have no costs yet, and add them to the records.

    The trials of a network, and those of its call sites, are added in one transaction.

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
    target : str
        What the graph is compiled for.
    progress : callable, optional
        As for :meth:`texloom.graph.Graph.compile`.
    """
    networks = list(_networks(alternatives))
    for done, (scopes, fixed) in enumerate(networks):
        if progress is not None:
            progress("networks are measured", done, len(networks))
        compiled = compile(scopes, fixed)
        runs = [run for run in compiled.summary()["runs"] if run[3]]
        known = costs.measured()
        if all(key in known for _, key, *_ in runs if key):
            continue
        least = _least_launch(costs, device, launches, target)
        begin = time.monotonic()
        timed = timed_runs(compiled, device, inputs)
        seconds = time.monotonic() - begin
        count = sum(run[3] for run in runs)
        stamped, times = _launch_times(*timed.stamps(count), timed.total, least)
        key = digest_of("\n".join(key for _, key, *_ in runs))
        place = Place.here(costs.device)
        network = network_subject(key, count, target)
        whole = replace(_network_trial(network, place, timed.plain), phases={"run": seconds})
        by_stamps = Trial(
            network, place, times=_seconds(stamped), clock=Clock.DEVICE, parent=whole.id
        )
        sites = _site_trials(runs, times, table, known, place, target)
        costs.records.add_all([whole, by_stamps, *(replace(e, parent=whole.id) for e in sites)])


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


def _least_launch(costs: Costs, device: Any, launches: Callable[[], Any], target: str) -> float:
    """Return the nanoseconds of an almost empty launch, measured once for each device."""
    for network in costs.networks():
        if network.key == _SHORT:
            return network.total_ns / network.launches
    compiled = launches()
    inputs = [np.zeros(each.shape, each.dtype) for each in compiled.inputs]
    plain = plain_runs(compiled._core, device, inputs)
    count = compiled.summary["launches"]
    subject = network_subject(_SHORT, count, target)
    costs.records.add(_network_trial(subject, Place.here(costs.device), plain))
    return plain.median * 1e9 / float(count)


def _network_trial(subject: Subject, place: Place, plain: Measurement) -> Trial:
    return Trial(subject, place, times=plain.results, runs=plain.runs)


def _seconds(nanoseconds: NDArray[np.float64]) -> tuple[float, ...]:
    return tuple(float(each) for each in nanoseconds / 1e9)


def _launch_times(
    begins: NDArray[np.float64], ends: NDArray[np.float64], total: float, least: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the stamped times of runs, and the times of their launches, scaled to sum to `total`.

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
    by_stamps = np.maximum(sums[stamped].sum(axis=1), 1.0)  # some stamps stand still
    times = np.maximum(sums[stamped], own * _LEAST_SHARE)
    times = np.maximum(times + (total - stamped) / times.shape[1], times * _LEAST_SHARE)
    times *= total / float(np.median(times, axis=0).sum())
    return by_stamps, np.maximum(times, least)


def _site_trials(
    runs: Sequence[tuple[Any, ...]],
    launches: NDArray[np.float64],
    table: CostTable,
    known: Mapping[str, MeasuredCost],
    place: Place,
    target: str,
) -> Iterator[Trial]:
    """Yield trials of unmeasured call sites: one for each place in the network."""
    first = 0
    for _, key, _, count, _ in runs:
        if key and key not in known:
            yield Trial(
                site_subject(table.asked[key], target),
                place,
                kernels=table.kernels[key],
                times=_seconds(launches[:, first : first + count].sum(axis=1)),
                clock=Clock.DEVICE,
            )
        first += count


__all__ = ["measure_sites"]
