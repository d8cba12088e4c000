"""Fuzz cases as Python scripts: made as text, run from a file, printed when they fail.

A case is a whole program, so that what a failing run prints can be pasted into a file and run.
"""

from __future__ import annotations

import argparse
import faulthandler
import math
import random
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

HANG_SECONDS = 120  # longer than any case with a sane device compiler


@dataclass
class Case:
    """A script and what it exercises."""

    text: str
    features: set[str] = field(default_factory=set)
    title: str = ""


class CaseFailed(AssertionError):
    """A case did not give NumPy's result; the message holds the script."""


class Script:
    """Lines of a program, and the names it has used up."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.features: set[str] = set()
        self._names: Counter[str] = Counter()

    def add(self, text: str) -> None:
        self.lines.append(text)

    def name(self, stem: str) -> str:
        """A variable name not used so far."""
        self._names[stem] += 1
        return stem if self._names[stem] == 1 else f"{stem}_{self._names[stem]}"

    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


def small_target(rng: random.Random, script: Script, shapes: list[list[int]]) -> str:
    """A target that may have images so small that textures of these shapes must be folded."""
    if rng.random() < 0.75:
        return "opencl"
    script.features.add("folded textures")
    texels = max(math.prod(shape[:-1]) * -(-shape[-1] // 4) for shape in shapes)
    # An area of four times what is needed leaves room for a fold in one direction, padding too.
    limit = max(4, 2 * math.isqrt(texels) + 2)
    return f"opencl -texture_spatial_limit={limit}"


def run_script(case: Case) -> None:
    """Run it; raise CaseFailed, with the script, for whatever it raises."""
    # From a file: diagnostics show its lines, and a crash leaves it behind.
    with tempfile.TemporaryDirectory(prefix="texloom-fuzz-") as folder:
        path = Path(folder) / "case.py"
        path.write_text(case.text)
        faulthandler.dump_traceback_later(HANG_SECONDS, exit=True)
        try:
            with warnings.catch_warnings():
                # Random loops are vectorised that no vector divides.
                warnings.filterwarnings("ignore", r"warning\[TL3021\]")
                exec(compile(case.text, str(path), "exec"), {"__name__": "__main__"})
        except Exception as error:
            raise CaseFailed(
                f"{type(error).__name__}: {error}\n"
                f"----- {case.title}\n{case.text}----- end of the script"
            ) from error
        finally:
            faulthandler.cancel_dump_traceback_later()


def parse_options(description: str, default_count: int) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--count", type=int, default=default_count, help="cases to run")
    parser.add_argument("--seed", type=int, default=0, help="of the first case; then seed+1, …")
    parser.add_argument("--device", type=int, default=0, help="number of the OpenCL device")
    parser.add_argument("--keep-going", action="store_true", help="do not stop at a failure")
    parser.add_argument("--print", action="store_true", help="print the scripts, run none")
    return parser.parse_args()


def run_many(
    description: str, make: Callable[[random.Random, int], Case], default_count: int
) -> int:
    """The command line of a fuzzer; returns the exit status."""
    options = parse_options(description, default_count)
    seeds = range(options.seed, options.seed + options.count)
    if options.print:
        for seed in seeds:
            print(f"# ----- seed {seed}\n{make(random.Random(seed), options.device).text}")
        return 0
    faulthandler.enable()
    features: Counter[str] = Counter()
    done = failures = 0
    begin = time.monotonic()
    for seed in seeds:
        case = make(random.Random(seed), options.device)
        try:
            run_script(case)
        except CaseFailed as failure:
            failures += 1
            print(f"\nseed {seed} FAILED: {failure}", flush=True)
        features.update(case.features)
        done += 1
        if done % 50 == 0 or sys.stdout.isatty():
            end = "\r" if sys.stdout.isatty() else "\n"
            rate = (time.monotonic() - begin) / done
            print(f"{done} of {options.count} cases, {rate:.2f} s each", end=end, flush=True)
        if failures and not options.keep_going:
            break
    for feature, count in sorted(features.items()):
        print(f"  {count:5d}  {feature}")
    print(
        f"{Path(sys.argv[0]).stem}: {done} cases on opencl({options.device}) from seed "
        f"{options.seed}, {failures} failed, {time.monotonic() - begin:.0f} s"
    )
    return 1 if failures else 0
