"""Custom operators from JSON files."""

from __future__ import annotations

import json
import os
from typing import Any

from ..errors import MisuseError, refuse
from .declaration import Reader
from .operators import Operator, made_source_operator

_REQUIRED = ("name", "arguments", "body", "threads")
_KEYS = (*_REQUIRED, "workgroup", "attributes", "version", "dtypes", "like")


def load_operator(path: str | os.PathLike[str]) -> Operator:
    """Return the custom operator that a JSON file declares: a kernel's body with its arguments.

    The keys are the parameters of :func:`source_operator`, with the same values; ``body`` may be a
    list of lines.

    Raises
    ------
    TVMError
        TL5018 for a file that cannot be read, TL5019 for one that is not JSON; TL5021, naming the
        file and the key, for a wrong declaration.
    """
    file = os.fspath(path)
    reader = Reader(os.path.basename(file))

    twice: list[str] = []

    def noted(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in pairs]
        twice.extend(name for name in names if names.count(name) > 1)
        return dict(pairs)

    try:
        with open(file, encoding="utf-8-sig") as stream:
            parts = json.load(stream, object_pairs_hook=noted)
    except OSError as error:
        message = f"{reader.where}: file: cannot be read: {error.strerror}"
        refuse("FileError", message, f"check the path {file!r}", MisuseError)
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        message = f"{reader.where}: file: is not JSON: {error}"
        refuse("BadFile", message, "see docs/custom_operators.md for an example", MisuseError)
    if twice:
        reader.refuse(twice[0], "occurs twice", "remove one of them")
    parts = reader.mapping("", parts, _KEYS)
    for key in _REQUIRED:
        if key not in parts:
            reader.refuse(key, "is missing", f"a declaration has {', '.join(_REQUIRED)}")
    return made_source_operator(reader.where, parts, file=reader.where)
