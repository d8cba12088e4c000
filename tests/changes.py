"""Prints what ./dev check has to build and run, as shell assignments.

    .venv/bin/python tests/changes.py            # since the state that passed last, or since main
    .venv/bin/python tests/changes.py --passed   # remember the current state as passed

A changed source in src/ affects the tests of its folder. The tests of every folder that may include
that folder (tests/layering.py) are linked again, without being compiled, and run. A changed header
affects only the tests of its own folder: to compile the tests of all folders that include the
header takes too long for the inner loop, and lit and the Python tests run that code anyway. In
tests/, a changed source affects the tests of its folder. A changed header in tests/ also affects
the tests of the folders that may include the header.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import layering

ROOT = Path(__file__).resolve().parent.parent
PASSED = ROOT / "build" / "passed"  # holds the name of the git tree that passed last

# Matches `texloom_test(lower DEPS validation)`. FOLDERS maps each library that is not named after
# its folder to this folder.
TEST = re.compile(r"^\s*texloom_test\((\w+) DEPS ((?: ?[a-z_]+)+)", re.MULTILINE)
FOLDERS = {
    "codegen_opencl": "codegen",
    "c_api": "runtime",
    "drivers": "runtime",
    "metal": "runtime",
}
COMPILER = set(layering.PIPELINE)
HAL_FUZZ = "hal_fuzz"
METAL = "metal"  # the tests of the Metal driver over softmetal
SOFTMETAL = {"softmetal", "softmetal_api", METAL}  # tests of tests/softmetal
# The tests of a folder. A folder that is not listed has only the test with its own name.
OWN_TESTS = {"runtime": {"runtime", "conformance", HAL_FUZZ, METAL}}
PROGRAMS = {"texloom-opt", "texloom-compile"}  # run by tests/lit
BUILD_FILES = re.compile(r"CMake|cmake/|\.cmake|requirements-dev|^dev$")


def git(*arguments: str, **variables: str) -> str:
    """Return the output of a git command."""
    environment = os.environ | variables
    done = subprocess.run(
        ["git", *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def current_tree() -> str:
    """Store the files as they are, including new ones, and return the name of that git tree."""
    with tempfile.TemporaryDirectory() as folder:
        index = {"GIT_INDEX_FILE": f"{folder}/index"}
        git("read-tree", "HEAD", **index)
        git("add", "--all", **index)
        return git("write-tree", **index)


def base() -> tuple[str, str]:
    """Return the state to compare with, and its description.

    It is the last state that passed, or else the commit where this branch left main.
    """
    if PASSED.is_file():
        return PASSED.read_text().strip(), "the last run that passed"
    branches = git("branch", "--all", "--list", "main", "origin/main", "--format=%(refname)")
    if branches:
        return git("merge-base", "HEAD", branches.splitlines()[0]), "main, as no run has passed yet"
    return "HEAD", "the last commit, as no run has passed yet"


def concerning() -> dict[str, set[str]]:
    """Return, for each C++ test, the folders of src/ that it depends on."""
    tests: dict[str, set[str]] = {
        **{name: set() for name in SOFTMETAL},
        **{name: set(layering.MAY_INCLUDE["runtime"]) for name in (HAL_FUZZ, METAL)},
    }
    for name, libraries in TEST.findall((ROOT / "tests/CMakeLists.txt").read_text()):
        tests[name] = set()
        for library in libraries.split():
            folder = FOLDERS.get(library, library)
            # A program links the whole compiler.
            tests[name] |= set(layering.MAY_INCLUDE.get(folder, COMPILER))
    return tests


@dataclass
class Plan:
    """The targets to build and the tests to run for a set of changes."""

    cxx: set[str] = field(default_factory=set)  # C++ tests
    lit: bool = False
    python: set[str] = field(default_factory=set)  # folders or files for pytest
    tidy: set[str] = field(default_factory=set)  # sources for clang-tidy

    def add(self, file: str, tests: dict[str, set[str]]) -> None:
        """Add the targets and tests that a change to one file affects."""
        top, _, rest = file.partition("/")
        folder = rest.partition("/")[0]
        if BUILD_FILES.search(file):
            self.cxx |= set(tests)
            self.lit = True
            self.python.add("tests/python")
        elif top == "src":
            if re.search("metal|msl", rest):
                self.cxx.add(METAL)
            above = {name for name, folders in tests.items() if folder in folders}
            self.cxx |= above if rest.endswith(".cc") else above & OWN_TESTS.get(folder, {folder})
            self.lit |= folder in COMPILER
            self.python.add("tests/python")
        elif top == "apps":
            self.cxx |= {"opt"} & set(tests)
            self.lit |= folder in PROGRAMS | {"command_line"}
        elif top == "python":
            self.python.add("tests/python")
        elif top == "docs" or file in ("README.md", "CONTRIBUTING.md"):
            self.python.add("tests/python/docs/test_docs.py")
        elif top == "benchmarks":
            tests_of = {"networks": "onnx/test_light_models.py"}
            self.python.add(f"tests/python/{tests_of.get(folder, 'plan')}")
        elif top == "tests":
            self._add_test(rest, folder, tests)
        if re.match(r"(src|apps|python/core)/.*\.(cc|h)$", file):
            source = file.removesuffix(".h") + ".cc" if file.endswith(".h") else file
            if (ROOT / source).is_file():
                self.tidy.add(source)

    def _add_test(self, rest: str, folder: str, tests: dict[str, set[str]]) -> None:
        if folder == "lit":
            self.lit = True
        elif folder == "python":
            alone = Path(rest).name.startswith("test_")
            self.python.add(f"tests/{rest}" if alone else "tests/python")
        elif folder == "softmetal":
            self.cxx |= SOFTMETAL
        elif rest.startswith("runtime/drivers/metal/"):
            self.cxx.add(METAL)
        elif folder in tests and rest.endswith(".h"):
            # Tests of folders that depend on this one may include the header, too.
            self.cxx |= {name for name, folders in tests.items() if folder in folders} | {folder}
        elif folder in tests:
            self.cxx.add(folder)
        elif rest.startswith("fuzz/hal"):
            self.cxx.add(HAL_FUZZ)
        elif rest.endswith(".py"):
            self.python.add("tests/python")

    def targets(self) -> list[str]:
        """Return the targets to build."""
        programs = [HAL_FUZZ if name == HAL_FUZZ else f"{name}_tests" for name in sorted(self.cxx)]
        return programs + sorted(PROGRAMS) * self.lit + ["_core"] * bool(self.python)


def plan_for(files: list[str]) -> Plan:
    """Return the plan for changes to these files."""
    plan, tests = Plan(), concerning()
    for file in files:
        plan.add(file, tests)
    if "tests/python" in plan.python:
        plan.python = {"tests/python"}
    plan.python = {each for each in plan.python if (ROOT / each).exists()}
    return plan


def main() -> int:
    parser = argparse.ArgumentParser(description="What ./dev check has to build and to run.")
    parser.add_argument("--passed", action="store_true", help="remember that this state passed")
    tree = current_tree()
    if parser.parse_args().passed:
        PASSED.write_text(tree + "\n")
        return 0
    state, since = base()
    files = git("diff", "--name-only", state, tree).splitlines()
    plan = plan_for(files)
    values = {
        "changed": str(len(files)),
        "since": since,
        "targets_": " ".join(plan.targets()),
        "cxx_": "|".join(sorted(plan.cxx)),
        "lit": "yes" if plan.lit else "",
        "tested_": " ".join(sorted(plan.python)),
        "tidy_": " ".join(sorted(plan.tidy)),
    }
    for name, value in values.items():
        print(f"{name}={shlex.quote(value)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
