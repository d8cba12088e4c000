"""The tables of a database of records, as SQLAlchemy's models.

`migrations/` makes them, and brings databases of earlier versions up to date; a test compares both.

What many trials share has a row of its own: tasks with their texts, subjects, devices, hosts and
sets of versions. Rows of `trials` are only added and deleted, never changed. Columns that end in
``_json`` are texts of JSON (:func:`.trial.canonical`).
"""

from __future__ import annotations

from uuid import UUID

from sqlalchemy import BigInteger, Double, ForeignKey, Index, Integer, Text, UniqueConstraint, Uuid
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

REVISIONS = ("trials", "export_order")
"""The versions of the schema, oldest first: the names of the migrations."""

VERSION_TABLE = "records_version"
"""The table in which Alembic stores the version."""


class Base(DeclarativeBase):
    """The tables."""

    type_annotation_map = {str: Text, float: Double, UUID: Uuid}


class TaskRow(Base):
    """A task: its text, once."""

    __tablename__ = "tasks"
    id: Mapped[int] = mapped_column(primary_key=True)
    identity: Mapped[str]
    kind: Mapped[str]
    text: Mapped[str]
    __table_args__ = (UniqueConstraint("identity", "kind"),)


class SubjectRow(Base):
    """A subject of trials; `identity` is :attr:`.Subject.identity`."""

    __tablename__ = "subjects"
    id: Mapped[int] = mapped_column(primary_key=True)
    identity: Mapped[str] = mapped_column(unique=True)
    task_id: Mapped[int] = mapped_column(ForeignKey(TaskRow.id), index=True)
    target: Mapped[str]
    family: Mapped[str]
    facts: Mapped[str]
    version: Mapped[int]


class DeviceRow(Base):
    """A device with the versions of its driver and compiler."""

    __tablename__ = "devices"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    platform: Mapped[str]
    driver: Mapped[str]
    compiler: Mapped[str]
    __table_args__ = (UniqueConstraint("name", "platform", "driver", "compiler"),)


class HostRow(Base):
    """A machine, with a set of versions."""

    __tablename__ = "hosts"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    versions_json: Mapped[str]
    __table_args__ = (UniqueConstraint("name", "versions_json"),)


class TrialRow(Base):
    """A trial; `number` is the order of additions. `samples`, `seconds`, `spread`: of the times."""

    __tablename__ = "trials"
    number: Mapped[int] = mapped_column(
        BigInteger().with_variant(Integer, "sqlite"), primary_key=True
    )
    id: Mapped[UUID] = mapped_column(unique=True)
    subject_id: Mapped[int] = mapped_column(ForeignKey(SubjectRow.id))
    device_id: Mapped[int] = mapped_column(ForeignKey(DeviceRow.id))
    host_id: Mapped[int] = mapped_column(ForeignKey(HostRow.id))
    knobs_json: Mapped[str]
    kernels_json: Mapped[str]
    times_json: Mapped[str]
    samples: Mapped[int]
    runs: Mapped[int]
    clock: Mapped[str]
    seconds: Mapped[float | None]
    spread: Mapped[float | None]
    verification: Mapped[str]
    difference: Mapped[float | None]
    failure: Mapped[str | None]
    message: Mapped[str]
    phases_json: Mapped[str]
    parent: Mapped[UUID | None]
    begun: Mapped[int] = mapped_column(BigInteger)  # microseconds since 1970, in UTC
    __table_args__ = (
        Index("trials_by_subject", "subject_id", "device_id", "seconds"),
        Index("trials_by_beginning", "begun", "id"),
    )


class BestRow(Base):
    """The fastest trial of a subject on a device: added to in the transaction of the trial."""

    __tablename__ = "bests"
    subject_id: Mapped[int] = mapped_column(ForeignKey(SubjectRow.id), primary_key=True)
    device_id: Mapped[int] = mapped_column(ForeignKey(DeviceRow.id), primary_key=True)
    trial: Mapped[UUID] = mapped_column(ForeignKey(TrialRow.id), unique=True)
    seconds: Mapped[float]


__all__ = [
    "REVISIONS",
    "VERSION_TABLE",
    "Base",
    "BestRow",
    "DeviceRow",
    "HostRow",
    "SubjectRow",
    "TaskRow",
    "TrialRow",
]
