"""Reads programs from files: text in the ``.tl`` form, or a script that creates a schedule."""

from __future__ import annotations

import contextlib
import runpy
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .. import building
from .._core import Program, Schedule, Tensor
from ..errors import TVMError
from ..te.tensor import PlaceholderOp, ScanOp
from ..text_file import TextFileError, read_script, read_text_file

RUN_NAME = "__show__"
"""``__name__`` of a script while it is read; code under ``"__main__"`` does not run."""


class SourceError(Exception):
    """A file without a program; the message has the reason and a line of help."""


def program_of(path: Path, name: str | None = None, target: str | None = None) -> Program:
    """Return the program of a file.

    Parameters
    ----------
    path : Path
        A script (``.py``) or a program as text.
    name : str, optional
        The script's variable to use; by default its only schedule or program.
    target : str, optional
        The target for which a schedule of the script is lowered.

    Raises
    ------
    SourceError
        If the file cannot be read, or the script fails, or it creates no schedule or several.
    TVMError
        For a malformed text.
    """
    try:
        text = read_script(path) if path.suffix == ".py" else read_text_file(path)
    except TextFileError as error:
        raise SourceError(str(error)) from error
    if path.suffix != ".py":
        if name is not None or target is not None:
            raise SourceError(
                f"{path}: --name and --target are for scripts, not for programs as text: leave "
                "them out"
            )
        return building.parse(text, str(path))
    found = _choose(path, _run(path), name)
    if isinstance(found, Program):
        return found
    return building.program(found, arguments_of(found), target=target)


def arguments_of(schedule: Schedule) -> list[Tensor]:
    """Return all inputs and outputs, the minimal arguments of a schedule."""
    scans = [s.op for s in schedule.stages if isinstance(s.op, ScanOp)]
    states = {state.op for scan in scans for state in scan.state_placeholder}
    inputs = [
        s.op for s in schedule.stages if isinstance(s.op, PlaceholderOp) and s.op not in states
    ]
    outputs = [s.origin_op for s in schedule.stages if s.is_output]
    return [op.output(i) for op in (*inputs, *outputs) for i in range(op.num_outputs)]


@contextlib.contextmanager
def _importable(folder: Path) -> Iterator[None]:
    """Let a script import modules beside it, as ``python script.py`` does."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):  # the script may have changed the list
            sys.path.remove(str(folder))


def _run(path: Path) -> dict[str, Any]:
    """Return the variables of the script."""
    try:
        with _importable(path.resolve().parent):
            return runpy.run_path(str(path), run_name=RUN_NAME)
    except TVMError:
        raise
    except (Exception, SystemExit) as error:
        lines = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)]
        where = f"{path}:{lines[-1].lineno}" if lines else str(path)
        if isinstance(error, SyntaxError):
            where = f"{path}:{error.lineno}"
        raise SourceError(f"{where}: {type(error).__name__}: {error}") from error


def _choose(path: Path, variables: dict[str, Any], name: str | None) -> Schedule | Program:
    found = {
        key: value
        for key, value in variables.items()
        if isinstance(value, (Schedule, Program)) and not key.startswith("_")
    }
    if name is not None:
        if name not in found:
            known = f"it has {', '.join(found)}" if found else "it has none"
            raise SourceError(f"{path}: no schedule or program is called {name}: {known}")
        return found[name]
    distinct = {id(value): key for key, value in reversed(list(found.items()))}
    if not distinct:
        raise SourceError(
            f"{path}: the script creates no schedule\n"
            "  help: keep the te.create_schedule(...) in a variable of the module, outside of "
            "\"if __name__ == '__main__'\""
        )
    if len(distinct) > 1:
        raise SourceError(
            f"{path}: the script has several schedules: {', '.join(found)}\n"
            "  help: choose one with --name"
        )
    return found[next(iter(distinct.values()))]
