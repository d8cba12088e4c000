"""A database of records: trials are added, found and removed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any

from sqlalchemy import URL, ColumnElement, Engine, Select, Text, cast, delete, func, select
from sqlalchemy.orm import Session, aliased

from ..errors import refuse
from .engine import engine_for, reading, told, writing
from .migrating import prepare
from .points import Point, best_point
from .rows import Additions, device_is, device_of, filtered, subject_of, trial_of, trials_query
from .schema import BestRow, DeviceRow, SubjectRow, TaskRow, TrialRow
from .trial import Clock, Kind, MeasuredDevice, Subject, Trial
from .wanted import ALL, Wanted

_BATCH = 10_000  # trials of one transaction, where many are added
_FASTEST = 24  # trials among whose points the best one is looked for first
_ORDER = (TrialRow.begun, TrialRow.id)
_READ = 1000  # rows that are read at once


@dataclass(frozen=True)
class Average:
    """The times of all successful trials of a task on a device, by one clock.

    Attributes
    ----------
    task, text : str
        The identity of the task, and the task.
    seconds, spread : float
        The means of the trials' medians, and of the distances of their quartiles.
    samples : int
        The number of all times.
    clock : Clock
    """

    task: str
    text: str
    seconds: float
    spread: float
    samples: int
    clock: Clock


class Records:
    """A database of records, which processes may share. :func:`.open_records` makes it.

    Trials are only added and removed, never changed. Each method is one transaction, unless it says
    otherwise: what it has added when it returns is not lost, even if the process is killed.

    Attributes
    ----------
    name : str
        The file or the URL, without the password.

    Raises
    ------
    TVMError
        From all methods: TL5018 for a database that cannot be read or written, TL5019 for one that
        is damaged.
    """

    def __init__(self, url: URL, creates: bool, patience_seconds: float) -> None:
        if url.get_backend_name() == "sqlite":
            self.name = str(url.database)
            _check_file(Path(self.name), creates)
        else:
            self.name = url.render_as_string(hide_password=True)
        self._engine: Engine = engine_for(url, patience_seconds)
        try:
            prepare(self._engine, self.name, creates)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Records:
        """Return the database, which is closed in the end."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close connections."""
        del kind, error, trace
        self.close()

    def close(self) -> None:
        """Close connections to a server; they are opened again when needed."""
        self._engine.dispose()

    def add(self, trial: Trial) -> None:
        """Add a trial; nothing if the database has it already."""
        self.add_all([trial])

    def add_all(self, trials: Iterable[Trial]) -> int:
        """Add trials that the database does not have yet; return how many these are.

        Transactions have up to 10,000 trials. If it is interrupted, those that were added are kept,
        and another call with all trials goes on.
        """
        count, rest = 0, iter(trials)
        while batch := list(islice(rest, _BATCH)):
            with writing(self._engine, self.name) as connection:
                count += Additions(connection).add(batch)
        return count

    def best(self, subject: Subject, device: MeasuredDevice | str | None = None) -> Trial | None:
        """Return the fastest trial of a subject, on a device or on any; None if there is none.

        Its time does not grow with the number of trials.
        """
        found = list(self._read(_bests(Wanted(subject=subject, device=device)).limit(1)))
        return found[0] if found else None

    def best_point(self, subject: Subject, device: MeasuredDevice) -> Point | None:
        """Return the fastest verified point of a subject on a device, as :func:`.best_point` does.

        Its time hardly grows with the number of trials: a point whose fastest trial is slower than
        the median of another one cannot be the best.
        """
        wanted = Wanted(subject=subject, device=device)
        fastest = (
            filtered(_joined(TrialRow.knobs_json, TrialRow.seconds), wanted)
            .where(TrialRow.failure.is_(None))
            .order_by(TrialRow.seconds)
            .limit(_FASTEST)
        )
        with self._session() as session:
            first = session.execute(fastest).all()
        own = trials_query().where(TrialRow.knobs_json.in_({knobs for knobs, _ in first}))
        found = best_point(self._read(filtered(own, wanted).order_by(*_ORDER)))
        is_least = found is not None and (found.seconds or 0.0) <= first[-1].seconds
        if is_least or len(first) < _FASTEST:
            return found
        return best_point(self.trials(wanted))

    def bests(self, wanted: Wanted = ALL) -> Iterator[Trial]:
        """Yield the fastest trial of each subject on each device, ordered by subjects.

        Of devices that differ only in versions, each has its own.
        """
        return self._read(_bests(wanted))

    def trials(self, wanted: Wanted = ALL) -> Iterator[Trial]:
        """Yield trials in the order in which they began, equal ones in that of their names.

        The order depends on nothing but the trials. All of them are of one state of the database.
        """
        query = filtered(trials_query(), wanted)
        return self._read(query.order_by(*_ORDER))

    def named(self, beginning: str) -> list[Trial]:
        """Return the trials, at most two, whose names begin with these digits."""
        digits = beginning.replace("-", "").lower()
        name = func.replace(cast(TrialRow.id, Text), "-", "")
        query = trials_query().where(name.startswith(digits, autoescape=True)).limit(2)
        return list(self._read(query))

    def count(self, wanted: Wanted = ALL) -> dict[tuple[str, str, str | None], int]:
        """Return numbers of trials by kind or family, by device, and by failure or None."""
        what = func.coalesce(func.nullif(SubjectRow.family, ""), TaskRow.kind)
        columns = (what, DeviceRow.name, TrialRow.failure)
        query = filtered(_joined(*columns, func.count()), wanted).group_by(*columns)
        with self._session() as session:
            rows = session.execute(query.order_by(*columns)).all()
        return {(of, device, failure): number for of, device, failure, number in rows}

    def averages(self, kind: Kind, device: MeasuredDevice) -> list[Average]:
        """Return the times of all tasks of a kind on a device, ordered by their identities."""
        own = (
            select(SubjectRow.id)
            .join(TaskRow, SubjectRow.task_id == TaskRow.id)
            .where(TaskRow.kind == kind.value)
            .correlate(None)
        )
        query = (
            _joined(
                TaskRow.identity,
                TaskRow.text,
                func.avg(TrialRow.seconds),
                func.avg(TrialRow.spread),
                func.sum(TrialRow.samples),
                TrialRow.clock,
            )
            .where(TrialRow.subject_id.in_(own), device_is(device), TrialRow.failure.is_(None))
            .group_by(TaskRow.id, TrialRow.clock)
            .order_by(TaskRow.identity, TrialRow.clock)
        )
        with self._session() as session:
            return [
                Average(*averages, int(samples), Clock(clock))
                for *averages, samples, clock in session.execute(query)
            ]

    def devices(self, kind: Kind, target: str | None = None) -> list[MeasuredDevice]:
        """Return the devices that have successful trials of a kind, the first used one first.

        With a target, only trials for it count.
        """
        measured = (
            select(BestRow.device_id)
            .join(SubjectRow, BestRow.subject_id == SubjectRow.id)
            .join(TaskRow, SubjectRow.task_id == TaskRow.id)
            .where(TaskRow.kind == kind.value)
        )
        if target is not None:
            measured = measured.where(SubjectRow.target == target)
        query = select(DeviceRow).where(DeviceRow.id.in_(measured)).order_by(DeviceRow.id)
        with self._session() as session:
            return [device_of(row) for row in session.scalars(query)]

    def prune(self, keep: int | None = None, failures: bool = False) -> int:
        """Remove trials that no best-of query finds; return how many.

        A trial that takes the place of another one stays while that one does.

        Parameters
        ----------
        keep : int, optional
            Of the trials of kernels, keep this many of the fastest ones of each subject on each
            device. At least 1.
        failures : bool
            Remove failed trials.
        """
        with writing(self._engine, self.name) as connection:
            count = 0
            if keep is not None:
                window = func.row_number().over(
                    partition_by=(TrialRow.subject_id, TrialRow.device_id),
                    order_by=(TrialRow.seconds, TrialRow.number),
                )
                ranks = (
                    select(TrialRow.number, window.label("rank"))
                    .join(SubjectRow, TrialRow.subject_id == SubjectRow.id)
                    .join(TaskRow, SubjectRow.task_id == TaskRow.id)
                    .where(TrialRow.failure.is_(None), TaskRow.kind == Kind.KERNEL.value)
                    .subquery()
                )
                slow = select(ranks.c.number).where(ranks.c.rank > max(keep, 1))
                bests = select(BestRow.trial)
                slow_rows = delete(TrialRow).where(
                    TrialRow.number.in_(slow), TrialRow.id.not_in(bests), ~_repeats()
                )
                count += connection.execute(slow_rows).rowcount
            if failures:
                failed = delete(TrialRow).where(TrialRow.failure.is_not(None), ~_repeats())
                count += connection.execute(failed).rowcount
        return count

    def subjects(self, kind: Kind, target: str | None = None) -> list[Subject]:
        """Return the subjects of a kind, and of a target if given, ordered by their identities."""
        query = (
            select(SubjectRow, TaskRow)
            .join(TaskRow, SubjectRow.task_id == TaskRow.id)
            .where(TaskRow.kind == kind.value)
            .order_by(SubjectRow.identity)
        )
        if target is not None:
            query = query.where(SubjectRow.target == target)
        with self._session() as session:
            return [subject_of(task, subject) for subject, task in session.execute(query)]

    def remove(self, subjects: Sequence[Subject]) -> int:
        """Remove all trials of some subjects; return how many."""
        count = 0
        with writing(self._engine, self.name) as connection:
            for each in subjects:
                found = select(SubjectRow.id).where(SubjectRow.identity == each.identity)
                number = found.scalar_subquery()
                connection.execute(delete(BestRow).where(BestRow.subject_id == number))
                removed = connection.execute(delete(TrialRow).where(TrialRow.subject_id == number))
                count += removed.rowcount
                connection.execute(delete(SubjectRow).where(SubjectRow.identity == each.identity))
            used = select(SubjectRow.task_id)
            connection.execute(delete(TaskRow).where(TaskRow.id.not_in(used)))
        return count

    def shrink(self) -> None:
        """Give the space of removed trials back to the disk, if the database is a file."""
        if self._engine.dialect.name != "sqlite":
            return
        with told(self.name), closing(self._engine.raw_connection()) as connection:
            connection.cursor().execute("VACUUM")

    @contextmanager
    def _session(self) -> Iterator[Session]:
        """Give a session that sees one state of the database."""
        with reading(self._engine, self.name) as connection, Session(connection) as session:
            yield session

    def _read(self, query: Select[Any]) -> Iterator[Trial]:
        query = query.execution_options(yield_per=_READ)
        with self._session() as session, session.execute(query) as rows:
            for row in rows:
                yield self._checked(*row)

    def _checked(self, trial: TrialRow, *others: Any) -> Trial:
        try:
            return trial_of(trial, *others)
        except (ValueError, TypeError, AttributeError, OverflowError) as error:
            refuse(
                "BadFile",
                f"{self.name} has a damaged trial, {trial.id}: {error}",
                "restore the database from a copy or from an exported file",
            )


def _check_file(path: Path, creates: bool) -> None:
    """Refuse a file that is not there, unless it is to be made, with its folder."""
    if path.exists():
        return
    if not creates:
        refuse(
            "FileError",
            f"there is no database of records {path}",
            "name one that exists; measurements, `texloom db import` and `merge` make one",
        )
    with told(str(path)):
        path.absolute().parent.mkdir(parents=True, exist_ok=True)


def _repeats() -> ColumnElement[bool]:
    """Return the condition that a trial takes the place of another one that the database has.

    :func:`.standing` says when it does.
    """
    parent = aliased(TrialRow)
    same = (parent.knobs_json, parent.subject_id, parent.device_id)
    own = (TrialRow.knobs_json, TrialRow.subject_id, TrialRow.device_id)
    found = select(parent.id).where(
        parent.id == TrialRow.parent,
        *(one == other for one, other in zip(same, own, strict=True)),
    )
    return found.correlate(TrialRow).exists()


def _bests(wanted: Wanted) -> Select[Any]:
    # The rows of bests are few: they are found first, and a list of them leads to the trials.
    bests = (
        select(BestRow.trial)
        .join(SubjectRow, BestRow.subject_id == SubjectRow.id)
        .join(TaskRow, SubjectRow.task_id == TaskRow.id)
        .join(DeviceRow, BestRow.device_id == DeviceRow.id)
    )
    found = trials_query().where(TrialRow.id.in_(filtered(bests, wanted).correlate(None)))
    order = (SubjectRow.family, SubjectRow.identity, TrialRow.seconds, TrialRow.id)
    return found.order_by(*order)


def _joined(*columns: Any) -> Select[Any]:
    return (
        select(*columns)
        .select_from(TrialRow)
        .join(SubjectRow, TrialRow.subject_id == SubjectRow.id)
        .join(TaskRow, SubjectRow.task_id == TaskRow.id)
        .join(DeviceRow, TrialRow.device_id == DeviceRow.id)
    )


__all__ = ["Average", "Records"]
