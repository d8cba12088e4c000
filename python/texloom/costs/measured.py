"""Measured costs of call sites and networks, as queries over records of trials.

A measured call site is a trial for each place where a network has it; its cost is the mean of
these. A network is a trial by the host's clock, and one by the time stamps of the device.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import refuse
from ..records import Clock, Kind, MeasuredDevice, Subject
from ..records.trial import canonical

if TYPE_CHECKING:
    from ..records.database import Average, Records


@dataclass(frozen=True)
class MeasuredCost:
    """The cost of a call site: one or several kernels, for given storages of the arguments.

    Attributes
    ----------
    key : str
        A digest of the computation, shapes, dtypes, storages and generated code.
    kind : str
        The pattern of the node, ``"convert"`` or ``"concatenate"``.
    storage : str
        ``"buffer"`` or ``"texture"``.
    bytes, operations : float
        Bytes moved, counting each argument once, and operations computed.
    launches : int
    ns : float
        The median time that the call site adds to a network, in nanoseconds.
    spread : float
        The distance between the quartiles of that time, in nanoseconds.
    count : int
        The number of runs.
    """

    key: str
    kind: str
    storage: str
    bytes: float
    operations: float
    launches: int
    ns: float
    spread: float
    count: int


@dataclass(frozen=True)
class MeasuredNetwork:
    """The times of a whole network, by the stamps of the device and by the clock of the host.

    Attributes
    ----------
    key : str
        A digest of the call sites of a run.
    launches : int
    kernel_ns : float
        The sum of the time stamps of its kernels.
    total_ns : float
        The time of a run without time stamps.
    """

    key: str
    launches: int
    kernel_ns: float
    total_ns: float


def site_subject(site: MeasuredCost, target: str) -> Subject:
    """Return what trials of a call site measure; its task has the facts that predict costs."""
    facts = {
        "kind": site.kind,
        "storage": site.storage,
        "bytes": site.bytes,
        "operations": site.operations,
        "launches": site.launches,
    }
    return Subject(Kind.CALL_SITE, site.key, canonical(facts), target)


def network_subject(key: str, launches: int, target: str) -> Subject:
    """Return what trials of a network measure."""
    return Subject(Kind.NETWORK, key, canonical({"launches": launches}), target)


def costs_of(records: Records, device: MeasuredDevice) -> dict[str, MeasuredCost]:
    """Return the costs of all measured call sites on a device, by key.

    Raises
    ------
    TVMError
        TL5019 for a task without the facts of a call site.
    """
    found = {}
    for each in records.averages(Kind.CALL_SITE, device):
        facts = _facts(records, each, ("kind", "storage", "bytes", "operations", "launches"))
        times = (each.seconds * 1e9, each.spread * 1e9, each.samples)
        found[each.task] = MeasuredCost(each.task, *facts, *times)
    return found


def networks_of(records: Records, device: MeasuredDevice) -> list[MeasuredNetwork]:
    """Return the networks that were measured on a device by both clocks.

    Raises
    ------
    TVMError
        TL5019 for a task without the number of launches.
    """
    by_clock: dict[Clock, dict[str, Average]] = {clock: {} for clock in Clock}
    for each in records.averages(Kind.NETWORK, device):
        by_clock[each.clock][each.task] = each
    found = []
    for key, total in by_clock[Clock.HOST].items():
        (launches,) = _facts(records, total, ("launches",))
        stamped = by_clock[Clock.DEVICE].get(key, total)
        found.append(MeasuredNetwork(key, launches, stamped.seconds * 1e9, total.seconds * 1e9))
    return found


def _facts(records: Records, average: Average, names: Sequence[str]) -> list[Any]:
    try:
        facts = json.loads(average.text)
        return [facts[name] for name in names]
    except (ValueError, KeyError, TypeError) as error:
        refuse(
            "BadFile",
            f"{records.name} has a damaged task, {average.task}: {error}",
            "restore the database from a copy or from an exported file",
        )


__all__ = [
    "MeasuredCost",
    "MeasuredNetwork",
    "costs_of",
    "network_subject",
    "networks_of",
    "site_subject",
]
