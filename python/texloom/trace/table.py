"""The commands of devices as a table: one row for each kernel, or kind of copy."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

DeviceSpan = tuple[str, str, int, int, int]
"""Queue, command, nanoseconds on the device, nanoseconds in the queue, bytes."""


@dataclass(frozen=True)
class Row:
    """All runs of one command on one queue. Times are the device's, in nanoseconds.

    Attributes
    ----------
    queue, name : str
        The queue; and the kernel, or the kind of copy.
    count : int
        The number of runs.
    total : int
        The time of all runs.
    median : float
        The median time of a run.
    wait : float
        The median time from the driver's call to the start.
    bytes : int
        The size of the arguments, or the bytes moved, over all runs.
    """

    queue: str
    name: str
    count: int
    total: int
    median: float
    wait: float
    bytes: int

    @property
    def rate(self) -> float:
        """GB/s, on the assumption that each byte of the arguments is moved once."""
        return self.bytes / self.total if self.total else 0.0


def rows_of(spans: Iterable[DeviceSpan]) -> list[Row]:
    """Return a row for each queue and name, the longest total first."""
    runs: dict[tuple[str, str], list[tuple[int, int, int]]] = defaultdict(list)
    for queue, name, *numbers in spans:
        runs[queue, name].append((numbers[0], numbers[1], numbers[2]))
    rows = []
    for (queue, name), each in runs.items():
        times, waits, sizes = zip(*each, strict=True)
        rows.append(
            Row(
                queue,
                name,
                len(each),
                sum(times),
                statistics.median(times),
                statistics.median(waits),
                sum(sizes),
            )
        )
    return sorted(rows, key=lambda row: (-row.total, row.queue, row.name))


def table_of(rows: Sequence[Row], limit: int = 40) -> str:
    """Return the rows as text, at most `limit` per queue, under the queue's name."""
    queues: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        queues[row.queue].append(row)
    return "\n\n".join(
        f"{queue}\n{_lines(of[:limit])}{_more(len(of) - limit)}" for queue, of in queues.items()
    )


_HEADER = ("command", "runs", "total ms", "median us", "wait us", "GB/s")


def _lines(rows: Sequence[Row]) -> str:
    cells = [_HEADER]
    cells += [
        (
            row.name,
            str(row.count),
            f"{row.total / 1e6:.3f}",
            f"{row.median / 1e3:.1f}",
            f"{row.wait / 1e3:.1f}",
            f"{row.rate:.2f}" if row.bytes else "",
        )
        for row in rows
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        "  ".join(
            f"{cell:<{width}}" if i == 0 else f"{cell:>{width}}"
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in cells
    )


def _more(count: int) -> str:
    return f"\n... and {count} more" if count > 0 else ""
