"""Conditions on the trials that a query finds. This module needs only the standard library."""

from __future__ import annotations

from dataclasses import dataclass

from .trial import Kind, MeasuredDevice, Subject


@dataclass(frozen=True)
class Wanted:
    """Conditions on trials; those that are None hold for all.

    Attributes
    ----------
    subject : Subject, optional
    kind : Kind, optional
    task : str, optional
        The first digits of the identity of a task.
    family : str, optional
        The name of a family.
    target : str, optional
    device : MeasuredDevice or str, optional
        A device, or a part of the name of some.
    """

    subject: Subject | None = None
    kind: Kind | None = None
    task: str | None = None
    family: str | None = None
    target: str | None = None
    device: MeasuredDevice | str | None = None


ALL = Wanted()
"""All trials."""

__all__ = ["ALL", "Wanted"]
