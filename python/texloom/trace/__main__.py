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
    """The command line, checked."""
    parser = argparse.ArgumentParser(
        prog="texloom trace",
        description="Runs a Python script, and writes what ran when on the host and on devices: a "
        "trace for https://ui.perfetto.dev or chrome://tracing. A table of the devices' commands "
        "goes to stderr. The exit code is the script's.",
    )
    parser.add_argument(
        "-o",
        "--out",
        type=Path,
        metavar="JSON",
        default=Path("trace.json"),
        help="where the trace is written (default: %(default)s)",
    )
    parser.add_argument("script", type=Path, help="options of this command stand before it")
    parser.add_argument(
        "arguments", nargs=argparse.REMAINDER, metavar="...", help="what the script gets"
    )
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the script: its exit code, or 1 where it is not run. The trace is written at exit."""
    options = parse(arguments)
    out = options.out.absolute()  # the script may go to another folder
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
            "texloom trace: devices of this process are open already, and what runs on them is not "
            "traced\n  help: run it as a process of its own",
            file=sys.stderr,
        )
        return 1
    _remove(out)  # that of an earlier run: this one may end in a way that writes none
    # Handlers run in reverse: this one behind the script's, and before the compiled module's own,
    # which was registered when that was imported. Python has joined the script's threads by then.
    atexit.register(_write, profile, out, options.out, os.getpid())
    code = run_script(options.script, text, options.arguments)
    if code == INTERRUPTED:
        print(
            "texloom trace: waiting for what devices still run; Ctrl-C leaves it out",
            file=sys.stderr,
        )
    return code


def _check_writable(out: Path, script: Path) -> None:
    """Refused before the script runs, not after it. The file is left as it is."""
    there = out.exists()
    if there and out.samefile(script):
        raise TextFileError(f"{script}: is the script: the trace goes to another file")
    with out.open("a"):
        pass
    if not there:
        out.unlink()


def _remove(out: Path) -> None:
    """The file, not a device such as /dev/stdout; a link goes on to lead where it leads."""
    if out.is_file():
        with contextlib.suppress(OSError):
            out.resolve().unlink()


def _write(profile: _core.Profile, out: Path, named: Path, process: int) -> None:
    """The trace of what has run, and what there is to say of it."""
    if os.getpid() != process:
        return  # a child that the script has forked: the trace is its parent's
    _wait()
    try:
        out.write_text(profile.chrome_trace(), encoding="utf-8")
    except OSError as error:
        print(f"texloom trace: {named}: {error.strerror}", file=sys.stderr)
        _remove(out)  # a part is no trace
        return
    _report(profile, named)


def _wait() -> None:
    """Until devices have done what the script gave them; spans come when work is complete."""
    try:
        _core.finish_devices()
    except KeyboardInterrupt:
        print("texloom trace: interrupted: what still runs is not in the trace", file=sys.stderr)
    except TVMError as error:
        print(error, file=sys.stderr)


def _report(profile: _core.Profile, out: Path) -> None:
    rows = rows_of(profile.device_spans())
    print(table_of(rows) if rows else "no command ran on a device", file=sys.stderr)
    if profile.dropped:
        print(f"{profile.dropped} spans were too many and are not kept", file=sys.stderr)
    print(f"trace: {out}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
