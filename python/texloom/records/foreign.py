"""What trials in the formats of other tuners have in common.

Their kernels are not Texloom's, so each has a family that no family of schedules is called. They
do not name the device on which they were measured, and have no names of their own: the name of a
trial is a digest of what is known of it, so that importing a file twice adds each trial once.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from .json_objects import check_texts
from .trial import Kind, MeasuredDevice, Place, Subject, Trial, canonical, digest_of

_NAMESPACE = uuid.UUID("6c1b6f5e-6f0b-5b0e-9a43-9f6f1a3d2c11")


def family_of(tuner: str, kernel: str) -> str:
    """Return the family under which records have a kernel that no family of Texloom makes."""
    return f"{tuner}: {kernel}"


def is_foreign(family: str) -> bool:
    """Whether a family is one of :func:`family_of`: Texloom does not know its versions."""
    return ": " in family


def foreign_subject(tuner: str, kernel: str, target: str, facts: Any) -> Subject:
    """Return the subject of a kernel of another tuner, whose facts are a value of JSON."""
    text = canonical([tuner, kernel, facts])
    return Subject(
        Kind.KERNEL, digest_of(text), text, target, family_of(tuner, kernel), canonical(facts)
    )


def foreign_place(device: str) -> Place:
    """Return the place of trials of which the name of the device is all that is known."""
    return Place(MeasuredDevice(device, "", "", ""), "", {})


def foreign_trial(subject: Subject, place: Place, row: Any, fields: Mapping[str, Any]) -> Trial:
    """Return a trial whose name follows from its row in the file.

    Raises ValueError for fields that make no trial, and for texts that databases cannot store.
    """
    check_texts(row)
    known = [subject.identity, asdict(place.device), row]
    return Trial(subject, place, id=uuid.uuid5(_NAMESPACE, canonical(known)), **fields)


__all__ = ["family_of", "foreign_place", "foreign_subject", "foreign_trial", "is_foreign"]
