"""Writes files as a whole, so that a reader never sees a part of one."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path


def write_whole(path: Path, content: bytes | Iterable[bytes]) -> None:
    """Write a file as a whole: complete content, or all parts of it, replaces a file at once."""
    parts = [content] if isinstance(content, bytes) else content
    try:
        _write_whole(path, parts)
    except OSError as error:  # the error names the temporary file
        raise OSError(error.errno, error.strerror, str(path)) from None


def _write_whole(path: Path, parts: Iterable[bytes]) -> None:
    number, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:100]}.")
    try:
        with os.fdopen(number, "wb") as file:
            file.writelines(parts)
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


__all__ = ["write_whole"]
