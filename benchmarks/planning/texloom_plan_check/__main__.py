"""The command line of the checker."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from .check import check
from .network import CheckError


def main(arguments: Sequence[str]) -> int:
    """Check a plan; print what it proves and return 0, or say what is wrong and return 1."""
    if len(arguments) != 2:
        print("usage: python -m texloom_plan_check NET.json PLAN.json", file=sys.stderr)
        return 2
    try:
        network, plan = (json.loads(Path(name).read_text()) for name in arguments)
        verdict = check(network, plan)
    except (OSError, ValueError) as error:
        print(f"texloom_plan_check: {error}", file=sys.stderr)
        return 1
    except CheckError as error:
        print(f"texloom_plan_check: {arguments[1]}: {error}", file=sys.stderr)
        return 1
    print(verdict)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
