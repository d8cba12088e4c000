"""Seed faults, each a change of one place, into a copy of the Metal driver, and run the suites.

    .venv/bin/python tests/softmetal/seeded_faults.py [--only WORD ...] [--folder FOLDER]

For each fault the copy is built; then the driver's own tests and the conformance suite run on the
software Metal until one fails. Prints a table; exits with 1 if no suite noticed a fault, unless
`fault_list.py` explains it. `FOLDER` (by default ``build/faults``) is the copy, which is kept.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fault_list import DRIVER, FAULTS
from tree_copy import ROOT, TreeCopy


class DriverCopy(TreeCopy):
    """A copy whose tests of the Metal driver are built and run."""

    def compile(self) -> None:
        """Build the tests; raise CalledProcessError on failure."""
        if not (self.build / "build.ninja").exists():
            self._run("cmake", "--preset", "default", f"-DPython_EXECUTABLE={sys.executable}")
        self._run("cmake", "--build", "build", "--target", "metal_tests", "conformance_tests")

    def noticed_by(self) -> str:
        """Return the suite that fails, and how; empty if none does."""
        suites = {
            "tests": ["build/tests/runtime/drivers/metal/metal_tests", "--gtest_brief=1"],
            "conformance": [
                "build/tests/conformance_tests",
                "--gtest_brief=1",
                "--gtest_filter=*metal*",
                "--gtest_fail_fast",
            ],
        }
        for suite, command in suites.items():
            try:
                done = subprocess.run(
                    command,
                    cwd=self.folder,
                    capture_output=True,
                    text=True,
                    timeout=300,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                return f"{suite}: does not end"
            if done.returncode:
                ended = "fails" if done.returncode == 1 else f"ends with {done.returncode}"
                return f"{suite}: {ended}"
        return ""


def main() -> int:
    """Try each fault; the exit status tells whether all were noticed or are explained."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", default=[], metavar="WORD")
    parser.add_argument("--folder", type=Path, default=ROOT / "build/faults")
    options = parser.parse_args()
    copy = DriverCopy(options.folder.resolve(), "")
    if copy.folder != ROOT:
        copy.update()
    chosen = [f for f in FAULTS if not options.only or any(w in f.name for w in options.only)]
    copy.compile()
    if told := copy.noticed_by():
        sys.exit(f"the driver fails without a fault: {told}")
    missed = explained = 0
    print("| fault | noticed by | s |\n| --- | --- | --- |", flush=True)
    for fault in chosen:
        source = copy.folder / DRIVER / fault.source
        kept = source.with_suffix(".kept")
        shutil.copy2(source, kept)
        begin = time.monotonic()
        try:
            source.write_text(fault.apply(source.read_text()))
            copy.compile()
            told = copy.noticed_by()
        except subprocess.CalledProcessError:
            told = "does not compile"
        finally:
            source.write_text(kept.read_text())
            kept.unlink()
        explained += not told and bool(fault.explained)
        missed += not told and not fault.explained
        shown = told or (f"nothing: {fault.explained}" if fault.explained else "**nothing**")
        print(f"| {fault.name} | {shown} | {time.monotonic() - begin:.0f} |", flush=True)
    print(f"\n{len(chosen) - missed - explained} of {len(chosen)} noticed, {explained} explained")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
