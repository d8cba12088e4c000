"""Files in the T4 format, version 1.0.0, in which Kernel Tuner writes the results of a search.

T4 is the results schema of https://github.com/odgaard/TuningSchema. A file has the results of one
kernel, which it does not name. All times are in milliseconds, as Kernel Tuner's are.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, NoReturn

from ..errors import refuse
from ..whole_file import write_whole
from .foreign import foreign_place, foreign_subject, foreign_trial
from .json_objects import ObjectReader
from .trial import Failure, Place, Subject, Trial, Verification, canonical

VERSION = "1.0.0"
_TUNER = "Kernel Tuner"

_INVALIDITY = {
    Failure.CONSTRAINT: "constraints",
    Failure.HOST_COMPILE: "compile",
    Failure.DEVICE_COMPILE: "compile",
    Failure.BUILD_TIMEOUT: "timeout",
    Failure.RUN_TIMEOUT: "timeout",
    Failure.WRONG_RESULT: "correctness",
}
"""The words for failures; that of others is "runtime"."""
_FAILURES = {
    "correct": None,
    "constraints": Failure.CONSTRAINT,
    "compile": Failure.DEVICE_COMPILE,
    "timeout": Failure.RUN_TIMEOUT,
    "correctness": Failure.WRONG_RESULT,
    "runtime": Failure.LAUNCH,
}
_PHASES = {"host compile": "compilation_time", "run": "benchmark", "first run": "validation"}
"""What T4 calls phases."""


def _result(trial: Trial) -> dict[str, Any]:
    times: dict[str, Any] = {"runtimes": [each * 1e3 for each in trial.times]}
    for phase, seconds in trial.phases.items():
        name = _PHASES.get(phase, phase)
        times[name] = times.get(name, 0.0) + seconds * 1e3
    seconds = trial.seconds
    measured = [] if seconds is None else [{"name": "time", "value": seconds * 1e3, "unit": "ms"}]
    failure = trial.failure
    return {
        "timestamp": trial.begun.isoformat(timespec="microseconds"),
        "configuration": dict(trial.knobs),
        "objectives": ["time"],
        "times": times,
        "invalidity": "correct" if failure is None else _INVALIDITY.get(failure, "runtime"),
        "correctness": 0 if failure is Failure.WRONG_RESULT else 1,
        "measurements": measured,
    }


def write_t4(trials: Iterable[Trial], path: Path) -> int:
    """Write a file as a whole; return the number of results. Raises OSError.

    Raises
    ------
    TVMError
        TL7001 for trials of several kernels, targets or devices.
    """
    found = list(trials)
    searches = {(each.subject.identity, each.place.device) for each in found}
    if len(searches) > 1:
        refuse(
            "BadOption",
            f"a file in the T4 format has trials of one kernel on one device, and these are of "
            f"{len(searches)}",
            "name one: --task ID --family NAME --device NAME",
        )
    results = ",\n".join(canonical(_result(each)) for each in found)
    text = f'{{"schema_version":"{VERSION}","results":[\n{results}\n]}}\n'
    write_whole(path, text.encode())
    return len(found)


def read_t4(path: Path, kernel: str, target: str, device: str) -> Iterator[Trial]:
    """Yield the trials of a file, which has neither the kernel's name, nor target and device.

    Raises OSError.

    Raises
    ------
    TVMError
        TL5019 for a file in another format, or for a result that is no trial.
    """
    subject, place = foreign_subject(_TUNER, kernel, target, []), foreign_place(device)
    try:
        facts = json.loads(path.read_bytes())
        if not isinstance(facts, dict) or facts.get("schema_version") != VERSION:
            raise ValueError(f"it is not an object with the schema_version {VERSION}")
        results = ObjectReader(facts).sequence("results", dict)
    except (ValueError, RecursionError) as error:
        _refuse(path, str(error))
    for number, each in enumerate(results, 1):
        yield _trial_at(path, number, subject, place, each)


def _trial_at(
    path: Path, number: int, subject: Subject, place: Place, result: dict[str, Any]
) -> Trial:
    try:
        return foreign_trial(subject, place, result, _fields(ObjectReader(result)))
    except ValueError as error:
        _refuse(path, f"result {number}: {error}")


def _refuse(path: Path, reason: str) -> NoReturn:
    refuse(
        "BadFile",
        f"{path} is not in the T4 format: {reason}",
        f"give what Kernel Tuner's store_output_file wrote, of the version {VERSION}",
    )


def _fields(read: ObjectReader) -> dict[str, Any]:
    word, times = read("invalidity", str), read("times", dict)
    if word not in _FAILURES:
        raise ValueError(f"there is no invalidity {word!r}")
    failure = _FAILURES[word]
    runs = ObjectReader(times).sequence("runtimes", float) if failure is None else ()
    phases = {
        name: float(value) / 1e3 for name, value in times.items() if type(value) in (int, float)
    }
    return {
        "knobs": read("configuration", dict),
        "times": tuple(each / 1e3 for each in runs),
        "failure": failure,
        "verification": (
            Verification.FAILED if failure is Failure.WRONG_RESULT else Verification.NONE
        ),
        "phases": phases,
        "begun": _begun(read("timestamp", str)),
    }


def _begun(text: str) -> datetime:
    found = datetime.fromisoformat(text)
    return found if found.tzinfo is not None else found.replace(tzinfo=timezone.utc)


__all__ = ["VERSION", "read_t4", "write_t4"]
