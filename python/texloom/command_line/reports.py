"""Reports on stderr: errors and progress."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from ..errors import TexloomWarning, TVMError, refuse

_INTERRUPTED = 128 + 2  # the exit code in shells of a process that SIGINT ended
_QUIET_SECONDS = 2.0
_LINE_SECONDS = 10.0


def missing_package(name: str, what: str) -> NoReturn:
    """Refuse `what`, which needs a Python package that is not installed."""
    refuse("UnknownName", f"{what} needs the Python package {name!r}", f"pip install {name}")


def described(error: TVMError) -> str:
    """Return the message and the help of an error, without the caller's line."""
    if not error.diagnostics:
        return str(error)
    lines = []
    for each in error.diagnostics:
        lines += [f"{each.severity}[{each.code}]: {each.message}"]
        lines += [f"  note: {note}" for note in each.notes]
        lines += [f"  help: {each.help}"] if each.help else []
    return "\n".join(lines)


@contextmanager
def _warnings_told(command: str) -> Iterator[None]:
    """Print each Texloom warning once, in the form of errors: without the line of Python code."""
    told = set()
    with warnings.catch_warnings():
        show_other = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *where: Any) -> None:
            if not issubclass(category, TexloomWarning):
                show_other(message, category, *where)
            elif str(message) not in told:
                told.add(str(message))
                print(f"texloom {command}: {message}", file=sys.stderr)

        warnings.showwarning = show
        yield


def reported(command: str, work: Callable[[], int]) -> int:
    """Return the exit code of a command's work; errors and warnings are told on stderr."""
    try:
        with _warnings_told(command):
            return work()
    except TVMError as error:
        told = described(error)
    except OSError as error:
        told = f"{error.filename or 'a file'}: {error.strerror or error}"
        if isinstance(error, BrokenPipeError):
            raise
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] == "texloom":
            raise
        told = f"the Python package {error.name!r} is missing\n  help: pip install {error.name}"
    except MemoryError:
        told = "out of memory on the host\n  help: use a smaller model or smaller inputs"
    except KeyboardInterrupt:
        print(f"\ntexloom {command}: interrupted", file=sys.stderr)
        return _INTERRUPTED
    print(f"texloom {command}: {told}", file=sys.stderr)
    return 1


class Progress:
    """Shows the progress of a command after two seconds: a bar, or lines of a log.

    Instances are callbacks for :class:`texloom.onnx.Model`.
    """

    def __init__(self, command: str) -> None:
        self._command = command
        self._is_terminal = sys.stderr.isatty()
        self._next = time.monotonic() + _QUIET_SECONDS
        self._width = 0

    def __call__(self, what: str, done: int, count: int) -> None:
        """Show a step."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + (0.1 if self._is_terminal else _LINE_SECONDS)
        text = f"texloom {self._command}: {what}: {done} of {count}"
        if self._is_terminal:
            print("\r" + text.ljust(self._width), end="", file=sys.stderr, flush=True)
            self._width = len(text)
        else:
            print(text, file=sys.stderr, flush=True)

    def end(self) -> None:
        """Remove the bar."""
        if self._width:
            print("\r" + " " * self._width + "\r", end="", file=sys.stderr, flush=True)
            self._width = 0


__all__ = ["Progress", "described", "missing_package", "reported"]
