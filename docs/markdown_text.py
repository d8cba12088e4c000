"""Pieces of Markdown: tables and code blocks."""

from __future__ import annotations

from collections.abc import Iterable


def escaped(cell: str) -> str:
    """Return a text with its bars escaped, as a table cell needs them."""
    return cell.replace("|", "\\|")


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    """Return a Markdown table; a bar in a cell is escaped."""

    def line(cells: Iterable[str]) -> str:
        return "| " + " | ".join(map(escaped, cells)) + " |"

    names = list(header)
    return [line(names), line("---" for _ in names), *(line(row) for row in rows)]


def fenced(language: str, text: str) -> list[str]:
    """Return a code block."""
    return [f"```{language}", *text.rstrip("\n").split("\n"), "```"]
