"""Run the libFuzzer targets, and say what they have found.

./dev fuzz builds them and runs this. Without the repository: copy the folder that it is given
(fuzz_*, seeds/, tl.dict) and this file; then python3 run_fuzzers.py FOLDER --minutes 20 --jobs 16.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
from pathlib import Path

TARGETS = ("parse", "lower", "interpret")
# "#123456: cov: 5000 ft: 9000 corp: 700 exec/s: 900 oom/timeout/crash: 0/0/0 time: 60s ..."
STATUS = re.compile(r"^#(\d+): cov: (\d+) .*corp: (\d+) .*oom/timeout/crash: (\d+)/(\d+)/(\d+)")
TIMEOUT = 20  # seconds for one text
MEMORY = 2048  # MiB


def binary(folder: Path, target: str) -> Path:
    """Where the target lies: in a build folder, or beside the seeds."""
    for place in (folder / "tests/fuzz", folder):
        if (place / f"fuzz_{target}").is_file():
            return place / f"fuzz_{target}"
    raise SystemExit(f"there is no fuzz_{target} in {folder}: ./dev fuzz builds it")


def run(folder: Path, target: str, seconds: int, jobs: int) -> int:
    """Fuzz one target; return how many inputs it has found that crash, hang, or take memory."""
    corpus, findings = folder / "corpus" / target, folder / "findings"
    corpus.mkdir(parents=True, exist_ok=True)
    findings.mkdir(exist_ok=True)
    log = folder / f"{target}.log"
    command = [
        binary(folder, target),
        corpus,
        folder / "seeds",
        f"-dict={folder / 'tl.dict'}",
        f"-artifact_prefix={findings}/{target}-",
        f"-max_total_time={seconds}",
        f"-timeout={TIMEOUT}",
        f"-rss_limit_mb={MEMORY}",
        "-max_len=16384",
        f"-fork={jobs}",
        "-ignore_crashes=1",
        "-ignore_timeouts=1",
        "-ignore_ooms=1",
    ]
    begin = time.monotonic()
    with log.open("wb") as out:
        status = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, check=False)
    last = None
    for line in log.read_text(errors="replace").splitlines():
        last = STATUS.match(line) or last
    if last is None:
        print(f"{target}: did not run ({status.returncode}); see {log}")
        return 1
    runs, coverage, kept, memory, hangs, crashes = map(int, last.groups())
    print(
        f"{target:<10} {runs:>12,} texts in {time.monotonic() - begin:.0f} s on {jobs} processes, "
        f"{coverage:,} edges, {kept:,} texts kept; "
        f"crashes {crashes}, hangs {hangs}, out of memory {memory}",
        flush=True,
    )
    return memory + hangs + crashes


def main() -> int:
    """Run the targets one after the other; the exit status says whether anything was found."""
    parser = argparse.ArgumentParser(description="Fuzz the parser, the pipeline, the interpreter.")
    parser.add_argument("folder", type=Path, help="with the targets, the seeds, the dictionary")
    parser.add_argument("--minutes", type=float, default=5, help="for each target (5)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (1)")
    parser.add_argument("--target", choices=TARGETS, help="this one alone")
    args = parser.parse_args()
    folder = args.folder.resolve()
    targets = (args.target,) if args.target else TARGETS
    found = sum(run(folder, target, int(args.minutes * 60), args.jobs) for target in targets)
    if found:
        print(f"what was found is in {folder / 'findings'}; run a target with a file to see it")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
