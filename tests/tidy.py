"""Run clang-tidy on the sources that are not known to be clean.

A clean source leaves an empty file in build/tidy, named by a hash of its text, of our headers that
it includes, of its flags and of the checks; the next run skips it. The hash ignores layout and
comments, except comments that turn a check off. The script needs a configured build folder but no
compiled files: precompiled headers are removed from the flags.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CHECKED = ("apps/", "src/", "python/core/")
# <texloom/…> is how external programs include our headers.
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"|<texloom/)([^">]+)', re.MULTILINE)
# Tokens that may contain `//` or `/*` without being a comment, then comments.
TOKEN = re.compile(
    r'(?P<kept>R"(?P<end>[^()\s]*)\(.*?\)(?P=end)"|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)+\')'
    r"|//[^\n]*|/\*.*?\*/",
    re.DOTALL,
)
PRECOMPILED = re.compile(r" -Winvalid-pch(?: -Xclang \S+)+")
WARNING = re.compile(r"^(/\S+?:\d+:\d+: (?:warning|error): .*)$", re.MULTILINE)


def closure(file: Path, seen: set[Path]) -> set[Path]:
    """Return `file` and all headers of this project that it includes, directly or indirectly."""
    if file not in seen:
        seen.add(file)
        for name in INCLUDE.findall(file.read_text()):
            for base in (ROOT / "src", ROOT / "python", ROOT, file.parent):
                if (base / name).is_file():
                    closure((base / name).resolve(), seen)
                    break
    return seen


def without_comments(text: str) -> str:
    """Return the text that clang-tidy sees: NOLINT comments stay, layout does not."""

    def kept(match: re.Match[str]) -> str:
        return match[0] if match["kept"] or "NOLINT" in match[0] else " "

    # A digit separator is not a quote.
    text = re.sub(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])", "", text)
    return " ".join(TOKEN.sub(kept, text).split())


def key(file: Path, command: str, common: bytes) -> str:
    """Hash everything that the result for one source depends on."""
    digest = hashlib.sha256(common + command.encode())
    for header in sorted(closure(file, set())):
        text = without_comments(header.read_text())
        digest.update(f"{header.relative_to(ROOT)}\0{text}\0".encode())
    return digest.hexdigest()


def single_sources(database: Path) -> list[dict[str, str]]:
    """Return a database's entries; replace a unity source by the sources that it includes."""
    entries: list[dict[str, str]] = []
    for entry in json.loads(database.read_text()):
        unity = entry["file"]
        if "/Unity/unity_" not in unity:
            entries.append(entry)
            continue
        for file in INCLUDE.findall(Path(unity).read_text()):
            command = entry["command"].replace(f" -c {unity}", f" -c {file}")
            entries.append(entry | {"file": file, "command": command})
    return entries


def run(tidy: str, database: Path, file: Path) -> subprocess.CompletedProcess[str]:
    """Check one source."""
    options = [
        "-Wno-unknown-warning-option",  # the database may have GCC's options
        "-Wno-deprecated-declarations",  # libstdc++'s own std::stable_sort, seen by clang
        "-Wshadow",
    ]
    return subprocess.run(
        [tidy, "--quiet", "-p", str(database), *(f"--extra-arg={o}" for o in options), str(file)],
        capture_output=True,
        text=True,
        check=False,
    )


def main() -> int:
    """Check the sources that are not known to be clean; the exit status tells whether all are."""
    parser = argparse.ArgumentParser(description="Run clang-tidy on what changed.")
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("files", nargs="*", help="parts of paths; all sources when none is given")
    args = parser.parse_args()

    tidy = shutil.which("clang-tidy-19")
    database = args.build / "compile_commands.json"
    if tidy is None or not database.is_file():
        print("needs clang-tidy-19 and a configured build folder: ./dev setup, ./dev build")
        return 2
    version = subprocess.run([tidy, "--version"], capture_output=True, check=True).stdout
    common = version + (ROOT / ".clang-tidy").read_bytes() + Path(__file__).read_bytes()
    stamps = args.build / "tidy"
    stamps.mkdir(exist_ok=True)

    keys: dict[Path, str] = {}
    entries = single_sources(database)
    for entry in entries:
        entry["command"] = PRECOMPILED.sub("", entry["command"])
        file = Path(entry["file"])
        path = file.relative_to(ROOT).as_posix()
        if path.startswith(CHECKED) and file.is_file():
            keys[file] = key(file, entry["command"], common)
    if not args.files:  # remove stamps of sources that changed
        for stamp in stamps.iterdir():
            if stamp.name not in keys.values():
                stamp.unlink()
    todo = [
        file
        for file in keys
        if not (stamps / keys[file]).exists()
        and (not args.files or any(part in str(file) for part in args.files))
    ]
    print(f"clang-tidy: {len(todo)} of {len(keys)} sources to check", flush=True)

    plain = args.build / "tidy-database"
    plain.mkdir(exist_ok=True)
    (plain / "compile_commands.json").write_text(json.dumps(entries))

    told: set[str] = set()
    failed = 0
    with ThreadPoolExecutor(args.jobs) as pool:
        runs = {pool.submit(run, tidy, plain, file): file for file in todo}
        for done, future in enumerate(as_completed(runs), 1):
            file, result = runs[future], future.result()
            print(f"[{done}/{len(todo)}] {file.relative_to(ROOT)}", flush=True)
            if result.returncode == 0:
                (stamps / keys[file]).touch()
                continue
            failed += 1
            # Report a place in a header once, not once for each source that includes it.
            for part in re.split(
                r"^(?=/\S+?:\d+:\d+: (?:warning|error): )", result.stdout, flags=re.M
            ):
                heading = WARNING.match(part)
                if heading and heading[1] not in told:
                    told.add(heading[1])
                    print(part.replace(f"{ROOT}/", ""), end="")
            if not WARNING.search(result.stdout):
                print(result.stdout + result.stderr)
    if failed:
        print(f"clang-tidy: {len(told)} finding(s) in {failed} source(s)")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
