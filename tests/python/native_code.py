"""Reads the instructions of native kernels."""

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

CALL = re.compile(r"^\s+[0-9a-f]+:\s+(call\w*|blr?)\s", re.MULTILINE)

needs_objdump = pytest.mark.skipif(
    shutil.which("llvm-objdump-19") is None, reason="llvm-objdump-19 is not installed"
)


def disassembled(binary: bytes) -> str:
    """Return the instructions and the symbols of a shared object."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "kernels.so")
        path.write_bytes(binary)
        command = ["llvm-objdump-19", "-d", "-t", "--no-show-raw-insn", str(path)]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout
