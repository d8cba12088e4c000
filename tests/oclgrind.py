"""Runs generated kernels under Oclgrind, which detects data races and out-of-bounds buffer
accesses.

    .venv/bin/python tests/oclgrind.py --count 200
    .venv/bin/python tests/oclgrind.py --seed 17      # only one random program

The kernels come from tests/fuzz/generated_kernels.py: operators, then random programs. Each program
also checks its own result. Kernels are compiled without optimization, so that the accesses match
the source. Uninitialized reads are not checked, because Oclgrind treats every image read as one.
Oclgrind does not detect writes outside an image: use build(..., checked=True) or the interpreter.
"""

from __future__ import annotations

import argparse
import itertools
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DRIVER = Path("/usr/lib/oclgrind/liboclgrind-rt-icd.so")


def environment(folder: Path) -> dict[str, str]:
    """Return variables that make Oclgrind the only OpenCL implementation, logging to a file."""
    (folder / "oclgrind.icd").write_text(f"{DRIVER}\n")
    return {
        **os.environ,
        "OCL_ICD_VENDORS": f"{folder}/",
        "OCLGRIND_BUILD_OPTIONS": "-cl-opt-disable",
        "OCLGRIND_DATA_RACES": "1",
        "OCLGRIND_LOG": str(folder / "log"),
    }


def check_kernels(count: int, seed: int | None, log: Path) -> int:
    """Return how many kernels were not clean; the process must have the variables of `environment`.

    With a seed, check only the kernels of that random program.
    """
    sys.path[:0] = [str(ROOT / "tests/fuzz"), str(ROOT / "python")]
    import generated_kernels

    one_alone = itertools.islice(generated_kernels.random_programs(seed or 0, run=True), 1)
    programs = generated_kernels.programs(run=True) if seed is None else one_alone
    done = clean = 0
    for name, program in programs:
        if done >= count:
            break
        before = log.stat().st_size if log.exists() else 0
        with generated_kernels.recorded_builds(run=True) as kernels:
            problem = ""
            try:
                program()
            except Exception as error:
                problem = f"{error}\n"
        found = log.read_text()[before:] if log.exists() else ""
        # The last program may have more kernels than requested.
        new = min(len(kernels), count - done)
        done += new
        if problem or found.strip():
            print(f"{name}:\n{problem}{found}", flush=True)
        else:
            clean += new
    print(f"{clean} of {done} clean")
    return done - clean


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200, help="kernels to run")
    parser.add_argument("--seed", type=int, help="of one random program, to run alone")
    parser.add_argument("--log", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.log:
        return 1 if check_kernels(options.count, options.seed, options.log) else 0
    if not DRIVER.exists():
        print(f"{DRIVER} is missing: install oclgrind", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="texloom-oclgrind-") as folder:
        command = [sys.executable, __file__, *sys.argv[1:], "--log", f"{folder}/log"]
        return subprocess.run(command, env=environment(Path(folder)), check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
