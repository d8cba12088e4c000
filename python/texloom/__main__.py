"""The command ``texloom``. Its first argument is a subcommand."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence

_COMMANDS = {
    "trace": "run a script and write a trace for Perfetto and Chrome",
    "plan": "plan the memory of a network's tensors: textures, or buffers in one arena",
    "show": "draw a schedule as SVG",
    "inspect": "show what a package file contains",
}

_READER_HAS_ENDED = 128 + 13  # as shells report a process that the signal SIGPIPE ended


def _usage() -> str:
    lines = [f"  {command:8} {what}" for command, what in _COMMANDS.items()]
    return "\n".join(
        ["usage: texloom COMMAND [ARGUMENT...]", *lines, "texloom COMMAND --help says more"]
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] in (["-h"], ["--help"]):
        print(_usage())
        return 0
    if not given or given[0] not in _COMMANDS:
        wrong = f"texloom: no such command: {given[0]}\n" if given else ""
        print(wrong + _usage(), file=sys.stderr)
        return 2
    try:
        try:
            return importlib.import_module(f"texloom.{given[0]}.__main__").main(given[1:])
        finally:
            sys.stdout.flush()
    except BrokenPipeError:  # who reads the output, such as `head`, has ended
        # Python flushes again at exit: what is left goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _READER_HAS_ENDED


if __name__ == "__main__":
    sys.exit(main())
