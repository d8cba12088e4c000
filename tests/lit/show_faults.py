"""Print what the interpreter reports for each program of tests/lit/interpret, as a Markdown table.

.venv/bin/python tests/lit/show_faults.py [--build FOLDER]

Each file contains a program with one fault, and the same program without it.
"""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# A report, the number of its line, and the text of that line.
REPORT = re.compile(r"^(\S.*)\n  --> line (\d+)\n   \|  (.*?)(?: // expected-.*)?$", re.MULTILINE)


def reports(opt: Path, file: Path) -> list[tuple[str, int, str]]:
    """Return each report with its line's number and text."""
    options = shlex.split(file.read_text().partition("\n")[0])
    options = [o for o in options if o.startswith("--") and o != "--verify-diagnostics"]
    done = subprocess.run([opt, file, *options], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr)
    shown = done.stderr.replace(f"{file}:", "line ")
    return [(text, int(line), code) for text, line, code in REPORT.findall(shown)]


def main() -> int:
    """Print the table; return 0 if exactly the seeded faults are found."""
    parser = argparse.ArgumentParser(description="Show what the interpreter finds.")
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    opt = parser.parse_args().build / "apps/texloom-opt"
    print("| seeded fault | first report | in the line | reports | without the fault |")
    print("| --- | --- | --- | --- | --- |")
    files = sorted((ROOT / "tests/lit/interpret").glob("*.tl"))
    wrong = 0
    for file in files:
        text = file.read_text()
        divider = text[: text.index("\n// -----")].count("\n") + 1
        found = reports(opt, file)
        faulty = [report for report in found if report[1] <= divider]
        wrong += not faulty or len(faulty) != len(found)
        first, _, line = faulty[0] if faulty else ("none", 0, "")
        clean = "nothing" if len(faulty) == len(found) else "REPORTED"
        name = file.stem.replace("_", " ")
        print(f"| {name} | {first} | `{line}` | {len(faulty)} | {clean} |")
    print(f"\n{len(files)} programs, {len(files) - wrong} found, with nothing else reported")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
