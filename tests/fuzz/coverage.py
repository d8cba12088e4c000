"""Measures which lines of lowering and code generation the fuzzer runs, in a copy built for gcov.

.venv/bin/python tests/fuzz/coverage.py --count 2000 [--lines]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tree_copy import ROOT, TreeCopy

MEASURED = ("src/lower/", "src/codegen/")
BAR = 0.9

Counts = dict[str, dict[int, int]]  # by file: execution count of each line


def counts(copy: TreeCopy) -> Counts:
    """Return gcov's counts for the object files of the measured folders."""
    found: Counts = defaultdict(lambda: defaultdict(int))
    data = [f for folder in MEASURED for f in (copy.build / folder).rglob("*.gcno") if f.is_file()]
    for file in data:
        command = ["gcov", "--json-format", "--stdout", str(file)]
        done = subprocess.run(command, cwd=copy.build, check=True, capture_output=True, text=True)
        for line in done.stdout.splitlines():
            for each in json.loads(line)["files"]:
                path = Path(copy.build, each["file"]).resolve()
                name = str(path.relative_to(copy.folder)) if copy.folder in path.parents else ""
                if not name.startswith(MEASURED):
                    continue
                for entry in each["lines"]:
                    found[name][entry["line_number"]] += entry["count"]
    return found


def print_table(found: Counts, tree: Path, with_lines: bool) -> float:
    """Print one line per file; return the covered share of all lines."""
    total = covered = 0
    for name, lines in sorted(found.items()):
        ran = sum(count > 0 for count in lines.values())
        total, covered = total + len(lines), covered + ran
        print(f"{name:46}{ran:6} of {len(lines):5}{ran / len(lines):8.1%}")
        if with_lines:
            source = (tree / name).read_text().splitlines()
            for number in sorted(n for n, count in lines.items() if count == 0):
                print(f"    {number:4}  {source[number - 1].strip()[:90]}")
    part = covered / max(total, 1)
    print(f"{'all':46}{covered:6} of {total:5}{part:8.1%}")
    return part


def main() -> int:
    """Print the coverage; the exit status tells whether it reaches the required share."""
    parser = argparse.ArgumentParser(description="Line coverage of the fuzzer alone.")
    parser.add_argument("--count", type=int, default=2000, help="programs (2000)")
    parser.add_argument("--seed", type=int, default=0, help="of the first (0)")
    parser.add_argument("--lines", action="store_true", help="show the lines that never ran")
    options = parser.parse_args()
    copy = TreeCopy(ROOT / "build/fuzz-coverage/tree", "-O1 --coverage -fprofile-update=atomic")
    copy.update()
    copy.compile()
    for stale in copy.build.rglob("*.gcda"):
        stale.unlink()
    numbers = ("--count", str(options.count), "--seed", str(options.seed))
    done = copy.fuzz(*numbers, "--no-device", "--no-reduce")
    print(done.stdout[-2000:], done.stderr[-2000:])
    part = print_table(counts(copy), copy.folder, options.lines)
    return int(part < BAR)


if __name__ == "__main__":
    sys.exit(main())
