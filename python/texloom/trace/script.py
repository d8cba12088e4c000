"""A script run as Python itself would run it, from which one comes back."""

from __future__ import annotations

import os
import runpy
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

INTERRUPTED = 130
"""The exit code of a script that Ctrl-C ended, as shells have it."""


def run_script(path: Path, arguments: Sequence[str] = ()) -> int:
    """Runs a script as ``python path arguments`` does; what it would exit with.

    Exceptions of the script are shown on stderr as Python shows them. ``sys.argv`` and ``sys.path``
    are those of before afterwards. The file can be read as text.
    """
    before = sys.argv, list(sys.path)
    sys.argv = [str(path), *arguments]
    sys.path.insert(0, str(path.resolve().parent))
    try:
        runpy.run_path(str(path), run_name="__main__")
    except SystemExit as ending:
        return _exit_code(ending.code)
    except KeyboardInterrupt:
        print(f"{path}: interrupted", file=sys.stderr)
        return INTERRUPTED
    except Exception as error:
        _show(error, path)
        return 1
    finally:
        sys.argv, sys.path[:] = before
    return 0


def _exit_code(code: object) -> int:
    """Of ``sys.exit(code)``: a text goes to stderr."""
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF if os.name == "posix" else code
    print(code, file=sys.stderr)
    return 1


def _show(error: Exception, path: Path) -> None:
    """The traceback from the script's first line on, without that of what runs it."""
    frame = error.__traceback__
    while frame is not None and frame.tb_frame.f_code.co_filename != str(path):
        frame = frame.tb_next
    traceback.print_exception(type(error), error, frame)
