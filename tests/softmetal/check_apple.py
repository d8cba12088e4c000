"""Check that the Metal driver compiles for macOS and iOS, with our declarations of Metal's API.

    .venv/bin/python tests/softmetal/check_apple.py [PART_OF_PATH ...]

Apple's targets decide the ABI, the Objective-C runtime and the widths of types. The headers are
Debian's: libc++, and the C library for the same processor, with macros that say Linux.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DRIVER = ROOT / "src/runtime/drivers/metal"
TARGETS = ("arm64-apple-macos13", "arm64-apple-ios16")
SYSTEM = (
    ROOT / "tests/softmetal/api",
    ROOT / "build/objective_c",
    Path("/usr/lib/llvm-19/include/c++/v1"),
    Path("/usr/lib/llvm-19/lib/clang/19/include"),
    Path("/usr/aarch64-linux-gnu/include"),
    Path("/usr/include/GNUstep"),
)
DEFINES = ("GNUSTEP", "GNUSTEP_BASE_LIBRARY=1", "FMT_HEADER_ONLY", "__linux__", "_GNU_SOURCE")
UNDEFINED = ("__APPLE__", "__MACH__", "__nonnull")  # so that the headers use Linux's features


def problems(source: Path, target: str) -> str:
    """Return clang's diagnostics for a source."""
    command = ["clang++-19", "-target", target, "-x", "objective-c++", "-std=c++20", "-fblocks"]
    command += ["-fsyntax-only", "-nostdinc", "-Wall", "-Wextra", "-Werror"]
    command += [f"-D{each}" for each in DEFINES] + [f"-U{each}" for each in UNDEFINED]
    command += [f"-I{ROOT / 'src'}", f"-I{ROOT}"]
    command += [word for each in SYSTEM for word in ("-isystem", str(each))]
    command += ["-isystem", str(ROOT / "build/apple")]  # contains only fmt, not all of /usr/include
    done = subprocess.run([*command, str(source)], capture_output=True, text=True, check=False)
    return done.stderr if done.returncode else ""


def main() -> int:
    """Check all sources; the exit status tells whether all compile."""
    parser = argparse.ArgumentParser(description="Compile the Metal driver for Apple's targets.")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("files", nargs="*", help="parts of paths; all sources when none is given")
    options = parser.parse_args()
    fmt = ROOT / "build/apple/fmt"
    fmt.parent.mkdir(exist_ok=True)
    if not fmt.is_symlink():
        fmt.symlink_to("/usr/include/fmt")
    sources = [
        each
        for each in sorted([*DRIVER.rglob("*.mm"), *DRIVER.rglob("*.cc")])
        if not options.files or any(part in str(each) for part in options.files)
    ]
    pairs = list(product(sources, TARGETS))
    failed = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for (source, target), text in zip(
            pairs, pool.map(lambda pair: problems(*pair), pairs), strict=True
        ):
            print(f"{target} {source.relative_to(ROOT)}\n{text}", end="", flush=True)
            failed += bool(text)
    print(f"{len(pairs) - failed} of {len(pairs)} compile")
    return 1 if failed or not pairs else 0


if __name__ == "__main__":
    sys.exit(main())
