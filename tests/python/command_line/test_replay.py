"""Records of ``texloom run``, and ``texloom replay``."""

import numpy as np
import onnx
from command_model import fails, model_of, succeeds, value
from onnx import TensorProto, helper

import texloom
from texloom.__main__ import main


def test_records_are_replayed(folder, capsys):
    from texloom.command_line.recording import load_record

    succeeds(capsys, "run", "model.onnx", "--input", "x=x.npy", "--record", "bug.tlz")
    told = succeeds(capsys, "replay", "bug.tlz")
    assert "out/y:0: 0 of 24 elements differ" in told
    record = load_record(folder / "bug.tlz")
    assert record.device == "opencl:0" and record.facts["error"] is None
    np.testing.assert_array_equal(record.inputs["x"], np.load("x.npy"))


def test_a_record_has_the_values_that_shapes_depend_on(folder, capsys):
    nodes = [helper.make_node("Reshape", ["x", "shape"], ["y"])]
    inputs = [value("x", ("N", 3)), value("shape", (2,), TensorProto.INT64)]
    onnx.save(model_of(nodes, inputs, [value("y", (None, None))]), "r.onnx")
    np.save("shape.npy", np.array([3, 2]))
    np.save("x.npy", np.arange(6, dtype="float32").reshape(2, 3))
    given = ["--input", "x=x.npy", "--input", "shape=shape.npy"]
    succeeds(capsys, "run", "r.onnx", *given, "--record", "r.tlz")
    assert "y: 0 of 6 elements differ" in succeeds(capsys, "replay", "r.tlz")


def test_a_replay_tells_differences(folder, capsys, monkeypatch):
    from texloom.graph import RunnableGraph

    succeeds(capsys, "run", "model.onnx", "--input", "x=x.npy", "--record", "bug.tlz")
    run = RunnableGraph.run
    monkeypatch.setattr(
        RunnableGraph,
        "run",
        lambda *given: {n: a + (a == 0) * np.float32(3) for n, a in run(*given).items()},
    )
    assert main(["replay", "bug.tlz"]) == 1
    assert "out/y:0: 1 of 24 elements differ, by up to 3\n" in capsys.readouterr().out


def test_a_failing_run_is_recorded(folder, capsys):
    from texloom.command_line.recording import load_record

    texloom.compile("model.onnx", shapes={"x": (1, 3, 2, 4)}).save("m.tlp")
    arguments = ["--input", "x=x.npy", "--device", "opencl:99", "--record", "bug.tlz"]
    fails(capsys, "run", "m.tlp", *arguments)
    record = load_record(folder / "bug.tlz")
    assert "TL5006" in record.facts["error"] and record.device == "opencl:99"
    assert "this one did not" in succeeds(capsys, "replay", "bug.tlz", "--device", "opencl:0")
