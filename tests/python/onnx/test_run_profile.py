"""``texloom run --profile=queue``: tables, traces, and captures for Xcode.

The software Metal makes the captures: lists of the calls it received. Profiling cannot start
for devices already open, so tables and traces are made in separate processes.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import texloom
from texloom.__main__ import main

PYTHON = Path(texloom.__file__).parents[1]
RUN = ["run", "model.onnx", "--input", "x=x.npy"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Make a folder with a model and its input the current one."""
    monkeypatch.chdir(tmp_path)
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, (2, 3)) for n in "xy")
    graph = helper.make_graph([helper.make_node("Exp", ["x"], ["y"])], "tiny", [x], [y])
    onnx.save(helper.make_model(graph, ir_version=9), "model.onnx")
    np.save("x.npy", np.zeros((2, 3), "float32"))
    return tmp_path


def texloom_run(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "texloom", *RUN, *arguments],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        env={**os.environ, "PYTHONPATH": str(PYTHON)},
    )


def refused(capsys, *arguments):
    """Run a command that must fail; return its error output."""
    assert main([*RUN, *arguments]) == 1
    return capsys.readouterr().err


def test_a_table_is_told():
    done = texloom_run("--profile=queue")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("y: float32[2, 3]")
    assert "_kernel0" in done.stderr


def test_a_trace_is_written(folder):
    done = texloom_run("--profile=queue", "--profile-file=p.json")
    assert (done.returncode, done.stderr) == (0, "profile: p.json\n")
    events = json.loads((folder / "p.json").read_text())["traceEvents"]
    kernels = [each for each in events if each["ph"] == "X" and "_kernel0" in each["name"]]
    assert len(kernels) == 1


def test_a_run_that_fails_says_only_why():
    done = texloom_run("--profile=queue", "--target", "metal", "--device", "opencl:0")
    assert done.returncode == 1
    assert done.stderr.startswith("texloom run: error[") and "no command ran" not in done.stderr


metal = pytest.mark.skipif(
    "metal" not in texloom._core.driver_names(), reason="this build has no Metal driver"
)
CAPTURE = ["--device", "metal:0", "--profile=queue", "--profile-file=p.gputrace"]


@metal
def test_a_capture_has_the_run(folder, monkeypatch, capsys):
    monkeypatch.setenv("METAL_CAPTURE_ENABLED", "1")
    assert main([*RUN, *CAPTURE]) == 0, capsys.readouterr().err
    calls = (folder / "p.gputrace/calls.txt").read_text()
    assert calls.count("the kernel is") == 1
    Path("model.onnx").unlink()  # the refusal comes before the model is read
    told = refused(capsys, *CAPTURE)
    assert "p.gputrace exists already" in told and "help: remove it" in told


@metal
def test_a_capture_ends_with_a_run_that_fails(folder, monkeypatch, capsys):
    monkeypatch.setenv("METAL_CAPTURE_ENABLED", "1")

    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("texloom.command_line.runnable.Runnable.run", interrupt)
        assert main([*RUN, *CAPTURE]) == 130
    assert (folder / "p.gputrace/calls.txt").exists()
    assert main([*RUN, *CAPTURE[:-1], "--profile-file=q.gputrace"]) == 0, capsys.readouterr().err


@metal
def test_the_environment_must_allow_captures(folder, monkeypatch, capsys):
    monkeypatch.delenv("METAL_CAPTURE_ENABLED", raising=False)
    Path("model.onnx").unlink()  # the refusal comes before the model is read
    told = refused(capsys, *CAPTURE)
    assert "does not let this process capture" in told
    assert "help: set METAL_CAPTURE_ENABLED=1" in told
    assert not (folder / "p.gputrace").exists()


@metal
def test_a_capture_needs_a_folder(monkeypatch, capsys):
    monkeypatch.setenv("METAL_CAPTURE_ENABLED", "1")
    Path("model.onnx").unlink()  # the refusal comes before the model is read
    told = refused(capsys, *CAPTURE[:-1], "--profile-file=missing/p.gputrace")
    assert "there is no folder missing" in told


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--device", "host", *CAPTURE[2:]], "needs a Metal device, but the device is host(0)"),
        (CAPTURE[2:], "needs a Metal device, but the device is opencl(0)"),
        (["--profile-file=p.txt"], "p.txt has no known suffix"),
        (["--profile=queue", "--profile-file=p.txt"], "p.txt has no known suffix"),
        (["--profile=queue", "--profile-file=missing/p.json"], "there is no folder missing"),
    ],
)
def test_wrong_calls_are_refused_before_anything_runs(arguments, message, capsys):
    Path("model.onnx").write_bytes(b"")  # the refusal comes before the model is parsed
    assert message in refused(capsys, *arguments)
