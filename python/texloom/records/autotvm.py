"""Logs of AutoTVM, version 0.2: a line of JSON for each trial.

A line has the target, the name and the arguments of a task, the values of its knobs, all times in
seconds, a number for the kind of error, the seconds of the whole trial and when it ended. See
`tvm/autotvm/record.py` and `measure.py` of TVM 0.8.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from ..errors import refuse
from ..whole_file import write_whole
from .foreign import foreign_place, foreign_subject, foreign_trial
from .json_objects import ObjectReader
from .trial import Failure, Trial, canonical

VERSION = 0.2
_TUNER = "AutoTVM"
_FAILED = [1e9]  # the times of a failed trial
_TRIAL = "trial"  # the phase that is the whole trial

_FAILURES = {
    1: Failure.CONSTRAINT,
    2: Failure.HOST_COMPILE,
    3: Failure.DEVICE_COMPILE,
    4: Failure.LAUNCH,
    5: Failure.WRONG_RESULT,
    6: Failure.BUILD_TIMEOUT,
    7: Failure.RUN_TIMEOUT,
    8: Failure.INTERNAL,
}
"""The failures by the numbers of MeasureErrorNo."""
_NUMBERS = {
    **{failure: number for number, failure in _FAILURES.items()},
    Failure.DEVICE_LOST: 4,
    Failure.OUT_OF_MEMORY: 4,
}


def log_line(trial: Trial) -> str:
    """Return the line of a trial; other tools than TVM's can read what it has."""
    failure, subject = trial.failure, trial.subject
    spent = trial.phases.get(_TRIAL, sum(trial.phases.values()))
    return canonical(
        {
            "input": [subject.target, subject.family, [subject.task, subject.facts], {}],
            "config": {
                "index": 0,
                "code_hash": None,
                "entity": [[name, "ot", value] for name, value in trial.knobs.items()],
            },
            "result": [
                list(trial.times) if failure is None else _FAILED,
                0 if failure is None else _NUMBERS[failure],
                spent,
                trial.begun.timestamp() + spent,
            ],
            "version": VERSION,
            "tvm_version": "0.8.0",
        }
    )


def trial_of_log_line(line: str, device: str) -> Trial:
    """Return the trial of a line; ValueError, which says why, for a line that has none."""
    facts = json.loads(line)
    if not isinstance(facts, dict) or facts.get("version") != VERSION:
        raise ValueError(f"it is not an object with the version {VERSION}")
    read = ObjectReader(facts)
    target, name, *arguments = _items(read("input", list), (str, str, list, dict), "input")
    times, error, spent, ended = _items(read("result", list), (list, int, float, float), "result")
    entities = ObjectReader(read("config", dict)).sequence("entity", list)
    knobs = {
        str(knob): value
        for knob, _, value in (_items(each, (str, str, object), "entity") for each in entities)
    }
    if error != 0 and error not in _FAILURES:
        raise ValueError(f"there is no error with the number {error}")
    fields = {
        "knobs": knobs,
        "times": tuple(map(_number, times)) if error == 0 else (),
        "failure": _FAILURES.get(error),
        "phases": {_TRIAL: spent},
        "begun": datetime.fromtimestamp(ended - spent, timezone.utc),
    }
    subject = foreign_subject(_TUNER, name, target, arguments)
    return foreign_trial(subject, foreign_place(device), facts, fields)


def _items(values: list[Any], kinds: tuple[type, ...], what: str) -> list[Any]:
    if len(values) != len(kinds):
        raise ValueError(f"{what!r} has {len(values)} items instead of {len(kinds)}")
    found = [_number(v) if kind is float else v for v, kind in zip(values, kinds, strict=True)]
    if not all(isinstance(value, kind) for value, kind in zip(found, kinds, strict=True)):
        raise ValueError(f"{what!r} has items of other types")
    return found


def _number(value: Any) -> float:
    if type(value) not in (int, float):
        raise ValueError(f"{value!r} is no number")
    return float(value)


def write_log(trials: Iterable[Trial], path: Path) -> int:
    """Write a log as a whole; return the number of its lines. Raises OSError."""
    lines = [log_line(each) + "\n" for each in trials]
    write_whole(path, "".join(lines).encode())
    return len(lines)


def read_log(path: Path, device: str) -> Iterator[Trial]:
    """Yield the trials of a log, which were measured on a device. Raises OSError.

    Raises
    ------
    TVMError
        TL5019 at a line that has no trial, with its number.
    """
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip() and not line.startswith(b"#"):
                yield _trial_at(path, number, line, device)


def _trial_at(path: Path, number: int, line: bytes, device: str) -> Trial:
    try:
        return trial_of_log_line(line.decode(), device)
    except (ValueError, OverflowError, OSError, RecursionError) as error:
        refuse(
            "BadFile",
            f"line {number} of {path} is no trial of AutoTVM: {error}",
            f"give a log of AutoTVM of the version {VERSION}, as TVM 0.8 writes it",
        )


__all__ = ["VERSION", "log_line", "read_log", "trial_of_log_line", "write_log"]
