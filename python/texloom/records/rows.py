"""Trials as rows of the tables, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field
from datetime import datetime, timedelta, timezone
from types import MappingProxyType
from typing import Any

from sqlalchemy import ColumnElement, Connection, Insert, Select, and_, select
from sqlalchemy.dialects import postgresql, sqlite

from .schema import Base, BestRow, DeviceRow, HostRow, SubjectRow, TaskRow, TrialRow
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
from .wanted import Wanted

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_NOTHING: Mapping[str, Any] = MappingProxyType({})
_MOST_VALUES = 500  # in one list of a query


def trials_query() -> Select[Any]:
    """Return the query whose rows :func:`trial_of` reads; callers add conditions and an order."""
    return (
        select(TrialRow, SubjectRow, TaskRow, DeviceRow, HostRow)
        .join(SubjectRow, TrialRow.subject_id == SubjectRow.id)
        .join(TaskRow, SubjectRow.task_id == TaskRow.id)
        .join(DeviceRow, TrialRow.device_id == DeviceRow.id)
        .join(HostRow, TrialRow.host_id == HostRow.id)
    )


def subject_of(task: TaskRow, subject: SubjectRow) -> Subject:
    """Return the subject of two rows."""
    return Subject(
        Kind(task.kind),
        task.identity,
        task.text,
        subject.target,
        subject.family,
        subject.facts,
        subject.version,
    )


def device_of(row: DeviceRow) -> MeasuredDevice:
    """Return the device of a row."""
    return MeasuredDevice(row.name, row.platform, row.driver, row.compiler)


def trial_of(
    trial: TrialRow, subject: SubjectRow, task: TaskRow, device: DeviceRow, host: HostRow
) -> Trial:
    """Return the trial of the rows of :func:`trials_query`; ValueError for damaged ones."""
    return Trial(
        subject=subject_of(task, subject),
        place=Place(device_of(device), host.name, json.loads(host.versions_json)),
        knobs=json.loads(trial.knobs_json),
        kernels=tuple(json.loads(trial.kernels_json)),
        times=tuple(json.loads(trial.times_json)),
        runs=trial.runs,
        clock=Clock(trial.clock),
        verification=Verification(trial.verification),
        difference=trial.difference,
        failure=None if trial.failure is None else Failure(trial.failure),
        message=trial.message,
        phases=json.loads(trial.phases_json),
        parent=trial.parent,
        begun=_EPOCH + timedelta(microseconds=trial.begun),
        id=trial.id,
    )


def device_is(device: MeasuredDevice) -> ColumnElement[bool]:
    """Return the condition that a row of `devices` is this device."""
    own = (DeviceRow.name, DeviceRow.platform, DeviceRow.driver, DeviceRow.compiler)
    return and_(*(column == value for column, value in zip(own, astuple(device), strict=True)))


def filtered(query: Select[Any], wanted: Wanted) -> Select[Any]:
    """Add conditions to a query that joins subjects, tasks and devices."""
    if wanted.subject is not None:
        query = query.where(SubjectRow.identity == wanted.subject.identity)
    if wanted.kind is not None:
        query = query.where(TaskRow.kind == wanted.kind.value)
    if wanted.task is not None:
        query = query.where(TaskRow.identity.startswith(wanted.task, autoescape=True))
    if wanted.family is not None:
        query = query.where(SubjectRow.family == wanted.family)
    if wanted.target is not None:
        query = query.where(SubjectRow.target == wanted.target)
    if isinstance(wanted.device, str):
        query = query.where(DeviceRow.name.contains(wanted.device, autoescape=True))
    elif wanted.device is not None:
        query = query.where(device_is(wanted.device))
    return query


@dataclass
class Additions:
    """The trials that one transaction adds, with the rows that they share.

    Parameters
    ----------
    connection : Connection
        Within a transaction that writes.
    """

    connection: Connection
    _known: dict[Any, int] = field(default_factory=dict)

    def add(self, trials: Sequence[Trial]) -> int:
        """Add trials that the database does not have yet; return their number."""
        known = self._known_ids(trials)
        new = {each.id: each for each in trials if each.id not in known}
        if new:
            rows = [self._row(each) for each in new.values()]
            self.connection.execute(self._insert(TrialRow), rows)
            self._add_bests(rows)
        return len(new)

    def _known_ids(self, trials: Sequence[Trial]) -> set[Any]:
        known: set[Any] = set()
        for first in range(0, len(trials), _MOST_VALUES):
            some = [each.id for each in trials[first : first + _MOST_VALUES]]
            known |= set(self.connection.scalars(select(TrialRow.id).where(TrialRow.id.in_(some))))
        return known

    def _row(self, trial: Trial) -> dict[str, Any]:
        place = trial.place
        return {
            "id": trial.id,
            "subject_id": self._subject(trial.subject),
            "device_id": self._shared(DeviceRow, vars(place.device)),
            "host_id": self._shared(
                HostRow, {"name": place.host, "versions_json": canonical(dict(place.versions))}
            ),
            "knobs_json": canonical(dict(trial.knobs)),
            "kernels_json": canonical(trial.kernels),
            "times_json": canonical(trial.times),
            "samples": len(trial.times),
            "runs": trial.runs,
            "clock": trial.clock.value,
            "seconds": trial.seconds,
            "spread": trial.spread,
            "verification": trial.verification.value,
            "difference": trial.difference,
            "failure": None if trial.failure is None else trial.failure.value,
            "message": trial.message,
            "phases_json": canonical(dict(trial.phases)),
            "parent": trial.parent,
            "begun": (trial.begun - _EPOCH) // timedelta(microseconds=1),
        }

    def _subject(self, subject: Subject) -> int:
        task = {"identity": subject.task, "kind": subject.kind.value}
        others = {
            "task_id": self._shared(TaskRow, task, {"text": subject.text}),
            "target": subject.target,
            "family": subject.family,
            "facts": subject.facts,
            "version": subject.version,
        }
        return self._shared(SubjectRow, {"identity": subject.identity}, others)

    def _shared(
        self, model: type[Base], key: Mapping[str, Any], others: Mapping[str, Any] = _NOTHING
    ) -> int:
        """Return the number of the row with a key, which is added if there is none."""
        known_as = (model, *key.values())
        if known_as not in self._known:
            row = self._insert(model).values({**key, **others})
            self.connection.execute(row.on_conflict_do_nothing())
            columns = model.__table__.c
            number = select(columns.id).where(*(columns[name] == key[name] for name in key))
            self._known[known_as] = int(self.connection.execute(number).scalar_one())
        return self._known[known_as]

    def _add_bests(self, rows: Sequence[dict[str, Any]]) -> None:
        best: dict[tuple[int, int], dict[str, Any]] = {}
        for row in rows:
            if row["seconds"] is None:
                continue
            key = row["subject_id"], row["device_id"]
            if key not in best or row["seconds"] < best[key]["seconds"]:
                names = ("subject_id", "device_id", "seconds")
                best[key] = {**{name: row[name] for name in names}, "trial": row["id"]}
        if not best:
            return
        added = self._insert(BestRow)
        taken = {"trial": added.excluded.trial, "seconds": added.excluded.seconds}
        better = added.excluded.seconds < BestRow.seconds
        keys = [BestRow.subject_id, BestRow.device_id]
        added = added.on_conflict_do_update(index_elements=keys, set_=taken, where=better)
        self.connection.execute(added, list(best.values()))

    def _insert(self, model: type[Base]) -> Any:
        """Return an insertion that may meet a row with the same key."""
        made: Insert
        if self.connection.dialect.name == "postgresql":
            made = postgresql.insert(model)
        else:
            made = sqlite.insert(model)
        return made


__all__ = [
    "Additions",
    "device_is",
    "device_of",
    "filtered",
    "subject_of",
    "trial_of",
    "trials_query",
]
