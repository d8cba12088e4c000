"""The command line that shows packages."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence

from .. import _core
from ..errors import TVMError
from .describe import describe
from .schedule import describe_schedule, schedules

_DESCRIPTION = """\
Shows what a package file contains: the graph, and for each variant where tensors are, the memory
plan, constants, kernels, custom operators and steps. The file is checked as for a run, except that
the bytes of constants are not read.
"""


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="texloom inspect", description=_DESCRIPTION)
    parser.add_argument("package", metavar="FILE", help="a package, usually *.tlp")
    parser.add_argument(
        "--json", action="store_true", help="write a list of packages, with everything, as JSON"
    )
    parser.add_argument(
        "--schedule",
        action="store_true",
        help="show the invocations of each variant: who encodes each one, and what happens before "
        "it (a barrier, a commit, a wait, ...) and why",
    )
    parser.add_argument(
        "--device",
        metavar="D",
        help='with --schedule: the device whose commit policy applies, such as "opencl:1"',
    )
    parser.add_argument(
        "--wait-each",
        action="store_true",
        help="with --schedule: what a runtime does that waits for each invocation",
    )
    options = parser.parse_args(arguments)
    if not options.schedule and (options.device or options.wait_each):
        parser.error("--device and --wait-each belong to --schedule")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Show a file; return 0, or 1 with the reason on stderr if it is refused."""
    options = parse(arguments)
    path = os.fsencode(options.package)
    try:
        views = _core.view_packages(path)
        if options.schedule:
            views = schedules(path, views, options.device, options.wait_each)
    except TVMError as error:
        print(f"texloom inspect: {error.diagnostics[0].message}", file=sys.stderr)
        return 1
    show = describe_schedule if options.schedule else describe
    print(json.dumps(views) if options.json else "\n\n".join(map(show, views)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
