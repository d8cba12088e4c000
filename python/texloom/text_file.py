"""Reads the text files that are passed to commands."""

from __future__ import annotations

import tokenize
from pathlib import Path


class TextFileError(Exception):
    """A file that cannot be read as text; the message begins with its path."""


def read_text_file(path: Path) -> str:
    """Return the text of a UTF-8 file, or raise TextFileError."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise TextFileError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise TextFileError(
            f"{path}: it is not a text file: {error.reason} at byte {error.start}"
        ) from error


def read_script(path: Path) -> str:
    """Return the text of a Python script, in its declared encoding (PEP 263) or in UTF-8.

    Raises TextFileError if it cannot be read.
    """
    try:
        with tokenize.open(path) as file:
            return file.read()
    except OSError as error:
        raise TextFileError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise TextFileError(
            f"{path}: it is not a text file: {error.reason} at byte {error.start}"
        ) from error
    except SyntaxError as error:  # an unknown encoding, or a text in another one
        raise TextFileError(f"{path}: it is not a text file: {error.msg}") from error
