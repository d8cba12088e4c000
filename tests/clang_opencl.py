"""Compiles generated kernels offline with clang, as OpenCL C 1.2 and 3.0; warnings are errors.

    .venv/bin/python tests/clang_opencl.py --count 1000

The kernels come from tests/fuzz/generated_kernels.py: operators, then random programs. No kernel
runs; an OpenCL device is needed only to create the operators' arrays.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

CLANG = "clang-19"
STANDARDS = ("CL1.2", "CL3.0")
# A kernel keeps a parameter even if no value that it reads from the parameter is used.
WARNINGS = "-Wall -Wextra -Wno-unused-parameter -Werror".split()
OPTIONS = [*"-x cl -target spir64-unknown-unknown -fsyntax-only".split(), *WARNINGS]
BATCH = 200  # sources per command line


def diagnostics(sources: Sequence[str]) -> str:
    """Return clang's diagnostics for these sources, empty if there are none."""
    said = ""
    with tempfile.TemporaryDirectory(prefix="texloom-clang-") as folder:
        for i, source in enumerate(sources):
            (Path(folder) / f"{i}.cl").write_text(source)
        for first in range(0, len(sources), BATCH):
            files = [f"{i}.cl" for i in range(first, min(first + BATCH, len(sources)))]
            for standard in STANDARDS:
                command = [CLANG, f"-cl-std={standard}", *OPTIONS, *files]
                done = subprocess.run(
                    command, cwd=folder, capture_output=True, text=True, check=False
                )
                if done.returncode != 0:
                    said += f"{standard}:\n{done.stdout}{done.stderr}\n"
    return said


def generated_sources(count: int, seed: int) -> Iterator[str]:
    """Yield the first `count` sources of operators and random programs."""
    sys.path.insert(0, str(Path(__file__).parent / "fuzz"))
    import generated_kernels

    for _, program in generated_kernels.programs(seed, run=False):
        with generated_kernels.recorded_builds(run=False) as kernels:
            program()
        for kernel in kernels:
            yield kernel.source
            count -= 1
            if count == 0:
                return


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1000, help="kernels to compile")
    parser.add_argument("--seed", type=int, default=0, help="of the first random program")
    options = parser.parse_args()
    said = diagnostics(list(generated_sources(options.count, options.seed)))
    print(said or f"{options.count} kernels compile without a warning: {', '.join(STANDARDS)}")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
