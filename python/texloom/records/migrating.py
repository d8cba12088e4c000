"""The version of a database's schema: new databases, and those of other versions."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from sqlalchemy import Connection, Engine, inspect, select, table, text

from ..errors import refuse
from .engine import APPLICATION, reading, told, writing
from .schema import REVISIONS, VERSION_TABLE

FOLDER = Path(__file__).parent / "migrations"
"""The folder of the migrations."""


def prepare(engine: Engine, name: str, creates: bool) -> None:
    """Check that a database has the tables of this version; create or upgrade them if needed.

    Parameters
    ----------
    engine : Engine
    name : str
        The name of the database in messages.
    creates : bool
        Whether a database without tables gets them.

    Raises
    ------
    TVMError
        TL5019 for a database with other contents, or of a newer version; TL5018 if it has no
        tables and `creates` is false, or if it cannot be read or written.
    """
    with reading(engine, name) as connection:
        version = _version(connection, name)
    if version == REVISIONS[-1]:
        return
    if version is None and not creates:
        refuse(
            "FileError",
            f"{name} has no records: it is empty",
            "name a database of records; `texloom db import` makes one from exported lines",
        )
    if version is None and engine.dialect.name == "sqlite":
        _keep_log_of_writes(engine, name)
    with writing(engine, name) as connection:
        if _version(connection, name) != REVISIONS[-1]:  # no other process was faster
            upgrade(connection)


def upgrade(connection: Connection, revision: str = REVISIONS[-1]) -> None:
    """Create tables, or bring those of an earlier version up to date, by the migrations."""
    from alembic import command
    from alembic.config import Config

    settings = Config()
    settings.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    settings.attributes["connection"] = connection
    command.upgrade(settings, revision)
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION}")


def _keep_log_of_writes(engine: Engine, name: str) -> None:
    """Let readers go on while a process writes.

    File systems of networks may not allow it, and another process may do the same right now; both
    leave a database that works.
    """
    with (
        told(name),
        closing(engine.raw_connection()) as connection,
        suppress(sqlite3.OperationalError),
    ):
        connection.cursor().execute("PRAGMA journal_mode = WAL")


def _version(connection: Connection, name: str) -> str | None:
    """Return the version of the tables; None if there are none."""
    is_sqlite = connection.dialect.name == "sqlite"
    names = inspect(connection).get_table_names()
    if is_sqlite and names and _application(connection) != APPLICATION:
        _refuse_foreign(name)
    if VERSION_TABLE not in names:
        if is_sqlite and names:
            _refuse_foreign(name)
        return None
    found = connection.execute(select(text("version_num")).select_from(table(VERSION_TABLE)))
    version = str(found.scalar_one())
    if version not in REVISIONS:
        refuse(
            "BadFile",
            f"{name} was written by a newer version of Texloom: its records are of the version "
            f"{version!r}",
            f"use that version of Texloom, which is newer than the one with {REVISIONS[-1]!r}",
        )
    return version


def _application(connection: Connection) -> int:
    return int(connection.exec_driver_sql("PRAGMA application_id").scalar_one())


def _refuse_foreign(name: str) -> None:
    refuse(
        "BadFile",
        f"{name} is not a database of records: it has other contents",
        "name another file",
    )


__all__ = ["FOLDER", "prepare", "upgrade"]
