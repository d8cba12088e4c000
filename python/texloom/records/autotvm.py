"""Logs of AutoTVM, version 0.2: a line of JSON for each trial.

A line has the target, the name and the arguments of a task, the values of its knobs, all times in
seconds, a number for the kind of error, the seconds of the whole trial and when it ended. See
`tvm/autotvm/record.py` and `measure.py` of TVM 0.8.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from ..errors import refuse
from ..whole_file import write_whole
from .foreign import family_of, foreign_place, foreign_subject, foreign_trial
from .json_objects import ObjectReader
from .trial import Failure, Subject, Trial, canonical

VERSION = 0.2
TUNER = "AutoTVM"
TVM_VERSION = "0.8.0"
"""What lines name as their writer: other tools than TVM's may read them."""
FAILED = [1e9]
"""The times of a failed trial."""
_TRIAL = "trial"  # the phase that is the whole trial

FAILURES = {
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
NUMBERS = {
    **{failure: number for number, failure in FAILURES.items()},
    Failure.DEVICE_LOST: 4,
    Failure.OUT_OF_MEMORY: 4,
}


@dataclass(frozen=True)
class LogLine:
    """A line of a log.

    Attributes
    ----------
    facts : mapping
        The whole line.
    target, task : str
    arguments : sequence
        Of the task: a list of positional ones, and an object of others.
    config : mapping
        The configuration.
    times : sequence of float
        In seconds; those of a failed trial mean nothing.
    error : int
        0, or one of :data:`FAILURES`.
    spent, ended : float
        The seconds of the whole trial, and when it ended, in seconds since 1970.
    """

    facts: Mapping[str, Any]
    target: str
    task: str
    arguments: Sequence[Any]
    config: Mapping[str, Any]
    times: Sequence[float]
    error: int
    spent: float
    ended: float

    @classmethod
    def parse(cls, line: str) -> LogLine:
        """Return a line; ValueError, which says why, for a line that has no trial."""
        facts = json.loads(line)
        if not isinstance(facts, dict) or facts.get("version") != VERSION:
            raise ValueError(f"it is not an object with the version {VERSION}")
        read = ObjectReader(facts)
        target, name, *arguments = _items(read("input", list), (str, str, list, dict), "input")
        kinds = (list, int, float, float)
        times, error, spent, ended = _items(read("result", list), kinds, "result")
        if error != 0 and error not in FAILURES:
            raise ValueError(f"there is no error with the number {error}")
        config, seconds = read("config", dict), list(map(_number, times))
        return cls(facts, target, name, arguments, config, seconds, error, spent, ended)


def log_line(trial: Trial) -> str:
    """Return the line of a trial; other tools than TVM's can read what it has."""
    failure, subject = trial.failure, trial.subject
    name, arguments = _task_of(subject)
    spent = trial.phases.get(_TRIAL, sum(trial.phases.values()))
    return canonical(
        {
            "input": [subject.target, name, *arguments],
            "config": {
                "index": 0,
                "code_hash": None,
                "entity": [[name, "ot", value] for name, value in trial.knobs.items()],
            },
            "result": [
                list(trial.times) if failure is None else FAILED,
                0 if failure is None else NUMBERS[failure],
                spent,
                trial.begun.timestamp() + spent,
            ],
            "version": VERSION,
            "tvm_version": TVM_VERSION,
        }
    )


def _task_of(subject: Subject) -> tuple[str, list[Any]]:
    """Return the name of the task, with its arguments: those of AutoTVM's own, and of others."""
    prefix = family_of(TUNER, "")
    if subject.family.startswith(prefix):
        return subject.family.removeprefix(prefix), json.loads(subject.facts)
    return subject.family, [[subject.task, subject.facts], {}]


def trial_of_log_line(line: str, device: str) -> Trial:
    """Return the trial of a line; ValueError, which says why, for a line that has none."""
    log = LogLine.parse(line)
    entities = ObjectReader(dict(log.config)).sequence("entity", list)
    knobs = {
        str(knob): value
        for knob, _, value in (_items(each, (str, str, object), "entity") for each in entities)
    }
    fields = {
        "knobs": knobs,
        "times": tuple(log.times) if log.error == 0 else (),
        "failure": FAILURES.get(log.error),
        "phases": {_TRIAL: log.spent},
        "begun": datetime.fromtimestamp(log.ended - log.spent, timezone.utc),
    }
    subject = foreign_subject(TUNER, log.task, log.target, log.arguments)
    return foreign_trial(subject, foreign_place(device), log.facts, fields)


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


__all__ = [
    "FAILED",
    "FAILURES",
    "NUMBERS",
    "TUNER",
    "TVM_VERSION",
    "VERSION",
    "LogLine",
    "log_line",
    "read_log",
    "trial_of_log_line",
    "write_log",
]
