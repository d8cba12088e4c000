"""Programs of the fuzzer as Python scripts, which can be printed."""

from __future__ import annotations

from collections import Counter

from texloom._core import Program

HEADER = """\
import texloom as tvm
from texloom import te

"""


class Script:
    """The lines of a script, and the names that it uses."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.features: set[str] = set()
        # The values of symbols at each call. A program without symbols is called once.
        self.calls: list[dict[str, int]] = [{}]
        # The compiler may refuse the program because it would read outside of a tensor (TL3020).
        self.may_read_outside = False
        self.keeps_order = True  # if every sum keeps its order, no schedule may change a bit
        self._names: Counter[str] = Counter()

    def add(self, text: str) -> None:
        """Add a line."""
        self.lines.append(text)

    def name(self, stem: str) -> str:
        """A variable name not used so far."""
        self._names[stem] += 1
        return stem if self._names[stem] == 1 else f"{stem}_{self._names[stem]}"

    def text(self) -> str:
        """The whole script."""
        return HEADER + "\n".join(self.lines) + "\n"

    def program(self) -> Program:
        """Run the script and return its variable ``program``."""
        scope: dict[str, Program] = {"__name__": "case"}
        exec(compile(self.text(), "<case>", "exec"), scope)
        return scope["program"]
