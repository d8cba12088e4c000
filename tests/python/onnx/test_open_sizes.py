"""Packages that serve all sizes of a model that leaves extents open."""

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import texloom
from texloom.demo.ocr import models
from texloom.errors import TVMError

SIZES = [(1, 8, 12), (2, 17, 9), (1, 8, 12)]


def network():
    """A convolution, a reshape by what nodes compute of shapes, and a sum along an open axis."""
    weight = np.random.default_rng(0).standard_normal((4, 3, 3, 3)).astype("float32")
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1], strides=[2, 2]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("Shape", ["r"], ["s"]),
        helper.make_node("Slice", ["s", "zero", "two"], ["front"]),
        helper.make_node("Concat", ["front", "rest"], ["wanted"], axis=0),
        helper.make_node("Reshape", ["r", "wanted"], ["flat"]),
        helper.make_node("ReduceMean", ["flat", "last"], ["y"], keepdims=0),
    ]
    constants = {"zero": [0], "two": [2], "rest": [-1], "last": [2]}
    initializers = [numpy_helper.from_array(weight, "w")]
    initializers += [numpy_helper.from_array(np.array(v, "int64"), n) for n, v in constants.items()]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3, "H", "W"])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 4])
    graph = helper.make_graph(nodes, "open", [x], [y], initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)


def expected(model, x):
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run(None, {session.get_inputs()[0].name: x})[0]


def close(got, want, terms):
    """Sums of so many products of numbers of about 1, rounded after each."""
    assert got.shape == want.shape
    assert np.abs(got - want).max() <= terms * np.finfo("float32").eps * 8


def test_one_package_serves_all_sizes(tmp_path):
    model = network()
    texloom.compile(model).save(tmp_path / "open.tlp")
    graph = texloom.graph.load(tmp_path / "open.tlp")
    for n, h, w in SIZES:
        x = np.random.default_rng(h).standard_normal((n, 3, h, w)).astype("float32")
        close(graph.run({"x": x})["y"], expected(model, x), 27)


def test_named_extents_stay_open_in_python():
    model = network()
    compiled = texloom.compile(model, shapes={"x": (1, 3, "h", "w")})
    for _, h, w in SIZES:
        x = np.random.default_rng(h).standard_normal((1, 3, h, w)).astype("float32")
        close(compiled.run({"x": x})["y"], expected(model, x), 27)
    assert str(compiled).count("kernels:") == 1


def test_a_package_refuses_other_shapes(tmp_path):
    texloom.compile(network()).save(tmp_path / "open.tlp")
    graph = texloom.graph.load(tmp_path / "open.tlp")
    with pytest.raises(TVMError, match="x"):
        graph.run({"x": np.zeros((1, 4, 8, 8), "float32")})


@pytest.mark.slow
@pytest.mark.skipif(models.find() is None, reason="the networks are not installed: ./dev setup")
@pytest.mark.parametrize(
    ("name", "shapes"),
    [
        ("recognition", [(1, 3, 48, 64), (1, 3, 48, 104)]),
        ("detection", [(1, 3, 64, 96), (1, 3, 96, 32)]),
    ],
)
def test_networks_of_pages(tmp_path, name, shapes):
    model = onnx.load(models.find()[name])
    texloom.compile(model).save(tmp_path / "open.tlp")
    graph = texloom.graph.load(tmp_path / "open.tlp")
    for shape in shapes:
        x = np.random.default_rng(0).standard_normal(shape).astype("float32")
        (got,) = graph.run({graph.inputs[0].name: x}).values()
        # Probabilities: onnxruntime's and ours both differ by about 1e-6 from float64.
        assert np.abs(got - expected(model, x)).max() <= 1e-5
