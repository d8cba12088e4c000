"""Print every bad-input case as a user sees it: the wrong line and what comes of it.

.venv/bin/python tests/fuzz/show_bad_input.py [PART_OF_A_NAME_OR_CODE]
"""

from __future__ import annotations

import sys
from collections import Counter

from bad_input_cases import CASES

from texloom.errors import codes


def main() -> int:
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    shown: Counter[str] = Counter()
    silent = 0
    for case in CASES:
        if wanted not in case.name and wanted not in case.code:
            continue
        print(f"== {case.name.replace('_', ' ')}")
        try:
            diagnostics = case.diagnostics()
        except Exception as error:
            diagnostics = []
            print(f"{type(error).__name__}: {error}")
        for diagnostic in diagnostics:
            print(diagnostic["text"])
        shown.update(d["code"] for d in diagnostics)
        silent += [d["code"] for d in diagnostics] != [case.code]
        print()
    names = [f"{code} {name}" for code, name, _ in codes() if code not in shown]
    print(f"{sum(shown.values())} diagnostics of {len(shown)} codes")
    if not wanted:
        print(f"codes without a case: {', '.join(names) or 'none'}")
    if silent:
        print(f"{silent} cases did not give their one diagnostic")
    return 1 if silent else 0


if __name__ == "__main__":
    sys.exit(main())
