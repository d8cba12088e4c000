"""Draws nodes of the operators that ONNX defines by bodies, and writes docs/onnx_bodies.md.

    python tests/onnx_bodies.py [--count 50] [--seed 1000] [--only REGEX] [--json FILE] [--jobs 2]

The nodes are those of tests/python/function_bodies, with other seeds. The file keeps outcomes: with
--only, those of other operators are read from it. The page is written if there are outcomes of
every operator. Exits with 1 if a node is refused, is wrong, or differs from one reference for no
known reason.
"""

from __future__ import annotations

import argparse
import collections
import json
import multiprocessing
import os
import re
import sys
import time
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "python"))

PAGE = Path(__file__).parents[1] / "docs/onnx_bodies.md"
HEAD = """# Operators with bodies

Written by [tests/onnx_bodies.py](../tests/onnx_bodies.py): ONNX gives {operators} operators of its
own domains a function body. For each one, {count} nodes are drawn at random: versions since the
body appeared, types, ranks, attributes, optional inputs and outputs, negative axes, extents of 0,
infinities and NaN. Texloom, `onnx.reference` {onnx} and onnxruntime {onnxruntime} run each node. A
reference that does not compute the types of a node gets it in float32 or float64.

Results are equal if no element differs by more than `2 (n + 16) u m`, as for
[`texloom compare`](onnx.md#wrong-results): n is the length of the longest sum, u the rounding error
of the coarsest type, m the sum of the magnitudes of the terms. Infinities and NaN have to agree.

"""
COLUMNS = {
    "both": "equal to both",
    "only": "equal to the only one that computes it",
    "onnx.reference": "as onnx.reference, against onnxruntime",
    "onnxruntime": "as onnxruntime, against onnx.reference",
    "text": "as the text, against all that compute it",
    "none": "no reference computes it",
    "refused": "refused",
    "unexplained": "against one, for no known reason",
    "wrong": "wrong",
}
Row = tuple[str, str, dict[str, str]]  # kind, reason and causes of an outcome


def outcomes_of(key: tuple[str, str], seeds: range) -> list[Row]:
    """The outcomes of the nodes of an operator."""
    from function_bodies.nodes import Draw, outcome_of

    rows = []
    for seed in seeds:
        outcome = outcome_of(Draw(*key, seed).node())
        rows.append((outcome.kind, f"{key[1]}, seed {seed}: {outcome.why}", outcome.causes))
    return rows


def counts_of(results: dict[tuple[str, str], list[Row]]) -> list[str]:
    """The table of outcomes by operator."""
    from function_bodies.nodes import versions_with_bodies

    lines = [
        f"| operator | versions | drawn | {' | '.join(COLUMNS.values())} |",
        "| --- " * (3 + len(COLUMNS)) + "|",
    ]
    every = collections.Counter()
    for (domain, op), rows in results.items():
        counts = collections.Counter(kind for kind, _, _ in rows)
        every.update(counts)
        versions = ", ".join(map(str, versions_with_bodies(domain, op)))
        lines.append(_line(f"{domain}::{op}" if domain else op, versions, counts))
    return [*lines, _line("all", "", every)]


def _line(title: str, versions: str, counts: collections.Counter) -> str:
    numbers = [str(counts[each] or "") for each in COLUMNS]
    return f"| {title} | {versions} | {sum(counts.values())} | {' | '.join(numbers)} |"


def causes_of(results: dict[tuple[str, str], list[Row]]) -> list[str]:
    """The table of what references compute otherwise."""
    counts: collections.Counter[tuple[str, str, str]] = collections.Counter()
    for (_, op), rows in results.items():
        counts.update((op, peer, cause) for *_, each in rows for peer, cause in each.items())
    lines = ["| operator | reference | differs, because | nodes |", "| --- | --- | --- | --- |"]
    return lines + [f"| {' | '.join(key)} | {number} |" for key, number in sorted(counts.items())]


def refusals_of(results: dict[tuple[str, str], list[Row]]) -> list[str]:
    """The reasons of refusals, without seeds and numbers."""
    reasons: collections.Counter[tuple[str, str]] = collections.Counter()
    for (_, op), rows in results.items():
        whys = [why.partition("': ")[2] or why for kind, why, _ in rows if kind == "refused"]
        reasons.update((op, re.sub(r"\b\d+\b", "n", why)) for why in whys)
    if not reasons:
        return []
    lines = ["", "| operator | refused because | nodes |", "| --- | --- | --- |"]
    return lines + [f"| {op} | {why} | {number} |" for (op, why), number in sorted(reasons.items())]


def drawn(options: argparse.Namespace) -> dict[tuple[str, str], list[Row]]:
    """The outcomes of all nodes, by operator."""
    from function_bodies.nodes import operators_with_bodies

    every = operators_with_bodies()
    keys = [each for each in every if re.search(options.only, each[1])]
    seeds = range(options.seed, options.seed + options.count)
    results, begin = kept(options.json), time.time()
    with multiprocessing.get_context("spawn").Pool(options.jobs) as pool:
        made = pool.imap(partial(outcomes_of, seeds=seeds), keys)
        for key, rows in zip(keys, made, strict=True):
            results[key] = rows
            keep(options.json, results)
            print(f"{key[1]}: {len(rows)} nodes, {time.time() - begin:.0f} s", file=sys.stderr)
    return {key: results[key] for key in every if key in results}


def kept(file: Path | None) -> dict[tuple[str, str], list[Row]]:
    """The outcomes in a file."""
    if file is None or not file.exists():
        return {}
    return {(domain, op): rows for domain, op, rows in json.loads(file.read_text())}


def keep(file: Path | None, results: dict[tuple[str, str], list[Row]]) -> None:
    if file is not None:
        file.write_text(json.dumps([(*key, rows) for key, rows in results.items()], indent=1))


def main() -> int:
    import onnx
    import onnxruntime
    from function_bodies.nodes import operators_with_bodies
    from function_bodies.outcomes import RIGHT

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=50, help="nodes of each operator")
    parser.add_argument("--seed", type=int, default=1000, help="the first one")
    parser.add_argument("--only", default="", help="a pattern for names of operators")
    parser.add_argument("--json", type=Path, help="keeps the outcomes")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    os.environ["TEXLOOM_CACHE_DIR"] = ""  # kernels are compiled once
    results = drawn(options)
    lines = [*counts_of(results), "", *causes_of(results), *refusals_of(results)]
    versions = {"onnx": onnx.__version__, "onnxruntime": onnxruntime.__version__}
    head = HEAD.format(operators=len(results), count=options.count, **versions)
    if len(results) == len(operators_with_bodies()):
        PAGE.write_text(head + "\n".join(lines) + "\n")
    else:
        print("\n".join(lines))
    wrong = [
        f"{kind}: {why}" for rows in results.values() for kind, why, _ in rows if kind not in RIGHT
    ]
    print("\n".join(wrong), file=sys.stderr)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
