"""``texloom ops``: which ONNX operators are supported."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from ..inspect.describe import aligned
from .reports import reported

_DESCRIPTION = """\
Lists the ONNX operators that `texloom compile` knows, with the versions of the operator set in
which ONNX changed them. The list comes from the table of converters. Operators that ONNX defines
by other operators are expanded, and listed if all of those are supported.
"""

_NOTES = {
    "definition": "(by its definition)",
    "attributes": "(its definition depends on attributes and types)",
}


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="texloom ops", description=_DESCRIPTION)
    parser.add_argument("--missing", action="store_true", help="list those that are not supported")
    parser.add_argument("--json", action="store_true", help="write all operators as JSON")
    return parser.parse_args(arguments)


def _ops(options: argparse.Namespace) -> int:
    from ..onnx.operators import operators

    every = operators()
    if options.json:
        print(json.dumps([each.as_dict() for each in every]))
        return 0

    shown = [each for each in every if bool(each.by) != options.missing]
    rows = [
        (each.title, ", ".join(map(str, each.versions)), _NOTES.get(each.by, "")) for each in shown
    ]
    print("\n".join(aligned(rows)))
    known = [each for each in every if each.is_standard]
    depends = sum(each.by == "attributes" for each in known)
    count = sum(bool(each.by) for each in known) - depends
    print(
        f"{count} of {len(known)} operators of ONNX's own domain are supported, and {depends} more "
        "as far as their definitions lead to these; names with :: are of other domains"
    )
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """List operators; return 0, or 1 with the reason on stderr."""
    options = parse(arguments)
    return reported("ops", lambda: _ops(options))
