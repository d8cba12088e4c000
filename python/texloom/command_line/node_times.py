"""``texloom bench --nodes``: the time of each node of a model, and what bounds it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..costs.runs import Runs, timed_runs
from ..devices.lookup import present
from ..errors import refuse
from ..inspect.describe import aligned, counted
from ..profiles import DeviceProfile, kernel_limits, profile_of
from ..target import resolve
from .inputs import ports_of, random_inputs, read_inputs
from .model_arguments import compile_model, is_package, target_of
from .reports import Progress

_MOST_ROWS = 40


@dataclass(frozen=True)
class NodeTime:
    """The time of a node of a compiled graph, or of a conversion between storages.

    Attributes
    ----------
    node : str
    launches : int
    seconds : float
        Of its kernels on the device, the median of all runs.
    bound : str or None
        What the kernels' limits by the profile of the device are the longest for (a
        :class:`~texloom.profiles.Bound`); None if their work is not known.
    least_seconds : float or None
        The sum of the longest limit of each kernel. The node can take less: profiles state the
        rates of a whole device, and caches may hold what the profile counts as memory's.
    """

    node: str
    launches: int
    seconds: float
    bound: str | None
    least_seconds: float | None


def node_times(
    runs: Sequence[tuple[Any, ...]], timed: Runs, profile: DeviceProfile
) -> list[NodeTime]:
    """Return the nodes that launch kernels, in the order of a run.

    Parameters
    ----------
    runs : sequence of tuple
        As ``runs`` in :attr:`texloom.graph.CompiledGraph.summary`.
    timed : Runs
    profile : DeviceProfile
        Of the device on which the runs were timed.
    """
    launching = [(name, launches, work) for name, _, _, launches, work in runs if launches]
    begins, ends = timed.stamps(sum(launches for _, launches, _ in launching))
    seconds = np.maximum(ends - begins, 0.0) * 1e-9
    rows, first = [], 0
    for name, launches, work in launching:
        own = seconds[:, first : first + launches].sum(axis=1)
        first += launches
        bound, least = None, None
        if len(work) == launches:  # else kernels run several times, or conditionally
            limits = [kernel_limits(each, profile) for each in work]
            longest = [max(each, key=each.__getitem__) for each in limits]
            times = [each[kind] for each, kind in zip(limits, longest, strict=True)]
            bound, least = longest[int(np.argmax(times))].value, sum(times)
        rows.append(NodeTime(name, launches, float(np.median(own)), bound, least))
    return rows


def node_table(rows: Sequence[NodeTime]) -> list[str]:
    """Return the nodes as lines, the slowest first."""
    total = sum(row.seconds for row in rows)
    cells = [("us", "share", "launches", "at least", "reached", "bound", "node")]
    for row in sorted(rows, key=lambda row: -row.seconds)[:_MOST_ROWS]:
        least = "-" if row.least_seconds is None else f"{row.least_seconds * 1e6:.1f}"
        reached = "-"
        if row.least_seconds is not None and row.seconds > 0:
            reached = f"{row.least_seconds / row.seconds:.0%}"
        cells.append(
            (
                f"{row.seconds * 1e6:.1f}",
                f"{row.seconds / total:.1%}" if total else "-",
                str(row.launches),
                least,
                reached,
                row.bound or "-",
                row.node,
            )
        )
    more = len(rows) - _MOST_ROWS
    return [*aligned(cells), *([f"... and {more} more"] if more > 0 else [])]


def bench_nodes(options: argparse.Namespace) -> dict[str, Any]:
    """Compile and time a model; return the facts for JSON, with its nodes in ``nodes``."""
    if is_package(options.model):
        refuse(
            "BadOption",
            f"{options.model} is a package, which does not say what its kernels compute",
            "give the .onnx file, or use --kernels",
        )
    model = compile_model(options.model, options, Progress("bench"))
    graph, device = model.graph, present(options.device)
    if graph is None:
        refuse(
            "BadOption",
            f"{options.model} has no kernels before its inputs have shapes",
            "give the shape of each open input: --shape NAME=AxBxC",
        )
    ports = ports_of(graph)
    given = read_inputs(options, ports)
    given = random_inputs([each for each in ports if each.name not in given]) | given
    inputs = [given[each.name] for each in graph.inputs]
    profile = profile_of(resolve(target_of(options)))
    timed = timed_runs(graph._core, device, inputs)
    rows = node_times(graph.summary["runs"], timed, profile)
    return {
        "model": str(options.model),
        "device": device.device_name,
        "profile": profile.name,
        "rounds": timed.runs,
        "nodes": [asdict(row) for row in rows],
    }


def node_report(facts: dict[str, Any]) -> str:
    """Return the facts of :func:`bench_nodes` as text."""
    rows = [NodeTime(**each) for each in facts["nodes"]]
    total = sum(row.seconds for row in rows)
    return "\n".join(
        [
            f"{facts['model']} on {facts['device']}, medians of {facts['rounds']}; bounds by the "
            f"profile {facts['profile']}",
            *node_table(rows),
            f"{counted(len(rows), 'node')}, {total * 1e6:,.1f} us",
        ]
    )


__all__ = ["NodeTime", "bench_nodes", "node_report", "node_table", "node_times"]
