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
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Show a file; return 0, or 1 with the reason on stderr if it is refused."""
    options = parse(arguments)
    try:
        views = _core.view_packages(os.fsencode(options.package))
    except TVMError as error:
        print(f"texloom inspect: {error.diagnostics[0].message}", file=sys.stderr)
        return 1
    print(json.dumps(views) if options.json else "\n\n".join(map(describe, views)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
