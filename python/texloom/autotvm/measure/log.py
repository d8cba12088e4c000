"""Logs of AutoTVM, version 0.2: a line of JSON for each configuration that was measured."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from io import TextIOBase
from os import PathLike
from pathlib import Path
from typing import Any

from ... import _core
from ...errors import TVMError, refuse
from ...records.autotvm import FAILED, TVM_VERSION, VERSION, LogLine
from ...target import Target
from ...tuning.declared import is_collecting
from ...whole_file import write_whole
from ..task.task import config_from_log
from .measure import MeasureInput, MeasureResult

Record = tuple[MeasureInput, MeasureResult]
Source = str | PathLike[str] | TextIOBase


def measure_str_key(inp: MeasureInput, include_config: bool = True) -> str:
    """Return a text that is equal for equal targets, tasks and configurations."""
    config = str(inp.config) if include_config else ""
    return "".join([str(inp.target), str(inp.task.workload), config])


def encode(inp: MeasureInput, result: MeasureResult, protocol: str = "json") -> str:
    """Return the line of a configuration. `protocol` is ``"json"``, the only one.

    Raises
    ------
    TVMError
        TL5016 for another protocol.
    """
    _check(protocol)
    is_good = result.error_no == 0
    return json.dumps(
        {
            "input": [str(inp.target), inp.task.name, inp.task.args, inp.task.kwargs],
            "config": inp.config.to_json_dict(),
            "result": [
                list(result.costs) if is_good else FAILED,
                int(result.error_no),
                result.all_cost,
                result.timestamp,
            ],
            "version": VERSION,
            "tvm_version": TVM_VERSION,
        }
    )


def decode(row: str, protocol: str = "json") -> Record:
    """Return what a line has.

    The task knows its template if there is one of this name. Its target is a text if Texloom has no
    such target.

    Raises
    ------
    TVMError
        TL5016 for another protocol.
    ValueError
        For a line that has no trial; it says why.
    """
    _check(protocol)
    log = LogLine.parse(row)
    task, config = config_from_log(log.task, log.arguments[0], log.config)
    try:
        task.target = Target(log.target)
    except TVMError:
        task.target = log.target
    result = MeasureResult(tuple(log.times), log.error, log.spent, log.ended)
    return MeasureInput(task.target, task, config), result


def _check(protocol: str) -> None:
    if protocol != "json":
        refuse("UnknownName", f"there is no protocol {protocol!r} of logs", 'use "json"')


def load_from_buffer(file: TextIOBase) -> Iterator[Record]:
    """Yield what the lines of an open file have; see :func:`load_from_file`."""
    yield from _loaded(file, getattr(file, "name", "the log"))


def load_from_file(filepath: str | PathLike[str]) -> Iterator[Record]:
    """Yield what the lines of a log have.

    Under ``texloom tune SCRIPT.py``, where tuners make no logs, a missing file has no lines.

    Parameters
    ----------
    filepath : str or path

    Raises
    ------
    TVMError
        TL5018 for a file that cannot be read; TL5019 for one that has no line of a log.

    Warns
    -----
    TexloomWarning
        TL5019 for lines that have no trial, such as a last one that was cut off. They are left out.
    """
    try:
        with Path(filepath).open(errors="replace") as file:
            yield from _loaded(file, str(filepath))
    except OSError as error:
        if is_collecting() and isinstance(error, FileNotFoundError):
            return
        refuse("FileError", f"{filepath} cannot be read: {error.strerror}", "name a log of AutoTVM")


def _loaded(lines: Iterable[str], name: str) -> Iterator[Record]:
    good, bad = 0, []
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            record = decode(line)
        except (ValueError, OverflowError, RecursionError) as error:
            bad.append(f"line {number} of {name} is no trial of AutoTVM: {error}")
            continue
        good += 1
        yield record
    help_text = f"give a log of the version {VERSION}"
    if bad and not good:
        refuse("BadFile", bad[0], help_text)
    if bad:
        more = f", and {len(bad) - 1} more" if len(bad) > 1 else ""
        _core.warn("BadFile", f"{bad[0]}{more}; it is left out", help_text)


def pick_best(in_file: Source, out_file: str | PathLike[str]) -> None:
    """Write the fastest configuration of each task and target in a log to another log.

    Under ``texloom tune SCRIPT.py``, where tuners make no logs, it does nothing.

    Raises OSError if it cannot be written; for other errors, see :func:`load_from_file`.
    """
    if is_collecting():
        return
    records = (
        load_from_buffer(in_file) if isinstance(in_file, TextIOBase) else load_from_file(in_file)
    )
    best: dict[str, Record] = {}
    for inp, result in records:
        if result.error_no != 0:
            continue
        key = measure_str_key(inp, include_config=False)
        if key not in best or cost_of(result) < cost_of(best[key][1]):
            best[key] = (inp, result)
    lines = [encode(*each) + "\n" for each in best.values()]
    write_whole(Path(out_file), "".join(lines).encode())


def cost_of(result: MeasureResult) -> float:
    """Return the mean of the times of a successful configuration."""
    costs: Any = result.costs
    return float(sum(costs)) / len(costs)


__all__ = [
    "cost_of",
    "decode",
    "encode",
    "load_from_buffer",
    "load_from_file",
    "measure_str_key",
    "pick_best",
]
