"""Runs a script as Python itself would, and returns afterwards."""

from __future__ import annotations

import builtins
import os
import sys
import types
from collections.abc import Sequence
from importlib.machinery import SourceFileLoader
from pathlib import Path

INTERRUPTED = 130
"""The exit code of a script that Ctrl-C ended, by shell convention."""


def run_script(path: Path, text: str, arguments: Sequence[str] = ()) -> int:
    """Run a script as ``python path arguments`` does, and return its exit code.

    `text` is the content of the file. Exceptions of the script are printed to stderr as Python
    prints them. ``sys.argv``, ``sys.path`` and ``__main__`` remain those of the script until the
    process ends, so that its threads and ``atexit`` functions find them unchanged.
    """
    module = types.ModuleType("__main__")
    loader = SourceFileLoader("__main__", str(path))
    vars(module).update(
        __file__=str(path), __loader__=loader, __builtins__=builtins, __cached__=None
    )
    sys.modules["__main__"] = module
    sys.argv = [str(path), *arguments]
    sys.path.insert(0, str(path.resolve().parent))
    try:
        exec(compile(text, str(path), "exec", dont_inherit=True), vars(module))
    except SystemExit as ending:
        return _exit_code(ending.code)
    except KeyboardInterrupt:
        print(f"{path}: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BaseException as error:  # Python, too, prints any exception and exits
        _show(error, path)
        return 1
    return 0


def _exit_code(code: object) -> int:
    """Return the exit code of ``sys.exit(code)``; a text goes to stderr."""
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF if os.name == "posix" else code
    print(code, file=sys.stderr)
    return 1


def _show(error: BaseException, path: Path) -> None:
    """Print the traceback from the script's first line on, without the caller's frames."""
    frame = error.__traceback__
    while frame is not None and frame.tb_frame.f_code.co_filename != str(path):
        frame = frame.tb_next
    sys.excepthook(type(error), error.with_traceback(frame), frame)
