"""Plans the networks in every mode, checks each plan, and prints the results as tables.

With --write, it also stores the plans, a picture, and the tables in docs/planning.md.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from texloom.plan.network import load_json, network_of
from texloom.plan.picture import picture
from texloom.plan.textures import plan_network
from texloom_plan_check import check

HERE = Path(__file__).resolve().parent
DOCUMENT = HERE.parents[1] / "docs/planning.md"
DRAWN = "mediapipe_hand_landmark_full"
TEXEL = 16  # bytes of rgba32float, in which all networks are

FIRST = (
    "network | tensors | live texels | proved bound | plan | bound / live | plan / bound | "
    "plan / live | images | s"
)
SECOND = (
    "network | one per tensor | grow | images | images, reordered | its bound | views | "
    "views, reordered | views, one arena"
)


def planned(data: dict[str, Any], **options: Any) -> tuple[dict[str, Any], float]:
    """Return a checked plan, and the seconds of this process that it took."""
    network = network_of(data)
    start = time.process_time()
    plan = plan_network(network, **options)
    seconds = time.process_time() - start
    check(data, plan)
    return plan, seconds


def rows_of(data: dict[str, Any], plan: dict[str, Any], seconds: float) -> tuple[str, str]:
    """Return a row of each table, given the network and its plan in mode `images`."""
    live, bound, size = data["lower_bound_texels"], plan["lower_bound_texels"], plan["texels"]
    first = [
        data["name"],
        len(data["items"]),
        f"{live:,}",
        f"{bound:,}",
        f"{size:,}",
        *(f"{a / b:.3f}" for a, b in ((bound, live), (size, bound), (size, live))),
        len(plan["images"]),
        f"{seconds:.2f}",
    ]
    one, _ = planned(data, mode="one_per_tensor", effort=10)
    grow, _ = planned(data, mode="grow", effort=10)
    free, _ = planned(data, reorder=True)
    views, _ = planned(data, mode="views")
    free_views, _ = planned(data, mode="views", reorder=True)
    arena, _ = planned(data | {"one_arena": True}, mode="views")
    texels = [one["texels"], grow["texels"], size, free["texels"], free["lower_bound_texels"]]
    views_texels = [part["bytes"] / TEXEL for part in (views, free_views, arena)]
    second = [data["name"], *(f"{t / live:.3f}" for t in (*texels, *views_texels))]
    return " | ".join(map(str, first)), " | ".join(second)


def table(header: str, rows: list[str]) -> str:
    """Return a table in Markdown."""
    rule = " | ".join("---" if n == 0 else "---:" for n in range(header.count("|") + 1))
    return "\n".join(f"| {line} |" for line in (header, rule, *rows))


def write(tables: list[str]) -> None:
    """Put the tables between the marks in the document."""
    text = DOCUMENT.read_text(encoding="utf-8")
    for number, lines in enumerate(tables, 1):
        begin, end = f"<!-- table {number} -->\n", f"<!-- end of table {number} -->"
        before, rest = text.split(begin)
        text = f"{before}{begin}\n{lines}\n\n{end}{rest.split(end)[1]}"
    DOCUMENT.write_text(text, encoding="utf-8")


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--write", action="store_true", help="store plans, a picture and the tables"
    )
    options = parser.parse_args()
    rows = []
    for file in sorted((HERE / "networks").glob("*.json")):
        data = load_json(file)
        plan, seconds = planned(data)
        rows.append(rows_of(data, plan, seconds))
        if options.write:
            stored = HERE / "plans" / file.name
            stored.parent.mkdir(exist_ok=True)
            stored.write_text(json.dumps(plan, separators=(",", ":")) + "\n", encoding="utf-8")
        if options.write and file.stem == DRAWN:
            drawn = picture(network_of(data), plan, file.stem)
            (HERE / f"{file.stem}.svg").write_text(drawn, encoding="utf-8")
        print(rows[-1][0], file=sys.stderr)
    tables = [table(FIRST, [a for a, _ in rows]), table(SECOND, [b for _, b in rows])]
    if options.write:
        write(tables)
    print("\n\n".join(tables))
    return 0


if __name__ == "__main__":
    sys.exit(main())
