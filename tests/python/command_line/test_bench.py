"""``texloom bench``."""

import json
import subprocess
import sys

from command_model import SHAPE, fails, succeeds

import texloom


def test_bench_beside_onnxruntime(folder, capsys):
    arguments = ["--compare", "onnxruntime", "--rounds", 1]
    succeeds(capsys, "compile", "model.onnx", *SHAPE)
    told = succeeds(capsys, "bench", "model.tlp", *arguments)
    assert "x as fast" in told and "differ from onnxruntime's by up to 0 of" in told
    facts = json.loads(succeeds(capsys, "bench", "model.onnx", *SHAPE, *arguments, "--json"))
    assert set(facts["seconds"]) == {"run", "device", "onnxruntime"}
    assert all(0 < seconds < 10 for seconds in facts["seconds"].values())
    assert facts["largest_difference"] <= 2**-22  # two roundings each


def test_bench_shows_the_kernels(folder, capsys):
    succeeds(capsys, "compile", "model.onnx", *SHAPE)
    texloom.nd.empty((1,), "float32", texloom.opencl())  # opens a device
    assert "in a process of its own" in fails(capsys, "bench", "model.tlp", "--kernels")
    bench = [sys.executable, "-m", "texloom", "bench", "model.tlp", "--kernels", "--rounds", "3"]
    told = subprocess.run([*bench, "--json"], capture_output=True, text=True, check=True).stdout
    copies = {"update", "readback"}
    rows = json.loads(told)["kernels"]
    kernels = [each for each in rows if each["name"] not in copies]
    assert [each["executions"] for each in kernels] == [1]
    assert 0 < kernels[0]["seconds"] < 10
    told = subprocess.run(bench, capture_output=True, text=True, check=True).stdout
    assert kernels[0]["name"] in told
