"""Tests share their generators and tables with the command-line fuzzers in tests/fuzz."""

import faulthandler
import sys
from pathlib import Path

import pytest

import texloom as tvm

sys.path.insert(0, str(Path(__file__).parents[1] / "fuzz"))


def pytest_generate_tests(metafunc):
    """A test with the argument `dev` runs on every OpenCL device at hand."""
    if "dev" in metafunc.fixturenames:
        devices = tvm.devices()
        metafunc.parametrize(
            "dev",
            [tvm.opencl(i) for i in range(len(devices))],
            ids=[f"opencl{i}" for i in range(len(devices))],
        )


@pytest.fixture(autouse=True)
def no_hang():
    """Nothing may hang: a test that does ends the run with all stacks."""
    faulthandler.dump_traceback_later(120, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()
