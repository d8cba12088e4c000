"""Programs of the fuzzer as Python scripts: made as text, so that what built one can be shown."""

from __future__ import annotations

from collections import Counter

from .._core import Program

HEADER = """\
import texloom as tvm
from texloom import te

"""


class Script:
    """Lines of a script, and the names it has used up."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.features: set[str] = set()
        # What symbols are at each call; a single one where there are none.
        self.calls: list[dict[str, int]] = [{}]
        self.keeps_order = True  # of every sum: a schedule may then change no bit
        self._names: Counter[str] = Counter()

    def add(self, text: str) -> None:
        """Write a line."""
        self.lines.append(text)

    def name(self, stem: str) -> str:
        """A variable name not used so far."""
        self._names[stem] += 1
        return stem if self._names[stem] == 1 else f"{stem}_{self._names[stem]}"

    def text(self) -> str:
        """The whole script."""
        return HEADER + "\n".join(self.lines) + "\n"

    def program(self) -> Program:
        """What the script calls ``program``, when it is run."""
        scope: dict[str, Program] = {"__name__": "case"}
        exec(compile(self.text(), "<case>", "exec"), scope)
        return scope["program"]
