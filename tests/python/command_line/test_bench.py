"""``texloom bench``."""

import json
import os
import subprocess
import sys

import numpy as np
import onnx
import pytest
from command_model import SHAPE, fails, scaled, succeeds

import texloom
from texloom import _core
from texloom.command_line import bench
from texloom.command_line.node_times import node_table, node_times
from texloom.costs.runs import Runs
from texloom.measure.measurement import Measurement
from texloom.profiles import Bound, stated


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


def test_bench_shows_what_bounds_each_node(folder, capsys):
    succeeds(capsys, "compile", "model.onnx", *SHAPE)
    told = fails(capsys, "bench", "model.tlp", "--nodes")
    assert "is a package, which does not say what its kernels compute" in told
    arguments = ["bench", "model.onnx", *SHAPE, "--nodes", "--target", "opencl:0"]
    facts = json.loads(succeeds(capsys, *arguments, "--json"))
    (node,) = facts["nodes"]
    assert node["launches"] == 1 and 0 < node["seconds"] < 10
    assert node["bound"] in [each.value for each in Bound] and 0 < node["least_seconds"] < 1
    told = succeeds(capsys, *arguments)
    assert node["node"] in told and "1 node, " in told and f"profile {facts['profile']}" in told


def test_the_time_of_a_node_is_that_of_its_launches():
    work = _core._KernelWork()
    work.blocks, work.block_threads, work.distinct_bytes = 1000, 256, 1e9
    runs = [("a", "", 0.0, 2, [work, work]), ("view", "", 0.0, 0, []), ("b", "", 0.0, 1, [])]
    begins = np.array([0, 10, 20, 100, 110, 120], "float64") * 1e3
    ends = begins + np.array([1, 2, 3, 3, 4, 5], "float64") * 1e3
    profile = stated("nvidia-h200")
    a, b = node_times(runs, Runs(Measurement((1e-5,), 1), begins, ends, 2), profile)
    assert (a.node, a.launches, b.node, b.launches) == ("a", 2, "b", 1)
    np.testing.assert_allclose((a.seconds, b.seconds), (5e-6, 4e-6))
    assert a.bound == Bound.MEMORY.value and (b.bound, b.least_seconds) == (None, None)
    assert a.least_seconds == pytest.approx(2 * 1e9 / profile.memory_rate)
    table = node_table([b, a])
    assert table[1].endswith("memory  a") and table[1].split()[1] == "55.6%"
    with pytest.raises(texloom.TVMError, match="executed 6 commands"):
        node_times(runs, Runs(Measurement((1e-5,), 1), begins, ends, 3), profile)


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
