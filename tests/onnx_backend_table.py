"""Writes docs/onnx_backend.md from results of ONNX's backend tests.

python tests/onnx_backend.py --kind node,simple --storage buffer --json buffer.json
python tests/onnx_backend.py --kind node,simple --storage texture --json texture.json
python tests/onnx_backend_table.py buffer.json texture.json
"""

from __future__ import annotations

import collections
import json
import re
import sys
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs/onnx_backend.md"
HEAD = """# ONNX's backend tests

Written by [tests/onnx_backend_table.py](../tests/onnx_backend_table.py): the cases of the kinds
`node` and `simple` of `onnx.backend.test`, in buffers (`storage="buffer"`) and with textures
wherever a kernel can (`storage="texture"`). A case passes if all outputs have the declared types
and shapes, and values within the tolerance that it states. The expected values of contested cases
contradict the standard. Every other case is refused by `prepare`, for the reasons below.

"""


def reason_of(text: str) -> str:
    """What a refusal says, without the names of the case."""
    text = re.sub(r"^\w+: ", "", text)
    text = re.sub(r"^error\[\w+\]: ", "", text)
    text = re.sub(r"^'[^']*' has", "an input or output has", text)
    text = re.sub(r" '[^']*':", ":", text)
    return re.sub(r"\b\d+\b", "n", re.sub(r"'[^']*'", "…", text))


def main() -> int:
    runs = [json.loads(Path(each).read_text()) for each in sys.argv[1:3]]
    lines = ["| | buffers | textures |", "| --- | --- | --- |"]
    counts = [collections.Counter(outcome for outcome, _ in run.values()) for run in runs]
    lines += [
        f"| {outcome} | {' | '.join(str(each[outcome]) for each in counts)} |"
        for outcome in ("passed", "refused", "contested")
    ]
    wrong = [set(each) - {"passed", "refused", "contested"} for each in counts]
    if any(wrong):
        print(f"some cases are neither right nor refused: {wrong}", file=sys.stderr)
        return 1
    reasons: dict[str, list[list[str]]] = {}
    for number, run in enumerate(runs):
        for name, (outcome, why) in sorted(run.items()):
            if outcome == "refused":
                lists = reasons.setdefault(reason_of(why), [[], []])
                lists[number].append(name)
    lines += [
        "",
        "| refused because | buffers | textures | for example |",
        "| --- | --- | --- | --- |",
    ]
    ordered = sorted(reasons.items(), key=lambda each: (-len(each[1][0]), each[0]))
    for reason, (first, second) in ordered:
        example = (first or second)[0]
        shown = reason.replace("|", "\\|")
        lines.append(f"| {shown} | {len(first)} | {len(second)} | `{example}` |")
    PAGE.write_text(HEAD + "\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
