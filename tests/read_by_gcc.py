"""Check every source of src/, apps/ and python/core with GCC, without generating code.

Developers build with Clang and precompiled headers; users build with GCC, without them. This check
finds sources that do not include what they use, or that GCC warns about. Objective-C++ is left out,
since GCC has no blocks. A source is left out, too, if its object in the build folder is up to date:
GCC has read the source already, with the same warnings.

    .venv/bin/python tests/read_by_gcc.py src/ir   # only paths that contain src/ir
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("apps/", "src/", "python/core/")


def read(entry: dict[str, str]) -> str:
    """Return GCC's diagnostics for one entry of the database."""
    words = shlex.split(entry["command"])
    compiler = next(n for n, word in enumerate(words) if word.endswith("++"))
    command = [*words[compiler:], "-fsyntax-only"]
    done = subprocess.run(
        command, cwd=entry["directory"], capture_output=True, text=True, check=False
    )
    return done.stderr if done.returncode else ""


def object_of(entry: dict[str, str]) -> str:
    """Return the file that the entry's command writes."""
    words = shlex.split(entry["command"])
    return words[words.index("-o") + 1]


def compiled(build: Path) -> set[str]:
    """Return the objects in the build folder that are newer than all files that they depend on."""
    listed = subprocess.run(
        ["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True, check=True
    )
    written: dict[str, float] = {}

    def time_of(name: str) -> float:
        if name not in written:
            path = build / name
            written[name] = path.stat().st_mtime if path.exists() else float("inf")
        return written[name]

    found = set()
    for record in listed.stdout.split("\n\n"):
        first, *dependencies = record.strip().splitlines() or [""]
        name = first.partition(":")[0]
        if "(VALID)" in first and (build / name).exists():
            latest = max((time_of(each.strip()) for each in dependencies), default=float("inf"))
            if latest <= time_of(name):
                found.add(name)
    return found


def main() -> int:
    """Check all sources; the exit status tells whether all are clean."""
    parser = argparse.ArgumentParser(description="Have GCC read the sources.")
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("files", nargs="*", help="parts of paths; all sources when none is given")
    args = parser.parse_args()
    chosen = [
        entry
        for entry in json.loads((args.build / "compile_commands.json").read_text())
        if entry["file"].endswith(".cc")
        and Path(entry["file"]).relative_to(ROOT).as_posix().startswith(FOLDERS)
        and (not args.files or any(part in entry["file"] for part in args.files))
    ]
    known = compiled(args.build)
    entries = [entry for entry in chosen if object_of(entry) not in known]
    print(f"{len(chosen) - len(entries)} of {len(chosen)} have been compiled by GCC")
    failed = 0
    with ThreadPoolExecutor(args.jobs) as pool:
        for number, text in enumerate(pool.map(read, entries)):
            file = Path(entries[number]["file"]).relative_to(ROOT)
            print(f"[{number + 1}/{len(entries)}] {file}\n{text}", end="", flush=True)
            failed += bool(text)
    print(f"{len(entries) - failed} of {len(entries)} clean")
    return 1 if failed or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
