"""Targets of models: that of the device which runs or measures, unless one is given."""

from argparse import Namespace
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from texloom.__main__ import main
from texloom.command_line.model_arguments import target_of
from texloom.target import Target


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with a model that doubles x."""
    monkeypatch.chdir(tmp_path)
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [2, 4]) for n in "xy")
    graph = helper.make_graph([helper.make_node("Add", ["x", "x"], ["y"])], "double", [x], [y])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), "double.onnx")
    np.save("x.npy", np.ones((2, 4), "float32"))
    return Path(tmp_path)


def test_a_model_that_runs_is_made_for_its_device(dev):
    name = f"{dev.driver}:{dev.device_id}"
    own = Target.from_device(dev)
    assert target_of(Namespace(target=None, measure=None, device=name)) == own
    assert target_of(Namespace(target=None, measure=name, device=None)) == own
    assert target_of(Namespace(target=None, measure=name)) == own
    given = target_of(Namespace(target="opencl -contract=0", measure=name, device=name))
    assert str(given) == "opencl -contract=0"


def test_a_package_is_for_every_device_unless_one_is_named(folder, capsys):
    assert target_of(Namespace(target=None, measure=None)) is None
    assert main(["compile", "double.onnx", "-o", "any.tlp"]) == 0
    assert "; --target opencl:0 is for that device\n" in capsys.readouterr().out
    assert main(["compile", "double.onnx", "--target", "opencl:0", "-o", "own.tlp"]) == 0
    assert "--target" not in capsys.readouterr().out
    for package in ("any.tlp", "own.tlp"):
        assert main(["run", package, "--input", "x=x.npy", "--output-dir", "out"]) == 0
        np.testing.assert_array_equal(np.load("out/y.npy"), 2.0)


def test_an_absent_device_is_no_target(folder, capsys):
    assert main(["compile", "double.onnx", "--target", "opencl:99", "-o", "own.tlp"]) == 1
    assert "TL5006" in capsys.readouterr().err
    assert not (folder / "own.tlp").exists()
