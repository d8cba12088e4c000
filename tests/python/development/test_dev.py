"""The script ./dev and its parts, tested with commands that change nothing."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import changes
import pytest
import tidy

ROOT = Path(__file__).parents[3]
COMMANDS = [
    *"setup build demo check test bench show trace fuzz aarch64 lint format clean".split(),
    *"conformance metal-report docs microkernels".split(),
]


def copy_dev(folder):
    """Copy the script and its parts, and nothing else."""
    shutil.copy(ROOT / "dev", folder)
    shutil.copytree(ROOT / "scripts", folder / "scripts")


def run_dev(folder, *words):
    """Run the script in a folder."""
    return subprocess.run(
        ["bash", "dev", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


@pytest.mark.parametrize("words", [*([each] for each in COMMANDS), ["fuzz", "texts"]], ids=" ".join)
def test_help_sets_nothing_up(tmp_path, words):
    """With --help, ./dev creates nothing in its folder."""
    copy_dev(tmp_path)
    done = run_dev(tmp_path, *words, "--help")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Usage: ./dev COMMAND")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dev", "scripts"]


@pytest.mark.parametrize("words", [["bench", "networks"], ["bench"], ["metal-report"], ["demo"]])
def test_help_before_the_module_is_built(tmp_path, words):
    """Before texloom is built, ./dev does not run programs that import it for their options."""
    copy_dev(tmp_path)
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").symlink_to(sys.executable)
    done = run_dev(tmp_path, *words, "--help")
    assert done.returncode == 0, done.stderr
    assert f"The options of ./dev {words[0]} are listed once it is built" in done.stdout


def test_check_says_with_what_it_compares(tmp_path):
    """./dev check compares with main until a run has passed, then with the last run that passed."""
    git = ["git", "-c", "user.name=n", "-c", "user.email=e@x", "-C", str(tmp_path)]
    (tmp_path / "tests").mkdir()
    for name in ("changes.py", "layering.py", "CMakeLists.txt"):
        shutil.copy(ROOT / "tests" / name, tmp_path / "tests")
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], check=True, timeout=30)
    plan = [sys.executable, "tests/changes.py"]

    def since():
        done = subprocess.run(plan, cwd=tmp_path, capture_output=True, text=True, check=True)
        return next(line for line in done.stdout.splitlines() if line.startswith("since="))

    assert since() == "since='main, as no run has passed yet'"
    (tmp_path / "build").mkdir()
    subprocess.run([*plan, "--passed"], cwd=tmp_path, check=True, timeout=30)
    assert since() == "since='the last run that passed'"


def test_commands_of_the_package_are_in_the_venv(tmp_path):
    """The setup of a checkout writes the commands that an installed package has."""
    (tmp_path / "venv" / "bin").mkdir(parents=True)
    python = os.path.relpath(sys.executable, ROOT)
    setup = f"python={python} venv={tmp_path / 'venv'}; . scripts/setup.sh; install_commands"
    subprocess.run(["bash", "-euc", setup], cwd=ROOT, check=True, timeout=30)
    written = {path.name: path for path in (tmp_path / "venv" / "bin").iterdir()}
    assert set(written) == {"texloom"}
    for path in written.values():
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
        done = subprocess.run(
            [path, "--help"], env=environment, capture_output=True, text=True, check=True
        )
        assert f"usage: {path.name}" in done.stdout


def test_help_of_an_unknown_command(tmp_path):
    copy_dev(tmp_path)
    done = run_dev(tmp_path, "nonsense", "--help")
    assert done.returncode == 1 and "unknown command: nonsense" in done.stderr


@pytest.mark.parametrize("words", ["--also=texts", "--also lint", "--everything"])
def test_only_parts_that_there_are(tmp_path, words):
    copy_dev(tmp_path)
    done = run_dev(tmp_path, "test", *words.split())
    assert done.returncode == 1
    assert "dev: " in done.stderr


@pytest.mark.parametrize(
    ("file", "cxx", "lit", "python", "tidy"),
    [
        (
            "src/lower/loops/vectorize_loops.cc",
            {"lower", "codegen", "validation", "opt"},
            True,
            {"tests/python"},
            {"src/lower/loops/vectorize_loops.cc"},
        ),
        ("src/ir/expr.h", {"ir"}, True, {"tests/python"}, {"src/ir/expr.cc"}),
        ("src/ir/expr.cc", {"ir", "schedule", "lower"}, True, {"tests/python"}, {"src/ir/expr.cc"}),
        ("src/runtime/hal/queue.h", {"runtime", "conformance", "hal_fuzz"}, False, None, None),
        ("src/codegen/msl/print.cc", {"codegen", "metal"}, True, None, None),
        ("src/runtime/drivers/metal/driver.mm", {"conformance", "metal"}, False, None, set()),
        (
            "tests/softmetal/api/classes/checks/hazards.cc",
            {"softmetal_api", "metal"},
            False,
            set(),
            set(),
        ),
        ("tests/runtime/drivers/metal/fault_injection_test.cc", {"metal"}, False, set(), set()),
        ("apps/command_line/command_line.cc", {"opt"}, True, set(), None),
        ("src/runtime/plan/plan.cc", {"runtime", "conformance", "hal_fuzz"}, False, None, None),
        ("tests/ir/expr_test.cc", {"ir"}, False, set(), set()),
        ("tests/ir/accesses.h", {"ir", "lower"}, False, set(), set()),
        ("tests/lit/passes/build_loops.tl", set(), True, set(), set()),
        (
            "tests/python/development/test_dev.py",
            set(),
            False,
            {"tests/python/development/test_dev.py"},
            set(),
        ),
        ("tests/python/conftest.py", set(), False, {"tests/python"}, set()),
        ("docs/hal.md", set(), False, {"tests/python/docs/test_docs.py"}, set()),
        ("LICENSE", set(), False, set(), set()),
    ],
)
def test_what_a_change_concerns(file, cxx, lit, python, tidy):
    """A change affects tests of its folder and of folders that use it; `cxx` is a minimum."""
    plan = changes.plan_for([file])
    assert plan.cxx >= cxx
    assert bool(plan.cxx) == bool(cxx)
    assert plan.lit == lit
    assert python is None or plan.python == python
    assert tidy is None or plan.tidy == tidy


def test_headers_leave_the_tests_above_to_dev_test():
    assert changes.plan_for(["src/ir/expr.h"]).cxx == {"ir"}


def test_folders_below_are_not_concerned():
    below = {"support", "ir", "schedule", "runtime", "conformance"}
    assert not changes.plan_for(["src/lower/pipeline.cc"]).cxx & below


@pytest.mark.parametrize(
    ("text", "same", "other"),
    [
        ("int a;  // one\n", "int a;\n", "int b;"),
        ('f("// no");', 'f("// no");  // no', 'f("// on");'),
        ("a /* x\ny */ = 1'000;", "a = 1'000; // '", "a = 1'001;"),
        ("f();  // NOLINT", "f();   // NOLINT", "f();"),
    ],
)
def test_comments_do_not_count_for_tidy(text, same, other):
    assert tidy.without_comments(text).split() == tidy.without_comments(same).split()
    assert tidy.without_comments(text) != tidy.without_comments(other)
