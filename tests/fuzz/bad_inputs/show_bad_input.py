"""Prints every bad-input case as a user sees it: the wrong line and its diagnostics.

.venv/bin/python tests/fuzz/bad_inputs/show_bad_input.py [PART_OF_A_NAME_OR_CODE]
.venv/bin/python tests/fuzz/bad_inputs/show_bad_input.py --directives [DIRECTIVE]

--directives prints only cases of schedules, or of one directive, under a heading for each.
"""

from __future__ import annotations

import sys
from collections import Counter

from bad_input import DIRECTIVES, Case
from bad_input_cases import CASES

from texloom.errors import codes


class Display:
    """Prints cases and counts their outcomes."""

    def __init__(self) -> None:
        self.shown: Counter[str] = Counter()
        self.silent = 0

    def show(self, case: Case) -> None:
        """Print the case and its diagnostics."""
        print(f"== {case.name.replace('_', ' ')}")
        try:
            diagnostics = case.diagnostics()
        except Exception as error:
            diagnostics = []
            print(f"{type(error).__name__}: {error}")
        for diagnostic in diagnostics:
            print(diagnostic["text"])
        self.shown.update(d["code"] for d in diagnostics)
        self.silent += [d["code"] for d in diagnostics] != [case.code]
        print()

    def result(self) -> int:
        """Return the exit status: 1 if a case did not give its one diagnostic."""
        print(f"{self.shown.total()} diagnostics of {len(self.shown)} codes")
        if self.silent:
            print(f"{self.silent} cases did not give their one diagnostic")
        return 1 if self.silent else 0


def show_directives(only: str) -> int:
    """Print the cases of schedules by directive."""
    display = Display()
    for directive in DIRECTIVES:
        cases = [case for case in CASES if case.directive == directive]
        if not cases or only not in ("", directive):
            continue
        print(f"\n######## {directive}: {len(cases)}\n")
        for case in cases:
            display.show(case)
    return display.result()


def main() -> int:
    if sys.argv[1:2] == ["--directives"]:
        return show_directives(sys.argv[2] if len(sys.argv) > 2 else "")
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    display = Display()
    for case in CASES:
        if wanted in case.name or wanted in case.code:
            display.show(case)
    names = [f"{code} {name}" for code, name, _ in codes() if code not in display.shown]
    if not wanted:
        print(f"codes without a case: {', '.join(names) or 'none'}")
    return display.result()


if __name__ == "__main__":
    sys.exit(main())
