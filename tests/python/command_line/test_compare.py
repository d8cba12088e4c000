"""``texloom compare``."""

import json
import sys

import numpy as np
import onnx
import pytest
from command_model import SHAPE, fails, succeeds
from onnx import helper

import texloom
from texloom.__main__ import main


@pytest.mark.parametrize("against", ["onnxruntime", "reference"])
def test_compare_finds_no_difference(folder, capsys, against):
    told = succeeds(capsys, "compare", "model.onnx", *SHAPE, "--against", against, "--all")
    assert (
        "Mul 'scale'" in told and f"2 outputs of nodes within the bounds, against {against}" in told
    )


def test_compare_says_that_the_other_one_does_not_run_the_model(folder, capsys, monkeypatch):
    from texloom.command_line import compare

    monkeypatch.setattr(compare, "_outputs_of", lambda *_: None)
    told = succeeds(capsys, "compare", "model.onnx", *SHAPE)
    assert "are equal to these, and onnxruntime does not run the whole model" in told


@pytest.mark.parametrize("precision", ["fp32", "fp16"])
@pytest.mark.parametrize("share", [1 / 1000, 2**-17])
def test_compare_finds_a_wrong_node(folder, capsys, monkeypatch, share, precision):
    """Both errors exceed the bound of an addition; the product before the addition is right."""
    from texloom.onnx.converters import converter_of
    from texloom.onnx.converters.registry import _CONVERTERS
    from texloom.ops import elementwise

    def wrong(node):
        def add(a, b):
            return elementwise.multiply(elementwise.add(a, b), texloom_constant(a.dtype))

        def texloom_constant(dtype):
            return texloom.te.compute((), lambda: texloom.tir.const(1 + share, dtype))

        return node.emit("add", add, [node.input(0), node.input(1)])

    assert converter_of("", "Add") is not None
    monkeypatch.setitem(_CONVERTERS, ("", "Add"), wrong)
    assert main(["compare", "model.onnx", *SHAPE, "--precision", precision]) == 1
    told = capsys.readouterr().out
    assert "Add 'sum' differs from onnxruntime, the first after 1 output" in told
    assert "kernels      " in told and "in float64   " in told


def layer_norm():
    """Return a layer normalization of single nodes, with room for large squares."""
    nodes = [
        helper.make_node("ReduceMean", ["x"], ["mean"], axes=[-1]),
        helper.make_node("Sub", ["x", "mean"], ["d"]),
        helper.make_node("Mul", ["d", "d"], ["square"]),
        helper.make_node("ReduceMean", ["square"], ["v"], axes=[-1]),
        helper.make_node("Add", ["v", "epsilon"], ["w"]),
        helper.make_node("Sqrt", ["w"], ["s"]),
        helper.make_node("Div", ["d", "s"], ["n"]),
        helper.make_node("Mul", ["n", "scale"], ["y"]),
    ]
    values = [helper.make_tensor_value_info(name, 1, [4, 64]) for name in "xy"]
    constants = {"epsilon": np.float32(1e-5), "scale": np.linspace(0.5, 2, 64, dtype="float32")}
    initializers = [onnx.numpy_helper.from_array(np.asarray(a), n) for n, a in constants.items()]
    graph = helper.make_graph(nodes, "norm", values[:1], values[1:], initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def test_compare_rounds_what_is_stored_as_float16(tmp_path, capsys, monkeypatch):
    """A correct model is within the bound, though its activations are rounded."""
    monkeypatch.chdir(tmp_path)
    onnx.save(layer_norm(), "norm.onnx")
    x = np.random.default_rng(0).standard_normal((4, 64)).astype("float32")
    x[:, 3] = 800  # its square is infinite in float16, and must stay float32
    np.save("x.npy", x)
    common = ["norm.onnx", "--input", "x=x.npy", "--precision", "fp16"]
    facts = json.loads(succeeds(capsys, "compare", *common, "--json"))
    assert facts["first"] is None and len(facts["nodes"]) == 8
    errors = {each["output"]: each["error"] for each in facts["nodes"]}
    assert errors["d"] > 1e-5 > errors["square"] / 800**2  # d is rounded, its square is not


def test_compare_names_what_float16_cannot_hold(tmp_path, capsys, monkeypatch):
    """A square that nothing adds up is stored as float16, and is infinite."""
    monkeypatch.chdir(tmp_path)
    model = layer_norm()
    del model.graph.node[3:]
    model.graph.node.append(helper.make_node("Neg", ["square"], ["y"]))
    onnx.save(model, "squares.onnx")
    np.save("x.npy", np.linspace(0, 800, 256, dtype="float32").reshape(4, 64) ** 1.5)
    assert main(["compare", "squares.onnx", "--input", "x=x.npy", "--precision", "fp16"]) == 1
    told = capsys.readouterr().out
    assert "Mul 'square' differs from onnxruntime, the first after 2 outputs" in told
    assert "Texloom      inf" in told and "kernels      " in told


def test_a_missing_package_is_named(folder, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    told = fails(capsys, "compare", "model.onnx", *SHAPE)
    assert "needs the Python package 'onnxruntime'\n  help: pip install onnxruntime" in told
