"""Trials as lines of JSON: one for each, with everything it has, so that a line stands alone."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from uuid import UUID

from ..errors import refuse
from ..whole_file import write_whole
from .json_objects import ObjectReader, check_texts
from .trial import (
    Clock,
    Failure,
    Kind,
    MeasuredDevice,
    Place,
    Subject,
    Trial,
    Verification,
    canonical,
)

FORMAT = 1
"""The version of the lines; those of other versions are refused."""


def line_of(trial: Trial) -> str:
    """Return the line of a trial, without its end. Equal trials have equal lines."""
    subject, place = trial.subject, trial.place
    return canonical(
        {
            "format": FORMAT,
            "id": str(trial.id),
            "begun": trial.begun.isoformat(timespec="microseconds"),
            "parent": None if trial.parent is None else str(trial.parent),
            "kind": subject.kind.value,
            "task": subject.task,
            "text": subject.text,
            "target": subject.target,
            "family": subject.family,
            "facts": subject.facts,
            "version": subject.version,
            "device": asdict(place.device),
            "host": place.host,
            "versions": dict(place.versions),
            "knobs": dict(trial.knobs),
            "kernels": trial.kernels,
            "times": trial.times,
            "runs": trial.runs,
            "clock": trial.clock.value,
            "verification": trial.verification.value,
            "difference": trial.difference,
            "failure": None if trial.failure is None else trial.failure.value,
            "message": trial.message,
            "phases": dict(trial.phases),
        }
    )


def trial_of_line(line: str) -> Trial:
    """Return the trial of a line; ValueError, which says why, for a line that has none."""
    facts = json.loads(line, parse_constant=_refuse_constant)
    if _ESCAPES.search(line) is not None:
        check_texts(facts)
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        raise ValueError(f"it is not an object with the format {FORMAT}")
    read = ObjectReader(facts)
    device = ObjectReader(read("device", dict))
    names = ("name", "platform", "driver", "compiler")
    place = Place(
        MeasuredDevice(*(device(each, str) for each in names)),
        read("host", str),
        read.mapping("versions", str),
    )
    subject = Subject(
        Kind(read("kind", str)),
        *(read(each, str) for each in ("task", "text", "target", "family", "facts")),
        read("version", int),
    )
    parent, failure = read.optional("parent", str), read.optional("failure", str)
    return Trial(
        subject=subject,
        place=place,
        knobs=read("knobs", dict),
        kernels=read.sequence("kernels", str),
        times=read.sequence("times", float),
        runs=read("runs", int),
        clock=Clock(read("clock", str)),
        verification=Verification(read("verification", str)),
        difference=read.optional("difference", float),
        failure=None if failure is None else Failure(failure),
        message=read("message", str),
        phases=read.mapping("phases", float),
        parent=None if parent is None else UUID(parent),
        begun=datetime.fromisoformat(read("begun", str)),
        id=UUID(read("id", str)),
    )


_ESCAPES = re.compile(r"\\u(?:0000|[dD])")


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def write_lines(trials: Iterable[Trial], path: Path) -> int:
    """Write a file of lines as a whole; return their number. Raises OSError."""
    count = 0

    def lines() -> Iterator[bytes]:
        nonlocal count
        for each in trials:
            count += 1
            yield (line_of(each) + "\n").encode()

    write_whole(path, lines())
    return count


def read_lines(path: Path) -> Iterator[Trial]:
    """Yield the trials of a file of lines. Raises OSError.

    Raises
    ------
    TVMError
        TL5019 at a line that has no trial, with its number.
    """
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield _trial_at(path, number, line)


def _trial_at(path: Path, number: int, line: bytes) -> Trial:
    try:
        return trial_of_line(line.decode())
    except (ValueError, RecursionError) as error:
        refuse(
            "BadFile",
            f"line {number} of {path} is no trial: {error}",
            "give a file that `texloom db export` wrote; what stands before the line may have been "
            "imported already, which does no harm",
        )


__all__ = ["FORMAT", "line_of", "read_lines", "trial_of_line", "write_lines"]
