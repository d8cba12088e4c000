"""A file of measured costs, which processes may share."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import astuple, dataclass
from datetime import datetime, timezone
from os import PathLike, fspath
from pathlib import Path

from ..errors import refuse
from ..records import MeasuredDevice

_APPLICATION = 0x54584C43  # "TXLC", in the header of the file
_VERSION = 1
_PATIENCE_SECONDS = 30.0  # to wait while other processes write
_TABLES = """
CREATE TABLE devices (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, platform TEXT NOT NULL, driver TEXT NOT NULL,
  compiler TEXT NOT NULL, UNIQUE (name, platform, driver, compiler));
CREATE TABLE costs (
  device INTEGER NOT NULL REFERENCES devices, key TEXT NOT NULL, kind TEXT NOT NULL,
  storage TEXT NOT NULL, bytes REAL NOT NULL, operations REAL NOT NULL, launches INTEGER NOT NULL,
  ns REAL NOT NULL, spread REAL NOT NULL, count INTEGER NOT NULL, date TEXT NOT NULL,
  PRIMARY KEY (device, key)) WITHOUT ROWID;
CREATE TABLE networks (
  device INTEGER NOT NULL REFERENCES devices, key TEXT NOT NULL, launches INTEGER NOT NULL,
  kernel_ns REAL NOT NULL, total_ns REAL NOT NULL, date TEXT NOT NULL,
  PRIMARY KEY (device, key)) WITHOUT ROWID;
CREATE TABLE models (
  device INTEGER PRIMARY KEY REFERENCES devices, model TEXT NOT NULL, date TEXT NOT NULL);
"""


@dataclass(frozen=True)
class MeasuredCost:
    """The cost of a call site: one or several kernels, for given storages of the arguments.

    Attributes
    ----------
    key : str
        A digest of the computation, shapes, dtypes, storages and generated code.
    kind : str
        The pattern of the node, ``"convert"`` or ``"concatenate"``.
    storage : str
        ``"buffer"`` or ``"texture"``.
    bytes, operations : float
        Bytes moved, counting each argument once, and operations computed.
    launches : int
    ns : float
        The median time that the call site adds to a network, in nanoseconds.
    spread : float
        The distance between the quartiles of that time, in nanoseconds.
    count : int
        The number of runs.
    """

    key: str
    kind: str
    storage: str
    bytes: float
    operations: float
    launches: int
    ns: float
    spread: float
    count: int


@dataclass(frozen=True)
class MeasuredNetwork:
    """The times of a whole network, with and without time stamps.

    Attributes
    ----------
    key : str
        A digest of the call sites of a run.
    launches : int
    kernel_ns : float
        The sum of the time stamps of its kernels.
    total_ns : float
        The time of a run without time stamps.
    """

    key: str
    launches: int
    kernel_ns: float
    total_ns: float


class CostDatabase:
    """A file of costs. The first addition creates the file if it does not exist.

    Several processes may read and add at the same time.

    Parameters
    ----------
    path : str or path

    Raises
    ------
    TVMError
        From all methods: TL5018 for a file that cannot be read or written, TL5019 for a file that
        is damaged or has other contents.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(fspath(path))
        if self.path.exists():
            with self._opened():
                pass

    def devices(self) -> list[MeasuredDevice]:
        """Return the devices that have costs in the file."""
        if not self.path.exists():
            return []
        columns = "name, platform, driver, compiler"
        chosen = f"SELECT {columns} FROM devices WHERE id IN (SELECT device FROM costs) ORDER BY id"
        with self._opened() as connection:
            rows = connection.execute(chosen) if _is_ours(connection) else ()
            return [MeasuredDevice(*row) for row in rows]

    def costs(self, device: MeasuredDevice) -> dict[str, MeasuredCost]:
        """Return all costs on a device, by key."""
        columns = "key, kind, storage, bytes, operations, launches, ns, spread, count"
        rows = self._rows(f"SELECT {columns} FROM costs WHERE device = ?", device)
        return {str(row[0]): MeasuredCost(*row) for row in rows}

    def networks(self, device: MeasuredDevice) -> list[MeasuredNetwork]:
        """Return the whole networks that were measured on a device."""
        columns = "key, launches, kernel_ns, total_ns"
        rows = self._rows(f"SELECT {columns} FROM networks WHERE device = ? ORDER BY key", device)
        return [MeasuredNetwork(*row) for row in rows]

    def model(self, device: MeasuredDevice) -> str | None:
        """Return the model that was stored for a device."""
        rows = self._rows("SELECT model FROM models WHERE device = ?", device)
        return str(rows[0][0]) if rows else None

    def add(self, device: MeasuredDevice, costs: Iterable[MeasuredCost]) -> None:
        """Add costs; a cost replaces an earlier one with the same key."""
        with self._changed(device) as (connection, number):
            connection.executemany(
                "INSERT OR REPLACE INTO costs VALUES (?,?,?,?,?,?,?,?,?,?,?)",
                [(number, *astuple(each), _now()) for each in costs],
            )

    def add_network(self, device: MeasuredDevice, network: MeasuredNetwork) -> None:
        """Add a whole network; it replaces an earlier one with the same key."""
        with self._changed(device) as (connection, number):
            connection.execute(
                "INSERT OR REPLACE INTO networks VALUES (?,?,?,?,?,?)",
                (number, *astuple(network), _now()),
            )

    def set_model(self, device: MeasuredDevice, model: str) -> None:
        """Store a device's model."""
        with self._changed(device) as (connection, number):
            connection.execute(
                "INSERT OR REPLACE INTO models VALUES (?,?,?)", (number, model, _now())
            )

    def _rows(self, chosen: str, device: MeasuredDevice) -> list[Sequence[object]]:
        if not self.path.exists():
            return []
        with self._opened() as connection:
            number = _number_of(connection, device)
            return [] if number is None else list(connection.execute(chosen, (number,)))

    @contextmanager
    def _changed(self, device: MeasuredDevice) -> Iterator[tuple[sqlite3.Connection, int]]:
        """Give a connection within a transaction, and the number of the device."""
        with self._opened() as connection:
            connection.execute("BEGIN IMMEDIATE")
            if not _is_ours(connection):
                for statement in filter(None, map(str.strip, _TABLES.split(";"))):
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {_APPLICATION}")
                connection.execute(f"PRAGMA user_version = {_VERSION}")
            number = _number_of(connection, device)
            if number is None:
                made = connection.execute(
                    "INSERT INTO devices (name, platform, driver, compiler) VALUES (?,?,?,?)",
                    astuple(device),
                )
                number = int(made.lastrowid or 0)
            yield connection, number
            connection.execute("COMMIT")

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """Give a connection; errors of SQLite become diagnostics."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            made = sqlite3.connect(self.path, timeout=_PATIENCE_SECONDS, isolation_level=None)
            with closing(made) as connection:
                is_new = not connection.execute("SELECT * FROM sqlite_master").fetchone()
                if not is_new and not _is_ours(connection):
                    refuse(
                        "BadFile",
                        f"{self.path} is not a file of costs: it is a database with other contents",
                        "name another file",
                    )
                yield connection
        except (sqlite3.OperationalError, OSError) as error:
            refuse(
                "FileError",
                f"the file of costs {self.path} cannot be read or written: {error}",
                "name another file, or check the permissions and the free space of its folder",
            )
        except sqlite3.Error as error:
            refuse(
                "BadFile",
                f"{self.path} is not a file of costs, or is damaged: {error}",
                "name another file, or remove this one and measure again: texloom compile "
                "--measure",
            )


def _is_ours(connection: sqlite3.Connection) -> bool:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return (application, version) == (_APPLICATION, _VERSION)


def _number_of(connection: sqlite3.Connection, device: MeasuredDevice) -> int | None:
    if not _is_ours(connection):
        return None
    row = connection.execute(
        "SELECT id FROM devices WHERE (name, platform, driver, compiler) = (?,?,?,?)",
        astuple(device),
    ).fetchone()
    return None if row is None else int(row[0])


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


__all__ = ["CostDatabase", "MeasuredCost", "MeasuredNetwork"]
