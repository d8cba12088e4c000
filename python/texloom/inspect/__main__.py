"""The command line that shows packages."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from .. import _core
from ..errors import TVMError, refuse
from .describe import View, describe
from .picture import graph_picture
from .schedule import describe_schedule, schedules
from .scopes import describe_scopes, scopes_of

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
        help="with --schedule: show a runtime that waits for each invocation",
    )
    parser.add_argument(
        "--scopes",
        action="store_true",
        help="show for each tensor where it is stored, where else it could be, and what that would "
        "cost, if the package was compiled by costs",
    )
    parser.add_argument(
        "--svg",
        metavar="FILE",
        help="draw the graph, in the colors of storages, to a file",
    )
    options = parser.parse_args(arguments)
    if options.schedule and options.scopes:
        parser.error("--schedule and --scopes show different tables: give only one of them")
    svg, package = Path(options.svg or ""), Path(options.package)
    if options.svg and svg.exists() and package.exists() and svg.samefile(package):
        parser.error(f"--svg would overwrite {options.package}: choose another file")
    if not options.schedule and (options.device or options.wait_each):
        parser.error("--device and --wait-each have an effect only with --schedule: add it")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Show a file; return 0, or 1 with the reason on stderr if it is refused."""
    options = parse(arguments)
    path = os.fsencode(options.package)
    try:
        views = _core.view_packages(path)
        if options.svg:
            _draw(views, Path(options.svg))
            print(f"texloom inspect: the graph is drawn in {options.svg}", file=sys.stderr)
        if not options.svg or options.schedule or options.scopes or options.json:
            print(_shown(path, views, options))
    except TVMError as error:
        print(f"texloom inspect: {error.diagnostics[0].message}", file=sys.stderr)
        return 1
    return 0


def _shown(path: bytes, views: list[View], options: argparse.Namespace) -> str:
    show = describe
    if options.schedule:
        views = schedules(path, views, options.device, options.wait_each)
        show = describe_schedule
    elif options.scopes:
        if options.json:
            return json.dumps(scopes_of(views))
        show = describe_scopes
    return json.dumps(views) if options.json else "\n\n".join(map(show, views))


def _draw(views: list[View], path: Path) -> None:
    """Write the picture of the first package."""
    try:
        path.write_text(graph_picture(views[0]), encoding="utf-8")
    except OSError as error:
        refuse("FileError", f"{path}: {error.strerror}", "name another file")


if __name__ == "__main__":
    sys.exit(main())
