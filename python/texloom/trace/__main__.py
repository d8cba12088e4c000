"""The command line of traces."""

from __future__ import annotations

import argparse
import atexit
import contextlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from .. import _core
from ..errors import TVMError
from ..text_file import TextFileError, read_script
from .script import INTERRUPTED, run_script
from .table import rows_of, table_of


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse and check the command line."""
    parser = argparse.ArgumentParser(
        prog="texloom trace",
        description="Runs a Python script and records what ran when, on the host and on devices, "
        "as a trace for https://ui.perfetto.dev or chrome://tracing. A table of the devices' "
        "commands is printed to stderr. The exit code is the script's.",
    )
    parser.add_argument(
        "-o",
        "--out",
        type=Path,
        metavar="JSON",
        default=Path("trace.json"),
        help="where the trace is written (default: %(default)s)",
    )
    parser.add_argument("script", type=Path, help="options of this command go before it")
    parser.add_argument(
        "arguments", nargs=argparse.REMAINDER, metavar="...", help="arguments of the script"
    )
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the script; the trace is written at exit. Return the exit code, 1 if it cannot run."""
    options = parse(arguments)
    out = options.out.absolute()  # the script may change the working directory
    try:
        text = read_script(options.script)
        _check_writable(out, options.script)
    except TextFileError as error:
        print(f"texloom trace: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"texloom trace: {options.out}: {error.strerror}", file=sys.stderr)
        return 1
    profile = _core.start_profile()
    if profile is None:
        print(
            "texloom trace: this process has already opened devices, which cannot be traced\n"
            "  help: run the script in a separate process",
            file=sys.stderr,
        )
        return 1
    _remove(out)  # an old trace would be misleading, if this run ends without a trace
    # Handlers run in reverse order: this one after the script's and before the compiled module's,
    # which was registered at import. Python has joined the script's threads by then.
    atexit.register(_write, profile, out, options.out, os.getpid())
    code = run_script(options.script, text, options.arguments)
    if code == INTERRUPTED:
        print(
            "texloom trace: waiting for commands that devices still run; Ctrl-C skips them",
            file=sys.stderr,
        )
    return code


def _check_writable(out: Path, script: Path) -> None:
    """Check, before the script runs, that the file can be written, without modifying it."""
    there = out.exists()
    if there and out.samefile(script):
        raise TextFileError(
            f"{script}: the trace would overwrite the script: choose another file with -o"
        )
    with out.open("a"):
        pass
    if not there:
        out.unlink()


def _remove(out: Path) -> None:
    """Remove the file; of a link, only the target. Devices such as /dev/stdout are kept."""
    if out.is_file():
        with contextlib.suppress(OSError):
            out.resolve().unlink()


def _write(profile: _core.Profile, out: Path, named: Path, process: int) -> None:
    """Write the trace and print the table."""
    if os.getpid() != process:
        return  # a forked child of the script: the trace belongs to its parent
    _wait()
    try:
        out.write_text(profile.chrome_trace(), encoding="utf-8")
    except OSError as error:
        print(f"texloom trace: {named}: {error.strerror}", file=sys.stderr)
        _remove(out)  # a partial file is not a trace
        return
    _report(profile, named)


def _wait() -> None:
    """Wait until devices are idle; spans are recorded when work completes."""
    try:
        _core.finish_devices()
    except KeyboardInterrupt:
        print("texloom trace: interrupted: running commands are not in the trace", file=sys.stderr)
    except TVMError as error:
        print(error, file=sys.stderr)


def _report(profile: _core.Profile, out: Path) -> None:
    rows = rows_of(profile.device_spans())
    print(table_of(rows) if rows else "no command ran on a device", file=sys.stderr)
    if profile.dropped:
        print(f"{profile.dropped} spans exceeded the limit and were dropped", file=sys.stderr)
    print(f"trace: {out}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
