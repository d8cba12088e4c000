"""The time of each kernel of a model, as ``texloom bench --kernels`` shows it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import _core
from ..errors import refuse
from ..trace import Row, rows_of


def start_profile(command: str) -> _core.Profile:
    """Return a profile of all devices for a command; TL5007 if a profile is open already."""
    profile = _core.start_profile()
    if profile is None:
        refuse(
            "DeviceError",
            "kernels can be timed only in a process that has not opened a device before",
            f"run `{command}` in a process of its own",
        )
    return profile


def kernel_rows(profile: _core.Profile, run: Callable[[], object], rounds: int) -> list[Row]:
    """Return a row for each kernel and kind of copy, from `rounds` runs after a warm-up run."""
    run()  # compiles kernels, writes constants
    _core.finish_devices()
    before = len(profile.device_spans())
    for _ in range(rounds):
        run()
    _core.finish_devices()
    return rows_of(profile.device_spans()[before:])


def kernel_facts(rows: Sequence[Row], rounds: int) -> list[dict[str, Any]]:
    """Return the rows for JSON, in seconds and executions of one run."""
    return [
        {
            "name": row.name,
            "executions": row.count // rounds,
            "seconds": row.total * 1e-9 / rounds,
        }
        for row in rows
    ]
