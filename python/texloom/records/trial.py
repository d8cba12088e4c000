"""Trials: what was measured, on what, and what came of it.

This module needs only the standard library.
"""

from __future__ import annotations

import json
import platform
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from enum import Enum
from functools import cached_property
from hashlib import sha256
from itertools import accumulate
from math import comb, isfinite
from statistics import median, quantiles
from typing import Any

from ..version import VERSION

_DIGEST_LENGTH = 32  # hexadecimal digits
_DOUBT = 0.05  # the probability that a median is not within its bounds
_LARGEST = 2**31 - 1  # what all databases store as an integer


class Kind(Enum):
    """What a trial measures."""

    KERNEL = "kernel"
    """A kernel of an operator, with knobs of a family of schedules."""
    CALL_SITE = "call site"
    """The kernels of a node of a graph, between its neighbors: see docs/costs.md."""
    NETWORK = "network"
    """All launches of a graph."""


class Clock(Enum):
    """The source of times."""

    HOST = "host"
    """A monotonic clock of the host, around runs that end with a wait for the device."""
    DEVICE = "device"
    """The time stamps of the device."""


class Verification(Enum):
    """Whether the outputs were compared with those that are expected."""

    NONE = "none"
    PASSED = "passed"
    FAILED = "failed"


class Failure(Enum):
    """The class of the error that ended a trial."""

    CONSTRAINT = "constraint"
    """The knobs break a rule, or the limits of the device."""
    HOST_COMPILE = "host compile"
    """Texloom did not compile the schedule."""
    DEVICE_COMPILE = "device compile"
    """The driver did not compile the kernels."""
    BUILD_TIMEOUT = "build timeout"
    """A compiler took too long."""
    LAUNCH = "launch"
    """The device refused the launch, or failed in it."""
    RUN_TIMEOUT = "run timeout"
    """A run took too long."""
    WRONG_RESULT = "wrong result"
    """An output differs by more than the tolerance."""
    DEVICE_LOST = "device lost"
    """The device, or its driver, stopped to work."""
    OUT_OF_MEMORY = "out of memory"
    """The device or the host had too little memory."""
    INTERNAL = "internal"
    """A bug of Texloom."""


@dataclass(frozen=True)
class MeasuredDevice:
    """A device, with the driver and the compiler for which measured times hold.

    Attributes
    ----------
    name, platform : str
        Names of the device and of the implementation.
    driver, compiler : str
        Versions of the driver and its compiler, as reported by the implementation.
    """

    name: str
    platform: str
    driver: str
    compiler: str

    def __str__(self) -> str:
        """Return the name of the device, with the version of the driver if it has one."""
        return f"{self.name} (driver {self.driver})" if self.driver else self.name


@dataclass(frozen=True)
class Subject:
    """What trials measure and compare: trials of one subject differ in knobs.

    Attributes
    ----------
    kind : Kind
    task : str
        The identity of the task: of an operator, a call site or a network.
    text : str
        The task itself: the text form of an operator, or facts as JSON.
    target : str
        What kernels are compiled for.
    family, facts : str
        For a kernel: the name of the family of schedules that makes it, and what the family knows
        of the task. Empty for others.
    version : int
        The version of the family's space (:attr:`.Spaces.version`); 0 for others.
    """

    kind: Kind
    task: str
    text: str
    target: str
    family: str = ""
    facts: str = ""
    version: int = 0

    @cached_property
    def identity(self) -> str:
        """A digest that changes exactly if the task, the target or the space does."""
        parts = (self.kind.value, self.task, self.target, self.family, self.facts, self.version)
        return digest_of(canonical(parts))


@dataclass(frozen=True)
class Place:
    """Where a trial ran.

    Attributes
    ----------
    device : MeasuredDevice
    host : str
        The name of the machine.
    versions : mapping of str to str
        Versions of what decides on kernels and times, by name.
    """

    device: MeasuredDevice
    host: str
    versions: Mapping[str, str]

    @classmethod
    def here(cls, device: MeasuredDevice) -> Place:
        """Return a device of this machine, with the versions of this process."""
        versions = {
            "texloom": VERSION,
            "python": platform.python_version(),
            "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        }
        return cls(device, platform.node(), versions)


def _now() -> datetime:
    return datetime.now(timezone.utc)


@dataclass(frozen=True)
class Trial:
    """One trial: knobs of a subject that were measured, or why they could not be.

    Attributes
    ----------
    subject : Subject
    place : Place
    knobs : mapping of str to Any
        The knobs by name, as values of JSON. Empty if the subject has none.
    kernels : tuple of str
        Digests of the sources of the kernels; see :func:`kernel_digest`.
    times : tuple of float
        All measured times, in seconds for each run. Empty if the trial failed.
    runs : int
        The consecutive runs of which each of `times` is the mean.
    clock : Clock
    verification : Verification
    difference : float or None
        The largest difference of an output to the expected one, relative to the largest element.
    failure : Failure or None
        Why there are no times; None if there are.
    message : str
        What was wrong.
    phases : mapping of str to float
        Seconds that each phase of the trial took, such as ``"device compile"``.
    parent : UUID or None
        The trial from which this one was made.
    begun : datetime
        When the trial began, in UTC by the host's clock, which may jump: nothing depends on it but
        the order of exported lines.
    id : UUID
        Names the trial in every database.

    Raises
    ------
    ValueError
        For times that are not positive numbers, for times of a failed trial, and for a trial that
        has neither.
    """

    subject: Subject
    place: Place
    knobs: Mapping[str, Any] = field(default_factory=dict)
    kernels: tuple[str, ...] = ()
    times: tuple[float, ...] = ()
    runs: int = 1
    clock: Clock = Clock.HOST
    verification: Verification = Verification.NONE
    difference: float | None = None
    failure: Failure | None = None
    message: str = ""
    phases: Mapping[str, float] = field(default_factory=dict)
    parent: uuid.UUID | None = None
    begun: datetime = field(default_factory=_now)
    id: uuid.UUID = field(default_factory=uuid.uuid4)

    def __post_init__(self) -> None:
        if bool(self.times) == (self.failure is not None):
            raise ValueError("a trial has either times or a failure")
        if not all(isfinite(each) and each > 0 for each in self.times) or self.runs < 1:
            raise ValueError("times and runs are positive numbers")
        if max(self.runs, self.subject.version) > _LARGEST:
            raise ValueError(f"runs and versions are at most {_LARGEST}")
        if self.verification is Verification.FAILED and self.failure is None:
            raise ValueError("a trial whose outputs are wrong has failed")
        if self.difference is not None and not isfinite(self.difference):
            raise ValueError("a difference is a finite number")
        if self.begun.tzinfo is None:
            raise ValueError("the beginning has a time zone")

    @property
    def seconds(self) -> float | None:
        """The median of the times; None if the trial failed."""
        return median(self.times) if self.times else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The bounds of the median with at least 95 % confidence; None if the trial failed.

        They are times of equal ranks from both ends, whatever the distribution: the median is
        beyond the r-th of n times, counted from 0, with a probability of 2 P(B <= r), for
        B ~ binomial(n, 1/2). Fewer than six times reach less, and are all within the bounds.
        """
        if not self.times:
            return None
        ordered, count = sorted(self.times), len(self.times)
        beyond = accumulate(2 * comb(count, rank) * 0.5**count for rank in range(count))
        rank = max(sum(each <= _DOUBT for each in beyond) - 1, 0)
        return ordered[rank], ordered[-1 - rank]

    @property
    def spread(self) -> float | None:
        """The distance of the quartiles of the times; None if the trial failed."""
        if len(self.times) < 2:
            return 0.0 if self.times else None
        lower, _, upper = quantiles(self.times, method="inclusive")
        return upper - lower


def canonical(value: Any) -> str:
    """Return the one JSON text of a value; ValueError for numbers that JSON lacks."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False
    )


def digest_of(text: str) -> str:
    """Return the digest of a text, as hexadecimal digits."""
    return sha256(text.encode()).hexdigest()[:_DIGEST_LENGTH]


def kernel_digest(source: str) -> str:
    """Return the digest of a kernel's source, by which changed code is noticed."""
    return digest_of(source)


__all__ = [
    "Clock",
    "Failure",
    "Kind",
    "MeasuredDevice",
    "Place",
    "Subject",
    "Trial",
    "Verification",
    "canonical",
    "digest_of",
    "kernel_digest",
]
