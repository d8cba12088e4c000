"""Prints and draws what texloom-bench-commit has measured, beside what the law predicts.

    python benchmarks/commit/picture.py FILE.json... [--svg OUT.svg]

The law: n operators that are waited for one by one take n (T + S) instead of n T + S, where T is
the time of an operator and S that of a wait. The ratio is at most n, and 1 + S / T for long chains.
Both are measured for each array size: T is the slope of the adaptive times over the number of
operators, S what each further wait adds. Both are medians over the chains, so that one disturbed
chain moves neither.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from itertools import combinations
from pathlib import Path
from statistics import median
from typing import Any

WIDTH, HEIGHT, LEFT, TOP, GAP = 420, 300, 60, 50, 90
COLORS = ("#0969da", "#1a7f37", "#9a6700", "#cf222e", "#8250df")


def add_law(rows: list[dict[str, Any]]) -> None:
    """Add T, S and the law's ratio to the rows of one array size."""
    slopes = [
        (a["adaptive_us"] - b["adaptive_us"]) / (a["operators"] - b["operators"])
        for a, b in combinations(rows, 2)
    ]
    op = max(median(slopes), 1e-3)
    waits = [(r["wait_each_us"] - r["adaptive_us"]) / (r["operators"] - 1) for r in rows]
    wait = max(median(waits), 0.0)
    for row in rows:
        n = row["operators"]
        law = n * (op + wait) / (n * op + wait)
        row.update(operator_us=op, wait_us=wait, law=law)


def read(file: Path) -> dict[str, Any]:
    """Return what a file has of one device, with the law."""
    result: dict[str, Any] = json.loads(file.read_text())
    for elements in {row["elements"] for row in result["rows"]}:
        add_law([row for row in result["rows"] if row["elements"] == elements])
    return result


def misses(row: dict[str, Any]) -> list[str]:
    """Return the bars that a row misses."""
    found = []
    if row["ratio"] < 0.9 * row["law"]:
        found.append(f"under 0.9 of the law ({row['ratio'] / row['law']:.2f})")
    if row["operators"] >= 10 and row["operator_us"] <= row["wait_us"] / 2 and row["ratio"] < 2:
        found.append("under 2x")
    if row["operator_us"] >= 100 * row["wait_us"] and row["ratio"] < 0.99:
        found.append("over 1 % lost")
    return found


def table(result: dict[str, Any]) -> str:
    """Return the rows of one device as text."""
    lines = [
        f"{result['device']} ({result['driver']})",
        f"{'elements':>9} {'custom':>6} {'T us':>9} {'S us':>8} {'adaptive us':>12} "
        f"{'wait each us':>13} {'ratio':>6} {'law':>6} {'of law':>6}",
    ]
    for row in result["rows"]:
        bars = misses(row)
        lines.append(
            f"{row['elements']:>9,} {row['custom']:>6} {row['operator_us']:>9.2f} "
            f"{row['wait_us']:>8.1f} {row['adaptive_us']:>12.1f} {row['wait_each_us']:>13.1f} "
            f"{row['ratio']:>6.2f} {row['law']:>6.2f} {row['ratio'] / row['law']:>6.2f}"
            + (f"  MISSED: {', '.join(bars)}" if bars else "")
        )
    return "\n".join(lines)


def panel(result: dict[str, Any], left: float) -> str:
    """Return the SVG of one device: dots are measured, lines are the law."""
    rows = result["rows"]
    most = max(max(row["ratio"], row["law"]) for row in rows) * 1.05
    longest = max(row["operators"] for row in rows)

    def place(operators: float, ratio: float) -> tuple[float, float]:
        x = left + WIDTH * math.log(operators / 2) / math.log(longest / 2)
        return x, TOP + HEIGHT * (1 - ratio / most)

    parts = [
        f'<text x="{left}" y="{TOP - 22}" font-weight="bold">{result["device"]}</text>',
        f'<rect x="{left}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}" fill="none" '
        f'stroke="#d0d7de"/>',
    ]
    step = max(1, math.ceil(most / 8))
    for mark in range(0, math.ceil(most), step):
        _, y = place(2, mark)
        parts.append(
            f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{mark}x</text>'
            f'<line x1="{left}" x2="{left + WIDTH}" y1="{y:.1f}" y2="{y:.1f}" stroke="#eaeef2"/>'
        )
    for operators in sorted({row["operators"] for row in rows}):
        x, _ = place(operators, 0)
        parts.append(
            f'<text x="{x:.1f}" y="{TOP + HEIGHT + 18}" text-anchor="middle">{operators}</text>'
        )
    for number, elements in enumerate(sorted({row["elements"] for row in rows})):
        color = COLORS[number % len(COLORS)]
        mine = [row for row in rows if row["elements"] == elements]
        op, wait = mine[0]["operator_us"], mine[0]["wait_us"]
        curve = []
        for k in range(81):
            n = 2 * (longest / 2) ** (k / 80)
            curve.append("{:.1f},{:.1f}".format(*place(n, n * (op + wait) / (n * op + wait))))
        parts.append(f'<polyline points="{" ".join(curve)}" fill="none" stroke="{color}"/>')
        for row in mine:
            x, y = place(row["operators"], row["ratio"])
            hint = f"{elements:,} elements, {row['operators']} operators: {row['ratio']:.2f}"
            parts.append(
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{color}"><title>{hint}</title>'
                "</circle>"
            )
        parts.append(
            f'<text x="{left + 10}" y="{TOP + 18 + 16 * number}" fill="{color}">'
            f"{elements:,} elements</text>"
        )
    parts.append(
        f'<text x="{left + WIDTH / 2}" y="{TOP + HEIGHT + 38}" text-anchor="middle">operators of '
        "a run</text>"
    )
    return "\n".join(parts)


def picture(results: list[dict[str, Any]]) -> str:
    """Return an SVG with a panel for each device."""
    width = LEFT + len(results) * (WIDTH + GAP)
    body = "\n".join(
        panel(result, LEFT + number * (WIDTH + GAP)) for number, result in enumerate(results)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{TOP + HEIGHT + 60}" '
        'font-family="sans-serif" font-size="12" fill="#24292f">\n'
        '<rect width="100%" height="100%" fill="#ffffff"/>\n'
        f'<text x="{LEFT}" y="16">A wait after each operator, over one wait for all (dots: '
        f"measured; lines: n (T + S) / (n T + S))</text>\n{body}\n</svg>\n"
    )


def main() -> int:
    """Run the program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, help="what texloom-bench-commit wrote")
    parser.add_argument("--svg", type=Path, help="draw a picture")
    options = parser.parse_args()
    results = [read(file) for file in options.files]
    for result in results:
        print(table(result))
        missed = sum(bool(misses(row)) for row in result["rows"])
        print(f"{len(result['rows']) - missed} of {len(result['rows'])} rows meet the bars\n")
    if options.svg:
        options.svg.write_text(picture(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
