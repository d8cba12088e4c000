"""The command ``texloom``. Its first argument is a subcommand."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence

# Each command's module has a function `main` that takes arguments and returns an exit code.
_COMMANDS = {
    "compile": ("command_line.compile", "compile an ONNX model to a package"),
    "run": ("command_line.run", "run a package or an ONNX model on arrays and pictures"),
    "bench": ("command_line.bench", "measure a package or an ONNX model, beside onnxruntime"),
    "compare": ("command_line.compare", "find the first node whose result differs too much"),
    "replay": ("command_line.replay", "repeat a run that `texloom run --record` wrote"),
    "ops": ("command_line.ops", "list the ONNX operators that are supported"),
    "spaces": (
        "command_line.spaces",
        "list the kernels of a model, and the knobs that their schedules have",
    ),
    "tune": ("command_line.tune", "search the knobs of a model's kernels on a device"),
    "db": ("command_line.db", "find, check, move and remove records of trials"),
    "devices": ("command_line.devices", "list the devices of this machine"),
    "doctor": ("command_line.doctor", "show what is installed, what is missing and what works"),
    "inspect": ("inspect.__main__", "show what a package file contains"),
    "plan": (
        "plan.__main__",
        "plan the memory of a network's tensors: textures, or buffers in one arena",
    ),
    "show": ("show.__main__", "draw a schedule as SVG"),
    "trace": ("trace.__main__", "run a script and write a trace for Perfetto and Chrome"),
}

_INTERRUPTED = 128 + 2  # a shell's exit code for a process that SIGINT ended
_READER_HAS_ENDED = 128 + 13  # a shell's exit code for a process that SIGPIPE ended


def _usage() -> str:
    lines = [f"  {command:8} {what}" for command, (_, what) in _COMMANDS.items()]
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
            module, _ = _COMMANDS[given[0]]
            return importlib.import_module(f"texloom.{module}").main(given[1:])
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:  # while the command's modules are imported
        print(f"\ntexloom {given[0]}: interrupted", file=sys.stderr)
        return _INTERRUPTED
    except BrokenPipeError:  # the reader of the output, such as `head`, has ended
        # Python flushes stdout again at exit, so the text still buffered goes to the null device.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _READER_HAS_ENDED


if __name__ == "__main__":
    sys.exit(main())
