"""Records of trials: what a tuner or a measurement of a graph has measured, in a database.

A database is a file of SQLite, which needs no server, or one of PostgreSQL, by its URL. Both need
the packages of ``texloom[tune]``; this module itself does not import them.
"""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

from .address import address_of, are_supported, default_file, refuse_unsupported
from .here import measured_device
from .trial import (
    Clock,
    Failure,
    Kind,
    MeasuredDevice,
    Place,
    Subject,
    Trial,
    Verification,
    kernel_digest,
)
from .wanted import Wanted

if TYPE_CHECKING:
    from .database import Records


def open_records(
    place: str | PathLike[str], *, creates: bool = False, patience_seconds: float = 30.0
) -> Records:
    """Open a database of records.

    Parameters
    ----------
    place : str or path
        A file, or the URL of a database of PostgreSQL:
        ``postgresql://user:password@host/database``.
    creates : bool
        Whether the file, its folder and the tables are made if they do not exist.
    patience_seconds : float
        How long a transaction waits for those of other processes.

    Returns
    -------
    Records

    Raises
    ------
    TVMError
        TL5018 if there is no such database, or it cannot be read or written; TL5019 if it is
        damaged, has other contents, or is of a newer version of Texloom; TL7001 for a wrong URL;
        TL5016 if packages are missing.
    """
    refuse_unsupported()
    from .database import Records

    return Records(address_of(place), creates, patience_seconds)


__all__ = [
    "Clock",
    "Failure",
    "Kind",
    "MeasuredDevice",
    "Place",
    "Subject",
    "Trial",
    "Verification",
    "Wanted",
    "are_supported",
    "default_file",
    "kernel_digest",
    "measured_device",
    "open_records",
]
