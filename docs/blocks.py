"""The Python blocks of a document, which are one program, in order."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def programs(text: str) -> list[list[Any]]:
    """The Python blocks as [source with its lines in place, output or None].

    A block ```text directly after one is its output.
    """
    result: list[list[Any]] = []
    last_end = None
    for match in BLOCK.finditer(text):
        language, body = match.groups()
        if language == "python":
            blank = "\n" * (text.count("\n", 0, match.start()) + 1)
            result.append([blank + body, None])
            last_end = match.end()
        elif language == "text" and last_end and not text[last_end : match.start()].strip():
            result[-1][1] = body
    return result


def run(path: Path) -> Iterator[tuple[str | None, str]]:
    """Run the blocks of a document; what each is said to print, or None, and what it prints."""
    namespace = {"__name__": path.stem}
    for source, said in programs(path.read_text(encoding="utf-8")):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(source, str(path), "exec"), namespace)
        yield said, printed.getvalue()
