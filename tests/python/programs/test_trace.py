"""Traces of scripts: the file, the output, and the script's exit code."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import texloom as tvm
from texloom.__main__ import main as texloom_main
from texloom.trace import rows_of, table_of
from texloom.trace.__main__ import main

PYTHON = Path(tvm.__file__).parents[1]

SCRIPT = """
import os, signal, sys
import numpy as np
import texloom as tvm
from texloom import te

x = te.placeholder((64,), name="X")
y = te.compute((64,), lambda i: x[i] + 1, name="Y")
s = te.create_schedule(y.op)
s[y].bind(y.op.axis[0], te.thread_axis("threadIdx.x"))
double = tvm.build(s, [x, y], name="double")
a, b = tvm.nd.array(np.ones(64, "float32")), tvm.nd.empty((64,))
for _ in range(3):
    double(a, b)
print(sys.argv[1:], b.numpy()[0])
"""


def traced(folder, script, *arguments, encoding="utf-8"):
    """Run the script in the folder; return the process and the events of its trace, if any."""
    (folder / "script.py").write_text(script, encoding=encoding)
    done = subprocess.run(
        [sys.executable, "-m", "texloom.trace", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        env={**os.environ, "PYTHONPATH": str(PYTHON)},
    )
    out = folder / "trace.json"
    text = out.read_text(encoding="utf-8") if out.exists() else ""
    return done, json.loads(text)["traceEvents"] if text else None


def kernels(events):
    return [e for e in events if e["name"] == "double_kernel0" and e["pid"] == 2]


def test_a_script_is_traced(tmp_path):
    """The trace has kernels on the device and calls and copies on the host; output is unchanged."""
    done, events = traced(tmp_path, SCRIPT, "script.py", "-o", "of the script")
    assert (done.returncode, done.stdout) == (0, "['-o', 'of the script'] 2.0\n"), done.stderr
    runs = kernels(events)
    assert len(runs) == 3
    for run in runs:
        assert run["dur"] > 0 and run["args"]["bytes"] == 2 * 64 * 4
    on_host = [e["name"] for e in events if e["ph"] == "X" and e["pid"] == 1]
    assert on_host.count("double") == 3
    assert "array to device" in on_host and "array to host" in on_host
    row = next(line.split() for line in done.stderr.splitlines() if "double_kernel0" in line)
    assert len(row) == 6 and row[1] == "3"
    assert done.stderr.endswith("trace: trace.json\n")


FAILING = {
    "exception": ("raise ValueError('too bad')", 1, "ValueError: too bad"),
    "exit": ("sys.exit(7)", 7, ""),
    "text": ("sys.exit('no way')", 1, "no way"),
    "base exception": (
        "class Ending(BaseException): pass\nraise Ending('over')",
        1,
        "Ending: over",
    ),
    "interrupt": (
        "os.kill(os.getpid(), signal.SIGINT)",
        130,
        "script.py: interrupted\ntexloom trace: waiting",
    ),
}


@pytest.mark.parametrize("how", FAILING)
def test_what_a_failing_script_has_run_is_written(tmp_path, how):
    """Kernels before the failure are traced; exit code and traceback are the script's alone."""
    ending, code, said = FAILING[how]
    done, events = traced(tmp_path, SCRIPT + ending, "script.py")
    assert done.returncode == code and said in done.stderr
    assert "texloom/trace" not in done.stderr and "runpy" not in done.stderr
    assert len(kernels(events)) == 3


LATER = """
import atexit, threading, time

def at_exit():
    assert sys.modules["__main__"].double is double and sys.argv == ["script.py"]
    double(a, b)

def later():
    threading.main_thread().join()
    time.sleep(0.1)
    double(a, b)

atexit.register(at_exit)
threading.Thread(target=later).start()
"""


@pytest.mark.parametrize("ending", ["", "sys.exit(7)", "raise ValueError('too bad')"])
def test_what_comes_after_the_main_code(tmp_path, ending):
    """Non-daemon threads end before atexit handlers run; both still see the script's globals."""
    done, events = traced(tmp_path, SCRIPT + LATER + ending, "script.py")
    assert done.returncode == (7 if "7" in ending else int(bool(ending)))
    assert len(kernels(events)) == 5, done.stderr
    assert "AssertionError" not in done.stderr
    assert done.stderr.endswith("trace: trace.json\n")


def test_exceptions_are_shown_as_the_script_has_it(tmp_path):
    """The script's own sys.excepthook shows exceptions, with only the script's frames."""
    hook = """
import sys, traceback
sys.excepthook = lambda kind, error, frame: print("hook", len(traceback.extract_tb(frame)))
raise ValueError
"""
    done, _ = traced(tmp_path, hook, "script.py")
    assert (done.returncode, done.stdout) == (1, "hook 1\n")


def test_a_script_in_another_encoding(tmp_path):
    """A line of the script declares its encoding (PEP 263)."""
    text = "# -*- coding: latin-1 -*-\nassert ord('\u00e9') == 0xe9\nprint('read')\n"
    done, events = traced(tmp_path, text, "script.py", encoding="latin-1")
    assert (done.returncode, done.stdout) == (0, "read\n"), done.stderr
    assert events is not None


def test_no_trace_of_an_earlier_run_is_left(tmp_path):
    """The old trace is removed, even if the script ends before it writes a new one."""
    (tmp_path / "trace.json").write_text("{}", encoding="utf-8")
    done, events = traced(tmp_path, "import os; os._exit(3)", "script.py")
    assert done.returncode == 3
    assert events is None and not (tmp_path / "trace.json").exists()


def test_a_trace_that_cannot_be_written(tmp_path):
    """An error is printed; the exit code is the script's, and no partial file is left."""
    script = "import os, sys; os.rmdir('there'); sys.exit(5)"
    (tmp_path / "there").mkdir()
    done, _ = traced(tmp_path, script, "-o", "there/trace.json", "script.py")
    assert done.returncode == 5
    assert done.stderr == "texloom trace: there/trace.json: No such file or directory\n"


def test_a_child_leaves_the_trace_to_its_parent(tmp_path):
    fork = "\nif os.fork() == 0:\n    raise SystemExit(0)\nos.wait()\n"
    done, events = traced(tmp_path, SCRIPT + fork, "script.py")
    assert done.returncode == 0 and done.stderr.count("trace: ") == 1
    assert len(kernels(events)) == 3


def test_modules_beside_the_script_are_found(tmp_path):
    """Imports work as under Python itself; a script without kernels is reported as having none."""
    (tmp_path / "beside.py").write_text("answer = 42", encoding="utf-8")
    script = "from beside import answer; print(__name__, answer, __file__)"
    done, events = traced(tmp_path, script, "script.py")
    assert done.stdout == "__main__ 42 script.py\n", done.stderr
    assert "no command ran on a device" in done.stderr
    assert all(e["ph"] == "M" for e in events)


def test_refusals_come_before_the_script_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("script.py").write_text("raise AssertionError", encoding="utf-8")
    Path("binary.py").write_bytes(b"\xff\xfe")
    Path("late.py").write_bytes(b"# text\n" * 6 + b"# \xff\n")
    missing_encoding = "invalid or missing encoding declaration for 'binary.py'"
    for arguments, said in (
        (["none.py"], "none.py: No such file or directory"),
        (["."], ".: Is a directory"),
        (["binary.py"], "binary.py: it is not a text file: " + missing_encoding),
        (["late.py"], "late.py: it is not a text file: invalid start byte at byte 44"),
        (
            ["-o", "script.py", "script.py"],
            "script.py: the trace would overwrite the script: choose another file with -o",
        ),
        (["-o", "none/trace.json", "script.py"], "none/trace.json: No such file or directory"),
        (["-o", ".", "script.py"], ".: Is a directory"),
    ):
        assert main(arguments) == 1
        assert capsys.readouterr().err == f"texloom trace: {said}\n"
    assert not Path("trace.json").exists()


def test_devices_that_are_open_are_not_traced(dev, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert dev.info  # opens the device
    Path("script.py").write_text("raise AssertionError", encoding="utf-8")
    assert main(["script.py"]) == 1
    assert "this process has already opened devices" in capsys.readouterr().err


def test_tables():
    """Rows with the same name are merged, and sorted by time; GB/s are bytes per nanosecond."""
    spans = [
        ("GPU, queue 0", "scale", 1000, 500, 4000),
        ("GPU, queue 0", "product", 7000, 100, 7000),
        ("GPU, queue 0", "scale", 3000, 700, 4000),
        ("GPU, queue 0", "scale", 2000, 600, 4000),
        ("GPU, queue 1", "host_call", 0, 0, 0),
    ]
    rows = rows_of(spans)
    assert [(r.name, r.count, r.total, r.median, r.wait) for r in rows] == [
        ("product", 1, 7000, 7000, 100),
        ("scale", 3, 6000, 2000, 600),
        ("host_call", 1, 0, 0, 0),
    ]
    assert table_of(rows, limit=1) == (
        "GPU, queue 0\n"
        "command  runs  total ms  median us  wait us  GB/s\n"
        "product     1     0.007        7.0      0.1  1.00\n"
        "... and 1 more\n"
        "\n"
        "GPU, queue 1\n"
        "command    runs  total ms  median us  wait us  GB/s\n"
        "host_call     1     0.000        0.0      0.0"
    )
    assert "2.00" in table_of(rows)


def test_the_program(capsys):
    assert texloom_main(["--help"]) == 0
    assert "trace" in capsys.readouterr().out
    assert texloom_main(["nonsense"]) == 2
    assert capsys.readouterr().err.startswith("texloom: no such command: nonsense\n")
    assert texloom_main(["trace", "none.py"]) == 1
