"""Files of the best knobs: small, to be checked in, and enough to compile without a database."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import refuse
from ..whole_file import write_whole
from .json_objects import ObjectReader
from .points import Point
from .trial import Kind, MeasuredDevice, Subject, canonical

FORMAT = 1
"""The version of the files; those of other versions are refused."""


@dataclass(frozen=True)
class BestKnobs:
    """The best knobs of a kernel.

    Attributes
    ----------
    key : str
        :attr:`.Subject.identity`: it changes exactly if the task, the target or the space does.
    family : str
    version : int
        Of the family's space.
    target, facts : str
        For people: what the kernel is for.
    knobs : mapping of str to Any
    microseconds : float
        What the kernel took.
    device : str
        Where it was measured.
    """

    key: str
    family: str
    version: int
    target: str
    facts: str
    knobs: Mapping[str, Any]
    microseconds: float
    device: str

    @classmethod
    def of(
        cls, subject: Subject, knobs: Mapping[str, Any], seconds: float, device: MeasuredDevice
    ) -> BestKnobs:
        """Return the knobs of a kernel that were measured to take some seconds."""
        return cls(
            subject.identity,
            subject.family,
            subject.version,
            subject.target,
            subject.facts,
            knobs,
            round(seconds * 1e6, 3),
            str(device),
        )


def best_knobs(points: Iterable[Point]) -> list[BestKnobs]:
    """Return the best knobs of each kernel; of several drivers of a device, the faster one counts.

    Parameters
    ----------
    points : iterable of Point
        The best point of each subject on each device; those that are not of kernels, and those
        without a time, are passed over.

    Raises
    ------
    TVMError
        TL7001 for points of several devices.
    """
    found: dict[str, BestKnobs] = {}
    devices = set()
    for each in points:
        subject, device = each.trials[0].subject, each.trials[0].place.device
        if subject.kind is not Kind.KERNEL or each.seconds is None:
            continue
        devices.add(device.name)
        made = BestKnobs.of(subject, each.knobs, each.seconds, device)
        known = found.setdefault(made.key, made)
        if made.microseconds < known.microseconds:
            found[made.key] = made
    if len(devices) > 1:
        refuse(
            "BadOption",
            f"the best points are of several devices: {', '.join(sorted(devices))}",
            "name one of them: --device NAME",
        )
    return sorted(found.values(), key=lambda each: (each.family, each.target, each.facts, each.key))


def write_best(entries: Iterable[BestKnobs], path: Path) -> None:
    """Write a file as a whole, with a line for each kernel. Raises OSError."""
    lines = ",\n".join(canonical(vars(each)) for each in entries)
    write_whole(path, f'{{"format":{FORMAT},"kernels":[\n{lines}\n]}}\n'.encode())


def read_best(path: Path) -> list[BestKnobs]:
    """Return what :func:`write_best` wrote.

    Raises
    ------
    TVMError
        TL5018 for a file that cannot be read, TL5019 for one with other contents.
    """
    try:
        facts = json.loads(path.read_bytes())
        if not isinstance(facts, dict) or facts.get("format") != FORMAT:
            raise ValueError(f"it is not an object with the format {FORMAT}")
        kernels = ObjectReader(facts).sequence("kernels", dict)
        return [_entry(ObjectReader(each)) for each in kernels]
    except OSError as error:
        refuse(
            "FileError",
            f"{path} cannot be read: {error.strerror}",
            "name a file that `texloom db export --best` wrote",
        )
    except (ValueError, RecursionError) as error:
        refuse(
            "BadFile",
            f"{path} is no file of the best knobs: {error}",
            "name a file that `texloom db export --best` wrote",
        )


def _entry(read: ObjectReader) -> BestKnobs:
    return BestKnobs(
        read("key", str),
        read("family", str),
        read("version", int),
        read("target", str),
        read("facts", str),
        read("knobs", dict),
        read("microseconds", float),
        read("device", str),
    )


__all__ = ["BestKnobs", "best_knobs", "read_best", "write_best"]
