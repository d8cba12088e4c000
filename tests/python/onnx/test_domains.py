"""Nodes of domains that a file does not import: the newest version is meant."""

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper

import texloom

X = np.array([-1, 0, 2], "float32")


def model_of(node, imports, output=TensorProto.FLOAT):
    types = [
        helper.make_tensor_value_info(name, dtype, [3])
        for name, dtype in (("x", TensorProto.FLOAT), ("y", output))
    ]
    graph = helper.make_graph([node], "g", types[:1], types[1:])
    imports = [helper.make_opsetid(*each) for each in imports]
    return helper.make_model(graph, opset_imports=imports, ir_version=9)


LABELS = helper.make_node(
    "LabelEncoder",
    ["x"],
    ["y"],
    domain="ai.onnx.ml",
    keys_floats=[0.0, 2.0],
    values_floats=[4.0, 8.0],
    default_float=3.0,
)


@pytest.mark.parametrize(
    ("node", "imports"),
    [
        (helper.make_node("Gelu", ["x"], ["y"], domain="com.microsoft"), [("", 17)]),
        (LABELS, [("", 17)]),
        (helper.make_node("Gelu", ["x"], ["y"], domain="ai.onnx"), [("", 20)]),
        (helper.make_node("Gelu", ["x"], ["y"]), [("ai.onnx", 20)]),
    ],
    ids=["com.microsoft", "ai.onnx.ml", "the other name", "imported by the other name"],
)
def test_domains_that_are_not_imported(node, imports):
    """The newest LabelEncoder has attributes that the first one lacks."""
    model = model_of(node, imports)
    (want,) = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    ).run(None, {"x": X})
    got = texloom.compile(model).run({"x": X})["y"]
    np.testing.assert_allclose(got, want, rtol=0, atol=8 * 2.0**-22)  # units of what erf rounds


def test_an_unknown_domain_has_to_be_imported():
    node = helper.make_node("Gelu", ["x"], ["y"], domain="org.mine")
    with pytest.raises(texloom.onnx.Unsupported, match="No opset import for domain 'org.mine'"):
        texloom.compile(model_of(node, [("", 17)]))
