"""The benchmark of exported networks: its table, and a network whose peer is a stand-in."""

import argparse
import shutil
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest

import texloom

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks/networks"))
import exported


def row(network, precision, milliseconds, **peers):
    return exported.Row(network, precision, milliseconds, peers, 3, 1e-7, 1.0, 0.5)


def test_the_table_has_means_of_groups():
    rows = [
        row("vit_b_16", "fp32", 2.0, eager=4.0, graph=3.0),
        row("llama", "fp32", 1.0, eager=6.0),
        row("llama", "fp16", 1.0),
    ]
    lines = exported.table(rows)
    assert lines[2] == "| vit_b_16 | fp32 | 2.000 | 3 | 1.0e-07 | 3.000 (graph) | 1.50 |"
    assert lines[4].endswith("| - | - |")
    assert lines[5:] == [
        "fp32, all (2): least 1.50, mean 3.00",
        "fp32, the first six (1): least 1.50, mean 1.50",
        "fp32, the last twelve (1): least 6.00, mean 6.00",
    ]


class Peer:
    """Answers as PyTorch's process does, for one network."""

    def __init__(self, model):
        self.model = model

    def ask(self, do, **request):
        if do == "export":
            folder = Path(request["folder"])
            shutil.copy(self.model, folder / "model.onnx")
            np.save(folder / "x.npy", np.full((2, 3), 2, "float32"))
            np.save(folder / "y.npy", np.full((2, 3), 4, "float64"))
            return True
        return {"eager": 0} if do == "arms" else 1e-3


def test_a_network_is_compiled_checked_and_timed(tmp_path):
    x, y = (
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [2, 3]) for name in "xy"
    )
    graph = onnx.helper.make_graph([onnx.helper.make_node("Mul", "xx", "y")], "g", [x], [y])
    opset = onnx.helper.make_opsetid("", 18)
    onnx.save(onnx.helper.make_model(graph, opset_imports=[opset]), tmp_path / "m.onnx")
    options = argparse.Namespace(
        precisions=["fp32"], device="opencl:0", storage="buffer", no_compile=True
    )
    ready = exported.prepare("m", Peer(tmp_path / "m.onnx"), options, tmp_path / "folder")
    made = exported.timed("m", ready, "fp32", texloom.device("opencl:0"))
    assert made.error == 0 and made.launches == 1 and made.peers == {"eager": pytest.approx(1.0)}
    assert 0 < made.milliseconds < 1000 and made.ratio == pytest.approx(1 / made.milliseconds)


def test_names_of_networks(monkeypatch, capsys):
    """Names of libraries are taken as they are; PyTorch's process knows which it has."""

    def networks(*names):
        options = [f"--network={name}" for name in names]
        monkeypatch.setattr(sys, "argv", ["exported.py", *options])
        return exported.parse().network

    assert networks("vit_b_16", "timm:levit_128s") == ["vit_b_16", "timm:levit_128s"]
    assert networks("torchvision:vgg11") == ["torchvision:vgg11"]
    for wrong in ("nope", "timm:", "keras:vgg"):
        with pytest.raises(SystemExit):
            networks(wrong)
        assert "torchvision:NAME" in capsys.readouterr().err
