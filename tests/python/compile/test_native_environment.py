"""What native code needs of its surroundings: the plug-in, and a folder for temporary files."""

import os
import shutil
import subprocess
import sys

import pytest
from llvm_plugin import has_llvm

import texloom
from texloom import te

pytestmark = pytest.mark.skipif(not has_llvm(), reason="the LLVM plug-in is not built")

LOADS = """
import sys
import numpy as np
import texloom

f = texloom.runtime.load_module(sys.argv[1], native=True)
print(f(np.ones(64, "float32"))[0])
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    x = te.placeholder((64,), name="X")
    y = te.compute((64,), lambda i: x[i] + 1, name="Y")
    file = tmp_path_factory.mktemp("native") / "f.tlp"
    texloom.build(te.create_schedule(y.op), [x, y], "llvm").export_library(file)
    return file


def run(*words, **environment):
    return subprocess.run(
        words, capture_output=True, text=True, env={**os.environ, **environment}, check=False
    )


def test_the_variable_of_a_wrong_plug_in_is_named(package):
    doctor = run(sys.executable, "-m", "texloom", "doctor", TEXLOOM_LLVM_PLUGIN=str(package))
    assert f"{package}: " in doctor.stdout and "correct TEXLOOM_LLVM_PLUGIN" in doctor.stdout
    builds = (
        "from texloom import te; import texloom; x = te.placeholder((4,)); "
        "y = te.compute((4,), lambda i: x[i]); "
        "texloom.build(te.create_schedule(y.op), [x, y], 'llvm')"
    )
    built = run(sys.executable, "-c", builds, TEXLOOM_LLVM_PLUGIN="/no/such/plugin.so")
    assert "TL4003" in built.stderr
    assert "help: correct TEXLOOM_LLVM_PLUGIN, which names this file" in built.stderr


def test_a_missing_folder_for_temporary_files(package):
    loaded = run(sys.executable, "-c", LOADS, str(package), TMPDIR="/no/such/folder")
    assert "cannot create /no/such/folder/" in loaded.stderr
    assert "help: make room there, or name another folder in TMPDIR" in loaded.stderr


def test_a_folder_of_temporary_files_without_execution(package, tmp_path):
    mounted = [*"unshare -rm sh -c".split(), 'mount -t tmpfs -o noexec none "$0" && exec "$@"']
    if shutil.which("unshare") is None or run(*mounted, str(tmp_path), "true").returncode != 0:
        pytest.skip("this user can mount nothing")
    words = [str(tmp_path), sys.executable, "-c", LOADS, str(package)]
    loaded = run(*mounted, *words, TMPDIR=str(tmp_path))
    assert "cannot load native code" in loaded.stderr
    assert "noexec): name another one in TMPDIR" in loaded.stderr
