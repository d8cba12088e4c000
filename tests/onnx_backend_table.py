"""Writes docs/onnx_backend.md from results of ONNX's backend tests.

python tests/onnx_backend.py --storage buffer --json buffer.json
python tests/onnx_backend.py --storage texture --json texture.json
python tests/onnx_backend_table.py buffer.json texture.json
"""

from __future__ import annotations

import collections
import json
import re
import sys
from pathlib import Path

from onnx_backend import KINDS

OUTCOMES = ("passed", "refused", "contested")
PAGE = Path(__file__).parents[1] / "docs/onnx_backend.md"
HEAD = """# ONNX's backend tests

Written by [tests/onnx_backend_table.py](../tests/onnx_backend_table.py): the cases of
`onnx.backend.test`, in buffers (`storage="buffer"`) and with textures
wherever a kernel can (`storage="texture"`). A case passes if all outputs have the declared types
and shapes, and values within the tolerance that it states. The expected values of contested cases
contradict the standard, or are random. Every other case is refused by `prepare`, for the reasons
below.

"""


def reason_of(text: str) -> str:
    """The text of a refusal, without the names of the case."""
    text = re.sub(r"^\w+: ", "", text)
    text = re.sub(r"^error\[\w+\]: ", "", text)
    text = re.sub(r"^'[^']*' has", "an input or output has", text)
    text = re.sub(r" '[^']*':", ":", text)
    return re.sub(r"\b\d+\b", "n", re.sub(r"'[^']*'", "…", text))


Row = tuple[str, str, str, str]  # kind, name, outcome and reason


def counts_of(runs: list[list[Row]]) -> list[str]:
    """The table of outcomes by kind, each for buffers and for textures."""
    lines = [
        f"| kind | cases | {' | '.join(f'{each}: buffers | textures' for each in OUTCOMES)} |",
        "| --- " * (2 + 2 * len(OUTCOMES)) + "|",
    ]
    kinds = dict.fromkeys(kind for run in runs for kind, *_ in run)
    order = [each for each in KINDS if each in kinds]
    for kind in [*order, None]:
        chosen = [[row for row in run if kind in (row[0], None)] for run in runs]
        counts = [collections.Counter(outcome for _, _, outcome, _ in rows) for rows in chosen]
        numbers = [str(each[outcome]) for outcome in OUTCOMES for each in counts]
        title = "all" if kind is None else f"`{kind}`"
        lines.append(f"| {title} | {len(chosen[0])} | {' | '.join(numbers)} |")
    return lines


def reasons_of(runs: list[list[Row]]) -> list[str]:
    """The table of the reasons of refusals."""
    reasons: dict[str, list[list[str]]] = {}
    for number, run in enumerate(runs):
        for _, name, outcome, why in run:
            if outcome == "refused":
                lists = reasons.setdefault(reason_of(why), [[], []])
                lists[number].append(name)
    lines = [
        "| refused because | buffers | textures | for example |",
        "| --- | --- | --- | --- |",
    ]
    ordered = sorted(reasons.items(), key=lambda each: (-len(each[1][0]), each[0]))
    for reason, (first, second) in ordered:
        example = (first or second)[0]
        shown = reason.replace("|", "\\|")
        lines.append(f"| {shown} | {len(first)} | {len(second)} | `{example}` |")
    return lines


def main() -> int:
    runs = [json.loads(Path(each).read_text()) for each in sys.argv[1:3]]
    wrong = [
        f"{name}: {outcome}"
        for run in runs
        for _, name, outcome, _ in run
        if outcome not in OUTCOMES
    ]
    if wrong:
        print(f"some cases are neither right nor refused: {', '.join(wrong)}", file=sys.stderr)
        return 1
    lines = [*counts_of(runs), "", *reasons_of(runs)]
    PAGE.write_text(HEAD + "\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
