"""Addresses of databases of records: files, and URLs of PostgreSQL."""

from __future__ import annotations

import os
from importlib.util import find_spec
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from ..errors import refuse

if TYPE_CHECKING:
    from sqlalchemy import URL

FILE_NAME = "records.sqlite"


def default_file() -> Path | None:
    """Return the file of records in the folder of compiled kernels; None if there is no folder."""
    folder = os.environ.get("TEXLOOM_CACHE_DIR")
    return Path(folder) / FILE_NAME if folder else None


def named_or_default(place: str | None) -> str | Path:
    """Return the place of a database that a command names, else :func:`default_file`.

    Raises
    ------
    TVMError
        TL7001 if there is neither.
    """
    found = place or default_file()
    if found is None:
        refuse(
            "BadOption",
            "no database of records is named",
            "name one: --db FILE, or set TEXLOOM_CACHE_DIR to a folder",
        )
    return found


def are_supported() -> bool:
    """Whether the packages are installed that databases of records need."""
    return all(map(find_spec, ("sqlalchemy", "alembic")))


def refuse_unsupported() -> None:
    """Refuse databases where the packages are missing that they need.

    Raises
    ------
    TVMError
        TL5016, which names the packages.
    """
    if not are_supported():
        _refuse_without("sqlalchemy and alembic", "databases of records", "tune")


def _refuse_without(packages: str, what: str, extra: str) -> NoReturn:
    refuse(
        "UnknownName",
        f"{what} need the Python packages {packages}",
        f"pip install 'texloom[{extra}]'",
    )


def address_of(place: str | PathLike[str]) -> URL:
    """Return the URL of a file, or of ``postgresql://...``.

    Raises
    ------
    TVMError
        TL7001 for a URL that is wrong or of another kind of database; TL5016 if the package for
        PostgreSQL is missing.
    """
    from sqlalchemy import URL, make_url
    from sqlalchemy.exc import ArgumentError

    text = fspath(place)
    if "://" not in text:
        return URL.create("sqlite", database=text)
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        url = None
    kind = None if url is None else url.get_backend_name()
    if url is None or kind not in ("sqlite", "postgresql") or not url.database:
        refuse(
            "BadOption",
            "the address of records is neither a file nor a URL of PostgreSQL",
            "write it as records.sqlite, or as postgresql://user:password@host/database",
        )
    if kind == "sqlite":
        return URL.create("sqlite", database=url.database)
    if find_spec("psycopg") is None:
        _refuse_without("psycopg", "records in PostgreSQL", "postgres")
    return url.set(drivername="postgresql+psycopg")


__all__ = [
    "FILE_NAME",
    "address_of",
    "are_supported",
    "default_file",
    "named_or_default",
    "refuse_unsupported",
]
