"""The table of regrets: how many times as long as the best point the default takes."""

from __future__ import annotations

from collections import defaultdict
from statistics import median
from typing import Any


def regret_of(row: dict[str, Any]) -> float:
    """Return the time of the default, relative to the least of both that were measured last.

    The times are those on the device, and what each launch after the first one takes.
    """
    default, best = (row[each]["seconds"] - row["launch_seconds"] for each in ("default", "best"))
    return float(default / min(default, best))


def table(rows: list[dict[str, Any]]) -> list[str]:
    """Return the lines of a table by family, and of all families together."""
    by: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        by[row["family"]].append(row)
    lines = [
        "| family | kernels | measured of points | wrong | median | worst | worst default |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, own in [*sorted(by.items()), ("all", rows)]:
        regrets = [regret_of(row) for row in own]
        worst = max(own, key=regret_of)
        knobs = ", ".join(f"{n}={v}" for n, v in worst["default"]["knobs"].items())
        measured, points = (sum(map(len, (row["measured"] for row in own))), sum(_points(own)))
        wrong = sum(len(row["errors"]) for row in own)
        lines.append(
            f"| {name} | {len(own)} | {measured} of {points} | {wrong} | {median(regrets):.2f} | "
            f"{max(regrets):.2f} | {knobs} |"
        )
    return lines


def _points(rows: list[dict[str, Any]]) -> list[int]:
    return [int(row["points"]) for row in rows]
