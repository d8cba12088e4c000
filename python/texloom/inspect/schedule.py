"""Lists the invocations of packages in order, and the events between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _core
from ..devices.lookup import present
from .describe import View, aligned, counted


def schedules(
    path: bytes, views: Sequence[View], device: str | None, wait_each: bool
) -> list[View]:
    """Return the invocations of each variant.

    Parameters
    ----------
    path : bytes
        A package file.
    views : sequence of dict
        The package, as ``_core.view_packages`` returns it.
    device : str or None
        The device whose commit policy applies; None stands for the default policy.
    wait_each : bool
        Whether the host waits for each invocation.
    """
    on = None if device is None else present(device)
    return [
        {
            "package": view["name"],
            "target": variant["target"],
            "invocations": _core.list_invocations(path, number, place, on, wait_each),
        }
        for number, view in enumerate(views)
        for place, variant in enumerate(view["variants"])
    ]


def describe_schedule(view: View) -> str:
    """Return a table of the invocations of one variant."""
    rows: list[list[Any]] = [["", "node", "invocation", "encoded", "before it", "because"]]
    rows += [
        [
            str(number),
            each["node"] or "-",
            each["name"] + (f" x {each['launches']}" if each["launches"] > 1 else ""),
            each["encoding"],
            each["transition"],
            each["reason"],
        ]
        for number, each in enumerate(view["invocations"])
    ]
    title = f"{view['package']}, {view['target']}: {counted(len(rows) - 1, 'invocation')}"
    return "\n".join([title, *("  " + line for line in aligned(rows))])
