"""Runs the libFuzzer targets, on texts and on packages, and reports their findings.

./dev fuzz texts builds the targets and runs this script. To run the script without the repository,
copy this file and the folder with fuzz_*, seeds/ and tl.dict; then run python3 run_fuzzers.py
FOLDER --minutes 20 --jobs 16.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

TARGETS = ("parse", "lower", "interpret", "package")
# "#123456: cov: 5000 ft: 9000 corp: 700 exec/s: 900 oom/timeout/crash: 0/0/0 time: 60s ..."
STATUS = re.compile(r"^#(\d+): cov: (\d+) .*corp: (\d+) ")
# The line that describes a finding: an internal check or a sanitizer's message.
SYMPTOM = re.compile(r"(?:what\(\):|runtime error:|ERROR: \w+:) *(.*)")
TIMEOUT = 20  # seconds per text
MEMORY = 2048  # MiB


def binary(folder: Path, target: str) -> Path:
    """Return the path of a target: in a build folder, or beside the seeds."""
    for place in (folder / "tests/fuzz", folder):
        if (place / f"fuzz_{target}").is_file():
            return place / f"fuzz_{target}"
    raise SystemExit(f"there is no fuzz_{target} in {folder}: ./dev fuzz texts builds it")


def symptom(folder: Path, target: str, finding: Path) -> str:
    """Return the error that the target reports when it runs on this text again."""
    command = [binary(folder, target), f"-timeout={TIMEOUT}", f"-rss_limit_mb={MEMORY}", finding]
    done = subprocess.run(command, capture_output=True, check=False)
    found = SYMPTOM.search(done.stderr.decode(errors="replace"))
    return found[1] if found else f"status {done.returncode}"


def run(folder: Path, target: str, seconds: int, jobs: int) -> int:
    """Fuzz one target; return how many texts crash, hang, or use too much memory."""
    corpus, findings = folder / "corpus" / target, folder / "findings"
    corpus.mkdir(parents=True, exist_ok=True)
    findings.mkdir(exist_ok=True)
    known = set(findings.iterdir())
    log = folder / f"{target}.log"
    texts = [folder / "seeds", f"-dict={folder / 'tl.dict'}"]
    command = [
        binary(folder, target),
        corpus,
        *(texts if target != "package" else ()),  # the target `package` makes its inputs itself
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
    runs, coverage, kept = map(int, last.groups())
    # Files named slow-unit are texts that only came close to the time limit.
    new = sorted(f for f in set(findings.iterdir()) - known if "-slow-unit-" not in f.name)
    print(
        f"{target:<10} {runs:>12,} inputs in {time.monotonic() - begin:.0f} s on {jobs} processes, "
        f"{coverage:,} edges, {kept:,} kept, {len(new)} findings",
        flush=True,
    )
    symptoms = Counter(symptom(folder, target, finding) for finding in new)
    for text, count in symptoms.most_common():
        print(f"  {count:5} x {text[:200]}")
    return len(new)


def main() -> int:
    """Run the targets one after the other; the exit status tells whether anything was found."""
    parser = argparse.ArgumentParser(description="Fuzz the compiler, the interpreter and packages.")
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
