"""Writes the generated pages of this folder: errors.md and passes.md.

Run it with the checkout's Python: ``.venv/bin/python docs/generate.py``. A test compares the pages
with what this script makes.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from texloom import _core, errors

FOLDER = Path(__file__).resolve().parent

NOTE = "<!-- Made by docs/generate.py: change its source, then run it. -->"

GROUPS = {
    "1": "Tensors and expressions",
    "2": "Schedule directives: wrong in themselves, refused where they are called",
    "3": "Whole schedules: refused by `lower`, at the line that caused it",
    "4": "Targets and code generation",
    "5": "Calls and the runtime",
    "6": "The text form",
}


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    """Return a Markdown table; a bar in a cell is escaped."""

    def line(cells: Iterable[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    names = list(header)
    return [line(names), line("---" for _ in names), *(line(row) for row in rows)]


def errors_page() -> str:
    """Return the page of all diagnostic codes."""
    codes = errors.codes()
    lines = [
        "# Error codes",
        "",
        NOTE,
        "",
        "A mistake in a program, a schedule or a call is one diagnostic: a stable code, the line",
        "of your program, what is wrong, and what to do about it. It is raised as",
        "`texloom.TVMError`, whose `code` and `diagnostics` hold the same as values. A warning is",
        "a `texloom.TexloomWarning`. Source: `src/support/codes.def`.",
    ]
    for digit, title in GROUPS.items():
        rows = [
            (f"`{code}`", name, summary)
            for code, name, summary in codes
            if code.removeprefix("TL").startswith(digit)
        ]
        lines += ["", f"## {title}", "", *table(("code", "name", "when"), rows)]
    shown = sum(line.startswith("| `TL") for line in lines)
    assert shown == len(codes), "a code belongs to no group"
    return "\n".join(lines) + "\n"


def passes_page() -> str:
    """Return the page of the lowering passes."""
    rows = [
        (str(number), f"[`{name}`](../src/lower/{name}.h)", f"{before} → {after}", summary)
        for number, (name, before, after, summary) in enumerate(_core.passes(), start=1)
    ]
    lines = [
        "# Passes",
        "",
        NOTE,
        "",
        "How a schedule becomes kernels: these passes, in this order. Each is one free function;",
        "its header says what it does, why it stands at this place, and what holds before and",
        "after. In tests the verifier checks the program after every pass. The table is that in",
        "`src/lower/pipeline.cc`; `texloom.lower_texts(s, args)` returns the program after each.",
        "",
        *table(("#", "pass", "stage", "what it does"), rows),
        "",
        "The OpenCL backend then brings each kernel into a form that OpenCL C can spell (stage",
        "`legalised`, [`legalize`](../src/codegen/opencl/legalize.h)) in these steps, and a",
        "printer spells it.",
        "",
        *table(
            ("#", "step", "what it does"),
            (
                (str(number), f"`{name}`", summary)
                for number, (name, summary) in enumerate(_core.legalize_steps(), start=1)
            ),
        ),
    ]
    return "\n".join(lines) + "\n"


PAGES = {"errors.md": errors_page, "passes.md": passes_page}


def main() -> None:
    """Write all pages."""
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page(), encoding="utf-8")
        print(f"wrote docs/{name}")


if __name__ == "__main__":
    main()
