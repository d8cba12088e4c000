"""Files of other versions, incomplete files, and errors of models that cannot be converted."""

import numpy as np
import onnx
import pytest
from node_peers import model_of
from onnx import TensorProto, helper, numpy_helper

import texloom
from texloom.errors import TVMError


def test_a_newer_format_of_known_operators_is_a_warning():
    x = np.array([-1, 1], "float32")
    model = model_of("Relu", [x], opset=13)
    model.ir_version = onnx.IR_VERSION + 1
    with pytest.warns(UserWarning, match=f"has version {model.ir_version} of ONNX's format"):
        compiled = texloom.compile(model)
    np.testing.assert_array_equal(compiled.run({"x0": x})["y0"], [0, 1])


@pytest.mark.parametrize("size", [56, 20])
def test_external_data_that_was_cut_off(tmp_path, size):
    """The file ends within the last constant, or before it."""
    value = helper.make_tensor_value_info("x", TensorProto.FLOAT, [8])
    ones = np.ones(8, "float32")
    nodes = [helper.make_node("Mul", ["x", "w"], ["t"]), helper.make_node("Add", ["t", "b"], ["y"])]
    constants = [numpy_helper.from_array(ones, name) for name in "wb"]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [8])]
    graph = helper.make_graph(nodes, "g", [value], outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save_model(
        model, tmp_path / "m.onnx", save_as_external_data=True, location="m.bin", size_threshold=0
    )
    data = tmp_path / "m.bin"
    data.write_bytes(data.read_bytes()[:size])
    with pytest.raises(TVMError, match="copy the whole file") as caught:
        texloom.compile(tmp_path / "m.onnx")
    assert "m.bin has" in caught.value.diagnostics[0].message


OPEN = """<ir_version: 9, opset_import: ["" : 11, "my.filters" : 1]>
    g (TYPE[1, 1, n] x) => (y) { NODES }"""
UNCURED = {
    "an operator": ("float", "y = my.filters.Blur(x)", "the operator is not supported"),
    "an attribute": (
        "float",
        "y = AveragePool<kernel_shape = [2], dilations = [1]>(x)",
        "'dilations', which the operator does not have",
    ),
    "a type of sizes": ("float", "s = Shape(x) y = Min(s, s)", "its input 0 is int64, but"),
    "no input of sizes": ("float", 's = Shape(x) y = Add("", s)', "its input 0 is missing"),
    "no input": ("float", 's = Shape(x) y = Resize("", "", "", s)', "its input 0 is missing"),
    "a type of the target": ("double", "y = Relu(x)", "is in float64, which the target"),
}


@pytest.mark.parametrize("name", UNCURED)
def test_what_no_sizes_cure_is_said_first(tmp_path, name):
    """What is wrong for all sizes is reported before open sizes, which the user could fix."""
    kind, nodes, why = UNCURED[name]
    model = onnx.parser.parse_model(OPEN.replace("TYPE", kind).replace("NODES", nodes))
    with pytest.raises(TVMError) as caught:
        texloom.compile(model, "metal -device=m1").save(tmp_path / "m.tlp")
    assert why in caught.value.diagnostics[0].message
