"""Randomly changed models are compiled or refused with a message, within limited memory."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import texloom

SCRIPT = Path(__file__).parents[2] / "fuzz/mutate_models.py"


@pytest.mark.parametrize("kind", ["network", "nodes"])
@pytest.mark.parametrize("count", [80, pytest.param(1500, marks=pytest.mark.nightly)])
def test_mutated_models_are_refused_in_words(count, kind):
    done = subprocess.run(
        [sys.executable, SCRIPT, str(count), "1", kind],
        capture_output=True,
        text=True,
        timeout=100,
        env={**os.environ, "PYTHONPATH": str(Path(texloom.__file__).parents[1])},
    )
    assert done.returncode == 0, done.stderr
    assert "'compiled': " in done.stdout and "'refused, TL3043': " in done.stdout
