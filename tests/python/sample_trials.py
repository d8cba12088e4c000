"""Trials of made-up kernels for tests of records."""

import os
import random
import subprocess
import sys
from datetime import datetime, timedelta, timezone

from texloom.costs.measured import site_subject
from texloom.records import (
    Clock,
    Failure,
    Kind,
    MeasuredDevice,
    Place,
    Subject,
    Trial,
    Verification,
    open_records,
)

DEVICE = MeasuredDevice("a device", "a platform", "1.0", "OpenCL C 1.2")
OTHER = MeasuredDevice("another", "a platform", "1.0", "OpenCL C 1.2")
BEGUN = datetime(2026, 12, 1, tzinfo=timezone.utc)


def subject(number=0, family="products", version=1):
    task = f"{number:032x}"
    return Subject(Kind.KERNEL, task, f"task {number}", "opencl", family, f"rows={number}", version)


def place(device=DEVICE):
    return Place(device, "a host", {"texloom": "1", "python": "3"})


def trial(of=None, seconds=1e-3, device=DEVICE, **others):
    others = {"begun": BEGUN, "knobs": {"rows": 4}, **others}
    if "failure" not in others:
        others.setdefault("times", (seconds, seconds * 0.5, seconds * 2))
    return Trial(subject() if of is None else of, place(device), **others)


def full_trial():
    """A trial in which every field has another value than its default."""
    return trial(
        knobs={"tile": [8, 4], "unrolled": True, "order": "ab\u00e9\n"},
        kernels=("0" * 32, "f" * 32),
        times=(0.1 + 0.2, 1e-9, 3.0),
        runs=7,
        clock=Clock.DEVICE,
        verification=Verification.PASSED,
        difference=1.5e-7,
        message="noisy",
        phases={"host compile": 0.25, "run": 1.0},
        parent=trial().id,
        begun=BEGUN + timedelta(microseconds=1),
    )


def record_costs(file, device, costs):
    """Add costs of call sites to a file of records: each as a trial with one time."""
    with open_records(file, creates=True) as records:
        records.add_all(
            trial(site_subject(each, "opencl"), each.ns * 1e-9, device, times=(each.ns * 1e-9,))
            for each in costs
        )


def random_trials(count, seed=0):
    """Trials of few subjects on two devices; some failed, some equally fast, clocks jump."""
    rng = random.Random(seed)
    return [
        trial(
            subject(rng.randrange(3)),
            device=rng.choice((DEVICE, OTHER)),
            knobs={"rows": rng.randrange(100)},
            begun=BEGUN + timedelta(days=rng.randrange(-20000, 20000)),
            **rng.choice(
                (
                    {"failure": rng.choice(list(Failure)), "message": "refused"},
                    {"seconds": rng.randrange(1, 30) * 1e-4},
                    {"seconds": rng.randrange(1, 30) * 1e-4},
                )
            ),
        )
        for _ in range(count)
    ]


def python(*arguments, before=(), **options):
    """Start Python on the test modules and on Texloom, in a process of its own."""
    folder = os.path.dirname(__file__)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([folder, *filter(None, sys.path)])}
    command = [*before, sys.executable, *map(str, arguments)]
    return subprocess.Popen(command, env=environment, text=True, **options)
