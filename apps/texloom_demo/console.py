"""Output of the demonstration: plain text, with colors on a terminal."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import Protocol


class Output(Protocol):
    """An output for headings, sentences and programs."""

    def heading(self, text: str) -> None:
        """Begin a part."""

    def text(self, text: str) -> None:
        """Say something."""

    def program(self, title: str, text: str, language: str = "") -> None:
        """Show a program; `language` is ``"c"`` or nothing."""


class PlainOutput:
    """Output to files, pipes and terminals without rich."""

    def heading(self, text: str) -> None:
        """Begin a part."""
        print(f"\n{text}\n{'=' * len(text)}", flush=True)

    def text(self, text: str) -> None:
        """Say something."""
        print(text, flush=True)

    def program(self, title: str, text: str, language: str = "") -> None:
        """Show a program."""
        del language
        print(f"\n--- {title} {'-' * max(3, 90 - len(title))}\n{text.rstrip()}\n", flush=True)


class TerminalOutput:
    """Output with colors."""

    def __init__(self) -> None:
        from rich.console import Console

        self._console = Console(highlight=False)

    def heading(self, text: str) -> None:
        """Begin a part."""
        self._console.print()
        self._console.rule(f"[bold]{text}", align="left")

    def text(self, text: str) -> None:
        """Say something."""
        self._console.print(text, markup=False, soft_wrap=True)

    def program(self, title: str, text: str, language: str = "") -> None:
        """Show a program."""
        from rich.syntax import Syntax

        self._console.print(f"\n[bold cyan]{title}[/]")
        # Highlighted text, not a Syntax block: the terminal folds long lines and copies them whole.
        colored = Syntax("", language or "text", theme="ansi_dark").highlight(text.rstrip())
        self._console.print(colored, soft_wrap=True)


def standard_output() -> Output:
    """Return the output that suits the destination."""
    if sys.stdout.isatty() and find_spec("rich") is not None:
        return TerminalOutput()
    return PlainOutput()
