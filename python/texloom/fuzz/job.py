"""What a worker does with one program."""

from __future__ import annotations

import traceback
from dataclasses import dataclass

from .._core import Device
from ..errors import TVMError
from .case import make_case
from .check import Outcome, check, first_line


@dataclass(frozen=True)
class Job:
    """A program to run: the one of a seed, or a text."""

    seed: int
    devices: tuple[int, ...]
    text: str = ""


@dataclass(frozen=True)
class Result:
    """What became of it."""

    outcome: Outcome
    text: str = ""
    features: frozenset[str] = frozenset()


def run_job(job: Job) -> Result:
    """In a process of its own."""
    targets = [Device(n) for n in job.devices]
    if job.text:
        return Result(check(job.text, targets))
    try:
        case = make_case(job.seed)
    except TVMError as error:
        return Result(Outcome("refused", f"{error.diagnostics[0].code} {first_line(error)}"))
    except Exception:
        return Result(Outcome("the fuzzer's own fault", traceback.format_exc()))
    outcome = check(case.text, targets, case.copies)
    return Result(outcome, case.text, frozenset(case.features))


def text_of(seed: int) -> str:
    """The program of a seed."""
    return make_case(seed).text
