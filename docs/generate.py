"""Writes what is generated in this folder: errors.md, passes.md and the guide's pictures.

Run it with the checkout's Python: ``.venv/bin/python docs/generate.py``. A test compares them with
what this script makes.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))

import blocks  # noqa: E402
import error_examples  # noqa: E402

from texloom import _core, errors  # noqa: E402

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


def fenced(language: str, text: str) -> list[str]:
    """Return a code block."""
    return [f"```{language}", *text.rstrip("\n").split("\n"), "```"]


def entry(code: str, name: str, summary: str) -> list[str]:
    """Return what the catalogue says of one code: meaning, example, way out."""
    heading = f'### <a id="{code.lower()}"></a>{code} {name}'
    lines = ["", heading, "", f"{summary[0].upper()}{summary[1:]}."]
    reason = error_examples.why_no_script(code)
    if reason is not None:
        lines += ["", f"No Python script brings it about: {reason}."]
    example = error_examples.of_code(code)
    if example is not None:
        # Not "python": blocks of that name are run as one program by tests/python/test_docs.py.
        lines += ["", *fenced(example.language, example.source)]
        if example.output:
            lines += ["", *fenced("text", example.output)]
    said = example.output if example else ""
    others = [row for row in error_examples.ways_out(code) if row[1] not in said]
    if others:
        lines += ["", *table(("it may also say", "then"), others)]
    return lines


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
        "a `texloom.TexloomWarning`. Source: `src/support/codes.def`. Each example is run, and",
        "what follows it is what it prints, on a machine with two devices.",
    ]
    groups = {
        title: [row for row in codes if row[0].removeprefix("TL").startswith(digit)]
        for digit, title in GROUPS.items()
    }
    assert sum(map(len, groups.values())) == len(codes), "a code belongs to no group"
    for title, rows in groups.items():
        index = ((f"[`{code}`](#{code.lower()})", name, summary) for code, name, summary in rows)
        lines += ["", f"## {title}", "", *table(("code", "name", "when"), index)]
    for title, rows in groups.items():
        lines += ["", f"## {title.partition(':')[0]}: examples and ways out"]
        for row in rows:
            lines += entry(*row)
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


def draw_pictures() -> None:
    """Keep the pictures that the guide's blocks draw."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # where the blocks save
        for _ in blocks.run(FOLDER / "guide.md"):
            pass
        os.chdir(FOLDER)
        for picture in sorted(Path(folder).glob("*.svg")):
            shutil.copy(picture, FOLDER / "images")
            print(f"wrote docs/images/{picture.name}")


def main() -> None:
    """Write all pages and pictures."""
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page(), encoding="utf-8")
        print(f"wrote docs/{name}")
    draw_pictures()


if __name__ == "__main__":
    main()
