"""Ten thousand damaged packages are refused or run; ctest runs a few hundred."""

import re
import subprocess
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[3] / "build/tests/fuzz/package/mutate_packages"


@pytest.mark.nightly
@pytest.mark.parametrize("seeds", [[], ["native"]], ids=["all", "with native code"])
def test_damaged_packages_are_refused_or_run(seeds):
    command = [PROGRAM, "10000", "7", *seeds]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    refused, ran = (
        int(re.search(rf"(\d+) {what}\b", done.stdout)[1]) for what in ("refused", "run")
    )
    assert refused > 5000
    assert ran > 500, "hardly any damaged package runs, so what runs is not tested"
