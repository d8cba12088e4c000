"""Connections to databases of records, and their errors in words."""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn
from urllib.parse import quote

from sqlalchemy import URL, Connection, Engine, NullPool, create_engine, event, exc, func, select

from ..errors import refuse

APPLICATION = 0x54584C52  # "TXLR", in the header of an SQLite file

_READS = {"isolation_level": "REPEATABLE READ"}  # a consistent view of PostgreSQL


def engine_for(url: URL, patience_seconds: float) -> Engine:
    """Return the engine of a database; nothing is opened yet.

    Each transaction of SQLite opens the file anew, so that the engine may be used after a fork, and
    nothing is left open. `patience_seconds` is how long a transaction waits for others.
    """
    if url.get_backend_name() == "sqlite":
        engine = _sqlite_engine(Path(url.database or ""), patience_seconds)
    else:
        milliseconds = int(patience_seconds * 1000)
        options = f"-c lock_timeout={milliseconds}"
        arguments = {"connect_timeout": max(2, int(patience_seconds)), "options": options}
        engine = create_engine(url, connect_args=arguments, pool_pre_ping=True)
    engine.pool.logger.addFilter(_is_no_interruption)
    return engine


def _is_no_interruption(record: logging.LogRecord) -> bool:
    """Whether a message of a pool is not about Ctrl-C.

    A pool that is interrupted while it closes a connection logs a traceback, and raises the
    exception again, so that it needs no message.
    """
    return record.exc_info is None or not isinstance(record.exc_info[1], KeyboardInterrupt)


def _sqlite_engine(path: Path, patience_seconds: float) -> Engine:
    def connected() -> sqlite3.Connection:
        connection = sqlite3.connect(
            _uri(path), timeout=patience_seconds, isolation_level=None, uri=True
        )
        try:
            connection.execute("PRAGMA foreign_keys = ON")
            # Each commit is on the disk before the next step of the tuner.
            connection.execute("PRAGMA synchronous = FULL")
        except BaseException:
            connection.close()
            raise
        return connection

    engine = create_engine("sqlite://", creator=connected, poolclass=NullPool)

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # A transaction that reads first and writes later fails if another one writes in between.
        writes = connection.get_execution_options().get("writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _uri(path: Path) -> str:
    """Return how SQLite opens a file: one on a read-only disk without its shared memory.

    Where the file's folder cannot be written, SQLite cannot coordinate with writers. There are
    none if there is no log of writes beside the file.
    """
    text = f"file:{quote(str(path.absolute()))}"
    if not path.exists() or (
        os.access(path, os.W_OK) and os.access(path.absolute().parent, os.W_OK)
    ):
        return text
    has_log = Path(f"{path}-wal").exists()
    return f"{text}?mode=ro" if has_log else f"{text}?mode=ro&immutable=1"


@contextmanager
def reading(engine: Engine, name: str) -> Iterator[Connection]:
    """Give a connection within a transaction that sees one state of the database.

    Raises
    ------
    TVMError
        As :func:`told`.
    """
    with told(name):
        options = {} if engine.dialect.name == "sqlite" else _READS
        with engine.connect().execution_options(**options) as connection, connection.begin():
            yield connection


@contextmanager
def writing(engine: Engine, name: str) -> Iterator[Connection]:
    """Give a connection within a transaction that writes: all of it, or nothing.

    There is one writer at a time; others wait.

    Raises
    ------
    TVMError
        As :func:`told`.
    """
    options = {"writes": True}
    with (
        told(name),
        engine.connect().execution_options(**options) as connection,
        connection.begin(),
    ):
        if engine.dialect.name == "postgresql":
            # Writers that share new rows would wait for each other in a circle.
            connection.execute(select(func.pg_advisory_xact_lock(APPLICATION)))
        yield connection


@contextmanager
def told(name: str) -> Iterator[None]:
    """Turn errors of the database into diagnostics.

    Raises
    ------
    TVMError
        TL5018 for a database that cannot be read or written, TL5019 for one that is damaged or has
        other contents.
    """
    try:
        yield
    except exc.DBAPIError as error:
        _refuse(name, error.orig)
    except sqlite3.Error as error:
        _refuse(name, error)
    except (exc.TimeoutError, OSError) as error:
        _refuse_unusable(name, str(error), "check its address, and the rights to it")


def _refuse(name: str, error: BaseException | None) -> NoReturn:
    text = " ".join(str(error).split())
    if not any(kind.__name__ == "OperationalError" for kind in type(error).__mro__):
        refuse(
            "BadFile",
            f"{name} has no records, or is damaged: {text}",
            "name another database, or restore this one from a copy or from an exported file",
        )
    for sign, way_out in _WAYS_OUT:
        if sign in text:
            _refuse_unusable(name, text, way_out)
    _refuse_unusable(name, text, _OTHERWISE)


_WAYS_OUT = (
    ("locked", "wait until the other process has finished, and try again"),
    ("lock timeout", "wait until the other process has finished, and try again"),
    ("full", "make room on the disk; everything that was recorded before is kept"),
    ("readonly", "copy it to a place that can be written, or get the rights to write there"),
)
_OTHERWISE = "check its address, the rights to it and the free space of its folder"


def _refuse_unusable(name: str, text: str, way_out: str) -> NoReturn:
    refuse("FileError", f"the records {name} cannot be read or written: {text}", way_out)


__all__ = ["APPLICATION", "engine_for", "reading", "told", "writing"]
