"""The headers of passes: what the comment above the declaration of each says.

A header has five parts, which begin with these words: the purpose; what the pass requires of its
input and ensures of its output; why it stands where it does in the order of passes; and an example
in the text form.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

PARTS = ("Purpose", "Requires", "Ensures", "Order", "Example")
FOLDERS = ("src/lower", "src/codegen", "src/graph/passes")

# A comment and the function below it.
DECLARATION = re.compile(r"((?:^//.*\n)+)^[\w:]+ (\w+)\(", re.MULTILINE)
PART = re.compile(rf"^// ({'|'.join(PARTS)}): ?(.*)$")


@dataclass
class Header:
    """The header of one pass.

    Attributes
    ----------
    path : Path
        The file.
    parts : list of (str, str)
        The name and the text of each part, in the order of the file.
    """

    path: Path
    parts: list[tuple[str, str]]


def _parts(comment: str) -> list[tuple[str, str]]:
    parts: list[tuple[str, str]] = []
    for line in comment.splitlines():
        begin = PART.match(line)
        if begin is not None:
            parts.append((begin[1], begin[2]))
        elif parts:
            name, text = parts[-1]
            parts[-1] = (name, f"{text}\n{line.removeprefix('//')}".strip("\n"))
    return parts


def read(root: Path) -> dict[str, Header]:
    """Return the headers of all passes of the checkout, by the name of the function."""
    found = {}
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*.h")):
            for comment, name in DECLARATION.findall(path.read_text(encoding="utf-8")):
                parts = _parts(comment)
                if parts:
                    assert name not in found, f"{path}: a second header of {name}"
                    found[name] = Header(path, parts)
    return found


def functions(rows: Sequence[str]) -> list[str]:
    """Return the rows that are functions: those that are not a group of others."""
    return [row for row in rows if not any(other.startswith(f"{row}.") for other in rows)]
