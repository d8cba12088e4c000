"""Writes the initial corpus of text fuzzers: every program of this repository, and a dictionary.

.venv/bin/python tests/fuzz/corpus.py FOLDER creates FOLDER/seeds and FOLDER/tl.dict.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

RAW_STRING = re.compile(r'R"\((.*?)\)"', re.DOTALL)
TL_BLOCK = re.compile(r"^```tl\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EBNF_BLOCK = re.compile(r"^```ebnf\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EBNF_WORD = re.compile(r"""'[^']*'|"([^"\n]+)\"""")
INTRINSIC = re.compile(r'^TL_INTRINSIC\(\w+, "(\w+)"', re.MULTILINE)
DIVIDER = re.compile(r"^// -----.*\n", re.MULTILINE)

DEPTH = 1000  # kMaxDepth of src/ir/expr.h


def programs() -> Iterator[tuple[str, str]]:
    """Yield each program with a name for its file."""
    for header in ("ir/text/program_texts.h", "lower/te_texts.h"):
        texts = RAW_STRING.findall((ROOT / "tests" / header).read_text(encoding="utf-8"))
        yield from ((f"{Path(header).stem}_{i}", text) for i, text in enumerate(texts))
    document = (ROOT / "docs/text_form.md").read_text(encoding="utf-8")
    yield from ((f"text_form_{i}", t) for i, t in enumerate(TL_BLOCK.findall(document)))
    for file in sorted((ROOT / "tests/lit").rglob("*.tl")):
        name = f"{file.parent.name}_{file.stem}"
        parts = DIVIDER.split(file.read_text(encoding="utf-8"))
        # Comments do not help the fuzzer.
        cases = (re.sub(r"[ \t]*//.*\n", "\n", part).strip() + "\n" for part in parts)
        yield from ((f"{name}_{i}", text) for i, text in enumerate(cases))
    start = "program p stage=loops\nparam A: global float32[1]\n"
    yield "deep_brackets", f"{start}A[0] = {'(' * DEPTH}1.0{')' * DEPTH}\n"
    yield "deep_blocks", f"{start}{'for i < 2 {' * DEPTH}{'}' * DEPTH}\n"


def words() -> list[str]:
    """Return the words of the grammar."""
    document = (ROOT / "docs/text_form.md").read_text(encoding="utf-8")
    found = set(INTRINSIC.findall((ROOT / "src/ir/intrinsics.def").read_text(encoding="utf-8")))
    for block in EBNF_BLOCK.findall(document):
        found.update(EBNF_WORD.findall(block))
    return sorted(found - {""})


def main() -> None:
    folder = Path(sys.argv[1])
    seeds = folder / "seeds"
    seeds.mkdir(parents=True, exist_ok=True)
    for name, text in programs():
        (seeds / f"{name}.tl").write_text(text, encoding="utf-8")
    quoted = (word.replace("\\", "\\\\").replace('"', '\\"') for word in words())
    (folder / "tl.dict").write_text("".join(f'"{word}"\n' for word in quoted), encoding="utf-8")
    print(f"{len(list(seeds.iterdir()))} programs and {len(words())} words in {folder}")


if __name__ == "__main__":
    main()
