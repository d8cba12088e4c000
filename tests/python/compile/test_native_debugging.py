"""What debuggers, unwinders and profilers see of native code."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from llvm_plugin import has_llvm

import texloom
from texloom import te

pytestmark = pytest.mark.skipif(not has_llvm(), reason="the LLVM plug-in is not built")

SCRIPT = """\
import numpy as np
import texloom
from texloom import te

x = te.placeholder((256, 4096), name="X")
y = te.compute((256, 4096), lambda i, j: te.exp(x[i, j]) + 1, name="Y")
s = te.create_schedule(y.op)
s[y].parallel(y.op.axis[0])
f = texloom.build(s, [x, y], "llvm", name="doubled")
a = np.ones((256, 4096), "float32")
for _ in range(100):
    f(a)
"""
LINE = 6  # of the computation
KERNEL = re.compile(r"\bdoubled_kernel0\w*")


def needs(*programs):
    missing = [each for each in programs if shutil.which(each) is None]
    return pytest.mark.skipif(bool(missing), reason=f"there is no {', '.join(missing)}")


def output(*words, **options):
    done = subprocess.run(
        words, capture_output=True, text=True, timeout=120, check=False, **options
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def script(tmp_path):
    file = tmp_path / "doubled.py"
    file.write_text(SCRIPT)
    return file


@pytest.fixture
def shared_object(tmp_path):
    """The object of a function, as a package has it, and the line of its computation."""
    x = te.placeholder((64, 64), name="X")
    y = te.compute((64, 64), lambda i, j: te.exp(x[i, j]) * 3, name="Y")
    s = te.create_schedule(y.op)
    s[y].parallel(y.op.axis[0])
    texloom.build(s, [x, y], "llvm", name="doubled").export_library(tmp_path / "f.tlp")
    content = (tmp_path / "f.tlp").read_bytes()
    (tmp_path / "f.so").write_bytes(content[content.index(b"\x7fELF") :])
    return tmp_path / "f.so", shared_object_line()


def shared_object_line():
    lines = Path(__file__).read_text().splitlines()
    return 1 + next(i for i, line in enumerate(lines) if "te.exp(x[i, j]) * 3" in line)


@needs("addr2line", "nm")
def test_addresses_have_names_and_lines(shared_object):
    """Each address of the kernel is in the kernel, and most are at the line of the computation."""
    file, line = shared_object
    symbols = output("nm", "-S", "--defined-only", file)
    begin, size, name = re.search(r"^(\w+) (\w+) W (doubled_kernel0\w*)$", symbols, re.M).groups()
    addresses = [hex(int(begin, 16) + i) for i in range(0, int(size, 16), 4)]
    found = output("addr2line", "-f", "-e", file, *addresses).splitlines()
    assert set(found[::2]) == {name}
    places = found[1::2]
    here = [each for each in places if each.startswith(f"{__file__}:{line}")]
    assert len(here) > len(places) / 2, set(places)


@needs("readelf")
def test_stacks_can_be_unwound_without_a_debugger(shared_object):
    """The tables are among what is loaded, with an index, as unwinders of programs need them."""
    shown = output("readelf", "-lW", "--debug-dump=frames", shared_object[0])
    assert "GNU_EH_FRAME" in shown
    assert re.search(r"FDE .*pc=", shown)


@needs("gdb")
def test_gdb_stops_at_a_line_of_the_user(script):
    """Also, the callers of the kernel are found, up to the interpreter of Python."""
    commands = ["set breakpoint pending on", f"break doubled.py:{LINE}", "run", "bt"]
    words = [word for each in commands for word in ("-ex", each)]
    shown = output("gdb", "--batch", "-nx", *words, "--args", sys.executable, script)
    frames = [line for line in shown.splitlines() if re.match(r"#\d+ ", line)]
    assert frames, shown
    assert KERNEL.search(frames[0]), shown
    assert f"doubled.py:{LINE}" in shown
    assert any("start_thread" in each or "main" in each for each in frames), shown


def perf_records(folder):
    if shutil.which("perf") is None:
        return False
    words = ["perf", "record", "-e", "cpu-clock", "-o", folder / "tried", "true"]
    return subprocess.run(words, capture_output=True, check=False).returncode == 0


def test_perf_knows_the_names_of_kernels(script, tmp_path):
    """With TEXLOOM_DEBUG=files the object is there when the process has ended."""
    if not perf_records(tmp_path):
        pytest.skip("perf records nothing here")
    environment = os.environ | {"TEXLOOM_DEBUG": "files", "TMPDIR": str(tmp_path)}
    data = tmp_path / "perf.data"
    recorded = ["perf", "record", "-e", "cpu-clock", "-o", data, sys.executable, script]
    output(*recorded, env=environment)
    shown = output("perf", "report", "--stdio", "-i", data, env=environment)
    assert KERNEL.search(shown), shown
    assert list(tmp_path.glob("texloom-kernels-*"))


def test_no_files_stay_by_default(script, tmp_path):
    environment = os.environ | {"TEXLOOM_DEBUG": "1", "TMPDIR": str(tmp_path)}
    output(sys.executable, script, env=environment)
    assert not list(tmp_path.glob("texloom-kernels-*"))


def test_values_are_right(shared_object):
    module = texloom.runtime.load_module(shared_object[0].with_suffix(".tlp"), native=True)
    assert np.allclose(module(np.zeros((64, 64), "float32")), 3)
