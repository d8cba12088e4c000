"""``texloom bench``."""

import json
import os
import subprocess
import sys

import onnx
import pytest
from command_model import SHAPE, fails, scaled, succeeds

import texloom
from texloom.command_line import bench


def test_bench_beside_onnxruntime(folder, capsys):
    arguments = ["--compare", "onnxruntime", "--rounds", 1]
    succeeds(capsys, "compile", "model.onnx", *SHAPE)
    told = succeeds(capsys, "bench", "model.tlp", *arguments)
    assert "x as fast" in told and "  the outputs are equal to onnxruntime's\n" in told
    facts = json.loads(succeeds(capsys, "bench", "model.onnx", *SHAPE, *arguments, "--json"))
    assert set(facts["seconds"]) == {"run", "device", "onnxruntime"}
    assert all(0 < seconds < 10 for seconds in facts["seconds"].values())
    assert facts["largest_difference"] <= 2**-22  # two roundings each


def test_bench_refuses_another_onnx_model(folder, capsys):
    succeeds(capsys, "compile", "model.onnx", *SHAPE)
    arguments = ["bench", "model.tlp", "--rounds", 1, "--compare", "onnxruntime", "--onnx"]
    onnx.save(scaled((1, 3, 5, 4)), "other.onnx")
    told = fails(capsys, *arguments, "other.onnx")
    assert "onnxruntime cannot run the ONNX model: " in told and "--onnx FILE" in told
    renamed = scaled()
    renamed.graph.node[1].output[0] = renamed.graph.output[0].name = "z"
    onnx.save(renamed, "renamed.onnx")
    told = fails(capsys, *arguments, "renamed.onnx")
    assert "only one of the package and the ONNX model has the output 'out/y:0'" in told
    assert "there is no file nowhere.onnx" in fails(capsys, *arguments, "nowhere.onnx")


def test_bench_says_that_the_onnx_model_is_missing_before_it_compiles(folder, capsys, monkeypatch):
    succeeds(capsys, "compile", "model.onnx", *SHAPE, "-o", "alone.tlp")
    monkeypatch.setattr(bench, "_loaded", lambda _: pytest.fail("the package was loaded"))
    told = fails(capsys, "bench", "alone.tlp", "--compare", "onnxruntime")
    assert "there is no file alone.onnx" in told and "--onnx FILE" in told


def test_bench_shows_the_kernels(folder, capsys):
    succeeds(capsys, "compile", "model.onnx", *SHAPE)
    texloom.nd.empty((1,), "float32", texloom.opencl())  # opens a device
    assert "in a process of its own" in fails(capsys, "bench", "model.tlp", "--kernels")
    command = [sys.executable, "-m", "texloom", "bench", "model.tlp", "--kernels", "--rounds", "3"]
    told = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True).stdout
    copies = {"update", "readback"}
    rows = json.loads(told)["kernels"]
    kernels = [each for each in rows if each["name"] not in copies]
    assert [each["executions"] for each in kernels] == [1]
    assert 0 < kernels[0]["seconds"] < 10
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert kernels[0]["name"] in told


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system binds no process")
def test_bench_limits_the_threads(folder, capsys, default_target):
    """The processors that a process may use are the threads of ``host:0``."""
    allowed = os.sched_getaffinity(0)
    command = [sys.executable, "-m", "texloom", "bench", "model.onnx", *SHAPE, "--rounds", "1"]
    told = subprocess.run([*command, "--threads", "1"], capture_output=True, text=True, check=True)
    assert " ms" in told.stdout
    units = "import os, texloom; os.sched_setaffinity(0, [min(os.sched_getaffinity(0))]); "
    units += "print(texloom.device('host:0').info['compute_units'])"
    done = subprocess.run([sys.executable, "-c", units], capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"
    told = fails(capsys, *command[3:], "--threads", len(allowed) + 1)
    assert f"the process may use {len(allowed)} processor" in told
    assert os.sched_getaffinity(0) == allowed
