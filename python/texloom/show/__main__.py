"""The command line of the pictures."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from ..errors import TVMError
from .picture import show
from .source import SourceError, program_of


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse and check the command line."""
    parser = argparse.ArgumentParser(
        prog="texloom show",
        description="Runs a script, and draws its schedule as SVG: the element in each texel of "
        "its textures, and its loops with scopes, sizes and what each kernel reads and writes.",
    )
    parser.add_argument(
        "file", type=Path, help="a Python script that makes a schedule, or a program (.tl)"
    )
    parser.add_argument(
        "-o",
        "--out",
        type=Path,
        metavar="SVG",
        help="where the picture is written (default: beside the file)",
    )
    parser.add_argument(
        "--what",
        choices=["all", "loops", "textures"],
        default="all",
        help="which pictures (default: %(default)s)",
    )
    parser.add_argument("--name", help="the script's variable, if it has several schedules")
    parser.add_argument("--target", help="target of a script, such as 'opencl -device=mali'")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw the pictures; return 0, or 1 with the reason on stderr."""
    options = parse(arguments)
    out = options.out or options.file.with_suffix(".svg")
    try:
        program = program_of(options.file, options.name, options.target)
        show(program, what=options.what).save(out)
        print(out)
        return 0
    except TVMError as error:
        print(error, file=sys.stderr)
    except (SourceError, ValueError) as error:
        print(f"texloom.show: {error}", file=sys.stderr)
    except OSError as error:
        print(f"texloom.show: {out}: {error.strerror}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
