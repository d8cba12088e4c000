"""Checks that the #includes in src/ follow the order of the folders.

A folder may include itself and what comes before it in the pipeline; src/runtime, which ships
without the compiler, may include only src/support; src/package joins the two. The CMake targets say
the same, but all share
one include root, so that an #include in the wrong direction would still compile.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

PIPELINE = ("support", "ir", "schedule", "lower", "codegen", "validation", "plan", "graph")
MAY_INCLUDE = {folder: PIPELINE[: i + 1] for i, folder in enumerate(PIPELINE)}
MAY_INCLUDE["runtime"] = ("support", "runtime")
# Where what was compiled becomes what is run.
MAY_INCLUDE["package"] = (*PIPELINE, "runtime", "package")

# Libraries of others that only one place may know.
ONLY_IN = {
    "CL/": "runtime/drivers/opencl/",
    "pybind11/": "(python/core alone)",
    "gtest/": "(tests)",
}

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')


def fault(path: str, quoted: str | None, system: str | None, src: Path) -> str | None:
    """Say what is wrong with one #include of src/`path`, or None."""
    if system is not None:
        for prefix, place in ONLY_IN.items():
            if system.startswith(prefix) and not path.startswith(place):
                return f"<{system}> belongs in {place}, not here"
        return None
    assert quoted is not None
    if not (src / quoted).is_file():
        return (
            f'"{quoted}" is no file of src/; paths are relative to src/, others\' headers go in <>'
        )
    here, there = path.split("/")[0], quoted.split("/")[0]
    allowed = MAY_INCLUDE.get(here)
    if allowed is None:
        return f"src/{here} has no place in the order: add it to PIPELINE in tests/layering.py"
    if there not in allowed:
        return f'src/{here} must not include "{quoted}": it may use {", ".join(allowed)}'
    return None


def check(src: Path) -> list[str]:
    """Return a message for each #include below `src` that points the wrong way."""
    messages = []
    for file in sorted([*src.rglob("*.cc"), *src.rglob("*.h"), *src.rglob("*.def")]):
        path = file.relative_to(src).as_posix()
        for number, line in enumerate(file.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            problem = match and fault(path, match[1], match[2], src)
            if problem:
                messages.append(f"src/{path}:{number}: {problem}")
    return messages


def main() -> int:
    messages = check(ROOT / "src")
    for message in messages:
        print(message)
    if messages:
        print(f"layering: {len(messages)} #include(s) against the order of the folders")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main())
