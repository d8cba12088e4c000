"""Offsets of buffers in one arena, for files in the format of MiniMalloc.

The rows of such a CSV file are buffers: ``id,lower,upper,size`` and optionally ``alignment``. A
buffer is live from ``lower`` until just before ``upper``; sizes and alignments are in bytes.
"""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import _core

_COLUMNS = ("id", "lower", "upper", "size")
_OPTIONAL = ("alignment",)
_LARGEST = 2**63 - 1


class InstanceError(ValueError):
    """A file is not a valid planning problem; the text names the file and the line."""


@dataclass(frozen=True)
class Buffer:
    """A row of the file.

    Attributes
    ----------
    id : str
        The name of the buffer, unique in the file.
    lower, upper : int
        The buffer is live at each time t with ``lower <= t < upper``.
    size, alignment : int
        Bytes; the offset is a multiple of the alignment.
    line : int
        The line of the row in the file, counted from 1.
    """

    id: str
    lower: int
    upper: int
    size: int
    alignment: int = 1
    line: int = 0


def _refuse(path: Path, line: int, problem: str, help_text: str) -> InstanceError:
    return InstanceError(f"{path}:{line}: {problem}\nhelp: {help_text}")


def _check_columns(path: Path, header: Sequence[str]) -> None:
    known = (*_COLUMNS, *_OPTIONAL)
    for column in _COLUMNS:
        if column not in header:
            raise _refuse(
                path, 1, f"the column '{column}' is missing", f"begin with {','.join(_COLUMNS)}"
            )
    for column in header:
        if column not in known:
            raise _refuse(
                path, 1, f"unknown column '{column}'", f"use only the columns {', '.join(known)}"
            )
        if header.count(column) > 1:
            raise _refuse(path, 1, f"two columns are named '{column}'", "remove one of them")


def _number(path: Path, line: int, column: str, text: str) -> int:
    # int() alone would accept 4,300 digits, underscores, and the digits of all scripts.
    if not re.fullmatch(r"[+-]?[0-9]{1,30}", text, re.ASCII):
        shown = text if len(text) <= 40 else text[:40] + "…"
        raise _refuse(path, line, f"{column} is '{shown}'", "write a whole number of 64 bits")
    value = int(text)
    if abs(value) > _LARGEST:
        raise _refuse(path, line, f"{column} is {value}", "write a whole number of 64 bits")
    return value


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the line and the cells of each row that is not empty."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            for row in reader:
                if row:
                    yield reader.line_num, [cell.strip() for cell in row]
    except (csv.Error, UnicodeDecodeError) as error:
        raise InstanceError(
            f"{path}: it is not a CSV file: {error}\nhelp: write one row per buffer, in UTF-8"
        ) from None


def _buffer(path: Path, line: int, cells: Mapping[str, str]) -> Buffer:
    numbers = {
        column: _number(path, line, column, text)
        for column, text in cells.items()
        if column != "id"
    }
    if numbers["upper"] <= numbers["lower"]:
        raise _refuse(
            path,
            line,
            f"buffer '{cells['id']}' is never live: upper {numbers['upper']} is not above lower "
            f"{numbers['lower']}",
            "upper is the first time at which the buffer is no longer live: make it larger",
        )
    return Buffer(cells["id"], line=line, **numbers)


def read_buffers(path: str | Path) -> list[Buffer]:
    """Read a CSV file.

    Raises
    ------
    InstanceError
        For a file that does not have the format described in this module.
    OSError
        If the file cannot be read.
    """
    path = Path(path)
    rows = _rows(path)
    _, header = next(rows, (1, []))
    _check_columns(path, header)
    buffers: dict[str, Buffer] = {}
    for line, row in rows:
        if len(row) != len(header):
            raise _refuse(
                path,
                line,
                f"the row has {len(row)} cells",
                f"write {len(header)} cells, as in line 1",
            )
        buffer = _buffer(path, line, dict(zip(header, row, strict=True)))
        if buffer.id in buffers:
            raise _refuse(
                path,
                line,
                f"id '{buffer.id}' is used in line {buffers[buffer.id].line} already",
                "give each buffer an id of its own",
            )
        buffers[buffer.id] = buffer
    return list(buffers.values())


def _planned(path: Path, buffers: Sequence[Buffer], **options: Any) -> dict[str, Any]:
    """Call the planner; its errors are reported at the line of the buffer."""
    items = [(b.lower, b.upper - 1, b.size, b.alignment) for b in buffers]
    try:
        return _core.plan_buffers(items, **options)
    except ValueError as error:
        match = re.fullmatch(r"item (\d+): (.*)", str(error), re.DOTALL)
        if match is None:
            raise InstanceError(f"{path}: {error}") from None
        buffer = buffers[int(match[1])]
        raise _refuse(
            path, buffer.line, f"buffer '{buffer.id}': {match[2]}", "correct this row"
        ) from None


def _busiest_time(buffers: Sequence[Buffer]) -> tuple[int, int]:
    """Return a time at which the most bytes are live, and the number of these bytes."""
    changes: dict[int, int] = {}
    for buffer in buffers:
        changes[buffer.lower] = changes.get(buffer.lower, 0) + buffer.size
        changes[buffer.upper] = changes.get(buffer.upper, 0) - buffer.size
    busiest, most, live = 0, 0, 0
    for time in sorted(changes):
        live += changes[time]
        if live > most:
            busiest, most = time, live
    return busiest, most


def plan_csv(
    path: str | Path,
    capacity: int | None = None,
    effort: int | None = None,
    time_limit: float | None = None,
) -> dict[str, Any]:
    """Plan the buffers of a CSV file.

    Parameters
    ----------
    path : str or Path
        The file.
    capacity : int, optional
        Bytes that suffice; by default, the planner searches for the fewest bytes.
    effort : int, optional
        Steps of the search; by default, those of the planner.
    time_limit : float, optional
        Seconds. The plan then depends on the speed of the machine.

    Returns
    -------
    dict
        ``capacity`` (None without one), ``bytes``, ``lower_bound_bytes``, ``placements`` (a list of
        ``{"id", "offset"}`` in the order of the file), ``proof`` of the lower bound, and
        ``deterministic``. The ``kind`` of the proof is ``"live"`` if ``lower_bound_bytes`` bytes,
        including gaps for alignment, are live at ``time``. It is ``"search"`` if a search of
        ``steps`` steps has tried all plans of fewer bytes. The capacity is exceeded if ``bytes >
        capacity``; no plan fits it if ``lower_bound_bytes > capacity``.

    Raises
    ------
    InstanceError
        If the file is refused.
    OSError
        If the file cannot be read.
    """
    path = Path(path)
    buffers = read_buffers(path)
    found = _planned(path, buffers, capacity=capacity, steps=effort, time_limit=time_limit)
    if found["exhaustive"]:
        proof: dict[str, Any] = {"kind": "search", "steps": found["steps"]}
    else:
        proof = {"kind": "live", "time": _busiest_time(buffers)[0]}
    return {
        "capacity": capacity,
        "bytes": found["bytes"],
        "lower_bound_bytes": found["lower_bound"],
        "placements": [
            {"id": buffer.id, "offset": offset}
            for buffer, offset in zip(buffers, found["offsets"], strict=True)
        ],
        "proof": proof,
        "deterministic": found["deterministic"],
    }


def check_offsets(buffers: Sequence[Buffer], plan: Mapping[str, Any]) -> list[str]:
    """Return the faults of a plan of `plan_csv`; an empty list if the plan is right.

    Shares no code with the planner. Compares all pairs of buffers. The lower bound is checked
    against the bytes of the plan and, if its proof is by live bytes and no buffer needs alignment,
    also against the live bytes.
    """
    problems = []
    offsets = {placement["id"]: placement["offset"] for placement in plan["placements"]}
    ids = [placement["id"] for placement in plan["placements"]]
    if len(ids) != len(offsets) or set(offsets) != {buffer.id for buffer in buffers}:
        return ["the placements are not one for each buffer"]
    for i, a in enumerate(buffers):
        start = offsets[a.id]
        if start < 0 or start % a.alignment:
            problems.append(f"buffer '{a.id}': offset {start} with alignment {a.alignment}")
        for b in buffers[:i]:
            together = a.lower < b.upper and b.lower < a.upper
            if together and start < offsets[b.id] + b.size and offsets[b.id] < start + a.size:
                problems.append(f"buffers '{b.id}' and '{a.id}' overlap")
    needed = max((offsets[b.id] + b.size for b in buffers if b.size > 0), default=0)
    if needed != plan["bytes"]:
        problems.append(f"the plan needs {needed} bytes, not {plan['bytes']}")
    if plan["lower_bound_bytes"] > plan["bytes"]:
        problems.append("the lower bound is above the plan")
    if plan["proof"]["kind"] == "live" and all(buffer.alignment == 1 for buffer in buffers):
        time = plan["proof"]["time"]
        live = sum(buffer.size for buffer in buffers if buffer.lower <= time < buffer.upper)
        if live != plan["lower_bound_bytes"]:
            problems.append(f"{live} bytes are live at {time}, not {plan['lower_bound_bytes']}")
    return problems


def _summary(plan: Mapping[str, Any]) -> str:
    bound, needed = plan["lower_bound_bytes"], plan["bytes"]
    how = "live at once" if plan["proof"]["kind"] == "live" else "by exhaustive search"
    rows = [
        ("buffers", f"{len(plan['placements']):,}"),
        ("arena", f"{needed:,} bytes" + (", the fewest possible" if needed == bound else "")),
        ("lower bound", f"{bound:,} bytes, {how}"),
    ]
    if plan["capacity"] is not None:
        rows.append(("capacity", f"{plan['capacity']:,} bytes"))
    return "\n".join(f"{name:12} {value}" for name, value in rows)


def run_csv(
    path: str | Path,
    capacity: int | None,
    effort: int | None,
    time_limit: float | None,
    as_json: bool,
) -> int:
    """Plan a CSV file for the command line, with the arguments of `plan_csv`.

    Prints the plan as JSON or a summary. Returns 0, or 1 with one message on standard error if the
    file is refused or no plan within the capacity has been found.
    """
    try:
        plan = plan_csv(path, capacity, effort, time_limit)
    except InstanceError as error:
        print(f"texloom plan: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"texloom plan: {path}: {error.strerror}", file=sys.stderr)
        return 1
    print(json.dumps(plan) if as_json else _summary(plan))
    if capacity is None or plan["bytes"] <= capacity:
        return 0
    if plan["lower_bound_bytes"] > capacity:
        reason = f"no plan fits {capacity:,} bytes: {plan['lower_bound_bytes']:,} are needed"
    else:
        reason = (
            f"no plan within {capacity:,} bytes was found; the best needs {plan['bytes']:,}\n"
            "help: raise --effort"
        )
    print(f"texloom plan: {reason}", file=sys.stderr)
    return 1
