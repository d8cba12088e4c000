"""Randomly changed models are compiled or refused with a message, within limited memory."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from nightly import most_at_night

import texloom

SCRIPT = Path(__file__).parents[2] / "fuzz/mutate_models.py"


@pytest.mark.parametrize("kind", ["network", "nodes"])
@pytest.mark.parametrize(
    ("count", "seed"), most_at_night([(8, 1), (500, 1), (500, 2), (500, 3)], first=1)
)
def test_mutated_models_are_refused_in_words(count, seed, kind):
    done = subprocess.run(
        [sys.executable, SCRIPT, str(count), str(seed), kind],
        capture_output=True,
        text=True,
        timeout=100,
        env={**os.environ, "PYTHONPATH": str(Path(texloom.__file__).parents[1])},
    )
    assert done.returncode == 0, done.stderr
    assert "'compiled': " in done.stdout and "'refused, TL3043': " in done.stdout
