"""The entry point of a checkout, where it says something without doing anything."""

import shutil
import subprocess
from pathlib import Path

import pytest

DEV = Path(__file__).parents[2] / "dev"
COMMANDS = "setup build demo test bench show trace fuzz aarch64 lint format clean".split()


@pytest.mark.parametrize("words", [*([each] for each in COMMANDS), ["fuzz", "texts"]], ids=" ".join)
def test_help_sets_nothing_up(tmp_path, words):
    """In a folder with nothing else in it, nothing is there afterwards either."""
    shutil.copy(DEV, tmp_path)
    done = subprocess.run(
        ["bash", "dev", *words, "--help"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Usage: ./dev COMMAND")
    assert [path.name for path in tmp_path.iterdir()] == ["dev"]


def test_help_of_an_unknown_command(tmp_path):
    shutil.copy(DEV, tmp_path)
    done = subprocess.run(
        ["bash", "dev", "nonsense", "--help"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 1 and "unknown command: nonsense" in done.stderr
