"""Nodes that contradict their inputs or the standard: the reasons are words about the model."""

import numpy as np
import onnx
import pytest
from onnx import helper
from single_node import floats, run_node

import texloom
from texloom.onnx import Unsupported

IMAGE, WEIGHTS = floats(1, 1, 4, 4), floats(2, 1, 3, 3)
WINDOW = {"kernel_shape": [2, 2]}

CASES = {
    "strides of 0": ("Conv", [IMAGE, WEIGHTS], {"strides": [0, 0]}, "strides=[0, 0] has a number"),
    "one stride": ("Conv", [IMAGE, WEIGHTS], {"strides": [1]}, "strides=[1] has not 2 numbers"),
    "no groups": ("Conv", [IMAGE, WEIGHTS], {"group": 0}, "its group is 0, not a positive"),
    "three groups": ("Conv", [IMAGE, WEIGHTS], {"group": 3}, "do not divide into 3 groups"),
    "channels": ("Conv", [floats(1, 3, 4, 4), WEIGHTS], {}, "3 input and 2 output channels do"),
    "a large kernel": ("Conv", [IMAGE[:, :, :2, :2], WEIGHTS], {}, "the window (3, 3) does not"),
    "another kernel": ("Conv", [IMAGE, WEIGHTS], WINDOW, "but its weights have [3, 3]"),
    "negative pads": ("Conv", [IMAGE, WEIGHTS], {"pads": [-1, 0, 0, 0]}, "has a number below 0"),
    "a mode": ("Conv", [IMAGE, WEIGHTS], {"auto_pad": "SOME"}, "its auto_pad is 'SOME', not one"),
    "turned, no groups": ("ConvTranspose", [IMAGE, WEIGHTS[:1]], {"group": 0}, "its group is 0"),
    "turned, strides": ("ConvTranspose", [IMAGE, WEIGHTS[:1]], {"strides": [0, 1]}, "strides=[0"),
    "turned, channels": ("ConvTranspose", [IMAGE, WEIGHTS], {}, "1 channels, and weights for 2"),
    "turned, kernel": ("ConvTranspose", [IMAGE, WEIGHTS[:1]], WINDOW, "weights have [3, 3]"),
    "nothing left": ("ConvTranspose", [IMAGE, WEIGHTS[:1]], {"pads": [3] * 4}, "extents [0, 0]"),
    "no kernel": ("MaxPool", [IMAGE], {}, "it lacks the attribute 'kernel_shape'"),
    "pool strides": ("MaxPool", [IMAGE], {**WINDOW, "strides": [0, 1]}, "strides=[0, 1]"),
    "pool pads": ("MaxPool", [IMAGE], {**WINDOW, "pads": [-1, 0, 0, 0]}, "below 0"),
    "a large window": ("AveragePool", [IMAGE], {"kernel_shape": [5, 5]}, "does not fit into"),
    "a norm of 0": ("LpPool", [IMAGE], {**WINDOW, "p": 0}, "its p is 0, not a positive number"),
    "shapes": ("Add", [floats(2, 3), floats(2, 4)], {}, "shapes (2, 3), (2, 4) do not broadcast"),
    "no axis": ("Concat", [IMAGE, IMAGE], {}, "it lacks the attribute 'axis'"),
    "an axis of 1.5": ("Softmax", [IMAGE], {"axis": 1.5}, "'axis' is of type float, not int"),
    "factors": ("MatMul", [floats(2, 3), floats(2, 4)], {}, "do not share the axis to sum over"),
    "a summand": ("Gemm", [floats(2, 3), floats(3, 4), floats(3)], {}, "do not broadcast"),
    "a big summand": ("Gemm", [floats(2, 3), floats(3, 1), floats(2, 4)], {}, "does not broadcast"),
    "no matrix": ("Gemm", [floats(2, 3, 1), floats(3, 4)], {}, "2 axes are required"),
    "no such type": ("Cast", [IMAGE], {"to": 99}, "it converts to type 99, which is not supported"),
    "no channels": ("LRN", [IMAGE], {"size": 0}, "its size is 0, not a positive number"),
    "blocks of 0": ("DepthToSpace", [IMAGE], {"blocksize": 0}, "its blocksize is 0"),
    "labels": ("Einsum", [floats(2, 3), floats(2, 4)], {"equation": "ij,jk->ik"}, "3 and 2"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_node_is_refused_in_words(case):
    """The reason names neither a function of Texloom nor an exception of Python."""
    op, inputs, attributes, reason = case
    with pytest.raises(Unsupported) as caught:
        run_node(op, inputs, 17, **attributes)
    (refusal,) = caught.value.refusals
    assert refusal.op == op and reason in refusal.reason
    assert "Error" not in refusal.reason and "raised" not in refusal.reason


@pytest.mark.parametrize("beta", [1.0, 2.0])
@pytest.mark.parametrize("turned", [0, 1])
def test_a_product_over_no_elements_is_its_summand(beta, turned):
    """As in onnxruntime, a matrix product with K = 0 is zero, so that beta * C remains."""
    c = floats(4)
    a, b = np.zeros((0, 2) if turned else (2, 0), "float32"), np.zeros((0, 4), "float32")
    got = run_node("Gemm", [a, b, c], 17, beta=beta, transA=turned)
    np.testing.assert_array_equal(got, np.broadcast_to(c * np.float32(beta), (2, 4)))
    assert not run_node("Gemm", [a, b], 17, transA=turned).any()


def saved(path, nodes, outputs):
    """Write a model of these nodes over the input x."""
    value, *made = (
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [2]) for name in ["x", *outputs]
    )
    graph = helper.make_graph(nodes, "g", [value], made)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    path.write_bytes(model.SerializeToString())
    return path


def test_a_graph_without_outputs_is_not_said_to_be_missing(tmp_path):
    path = saved(tmp_path / "m.onnx", [helper.make_node("Relu", ["x"], ["y"])], [])
    with pytest.raises(Unsupported, match="computes nothing: its graph has no outputs"):
        texloom.compile(path)


def test_the_message_of_the_checker_is_whole(tmp_path):
    """ONNX's checker writes messages of several lines, whose end says what is wrong."""
    nodes = [helper.make_node("Relu", ["t"], ["y"]), helper.make_node("Relu", ["x"], ["t"])]
    with pytest.raises(Unsupported) as caught:
        texloom.compile(saved(tmp_path / "m.onnx", nodes, ["y"]))
    message = caught.value.diagnostics[0].message
    assert "input 't' of node" in message and "is not output of any previous nodes" in message


def test_elements_of_a_type_that_is_none():
    value = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [2])
    w = onnx.numpy_helper.from_array(np.ones(2, "float32"), "w")
    w.data_type = 99
    nodes = [helper.make_node("Add", ["x", "w"], ["y"])]
    graph = helper.make_graph(nodes, "g", [value], [onnx.ValueInfoProto(name="y")], [w])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    with pytest.raises(Unsupported, match="the constant 'w', type 99, cannot be read"):
        texloom.compile(model)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "(float[n, 4] x) => (y, z) <int64[1] k = {0}> { y, z = TopK(x, k) }",
            "TopK 'y': its result of the shape (n, 0) has no elements, so no extent may be open",
        ),
        (
            "(float[n, 4] x) => (y, z) <int64[2] s = {0, 4}> { y, z = Split<axis = 1>(x, s) }",
            "Split 'y': its result of the shape (n, 0) has no elements, so no extent may be open",
        ),
        (
            "(float[n, 0] x) => (y) { y = Relu(x) }",
            "the input 'x' of the shape (n, 0) has no elements, so no extent may be open",
        ),
        (
            "(float[n, 4] x, float[5, m] w) => (y) { y = MatMul(x, w) }",
            "MatMul 'y': shapes (n, 4), (5, m) do not share the axis to sum over",
        ),
        (
            "(float[n, 3, h, w] x, float[4, 2, 3, 3] k) => (y) { y = Conv(x, k) }",
            "Conv 'y': 3 input and 4 output channels do not divide into 1 groups",
        ),
    ],
)
def test_open_extents_do_not_hide_the_reason(tmp_path, text, reason):
    """A package is refused in the converter's own words, with the names of the extents."""
    model = onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["" : 20]> one {text}')
    with pytest.raises(Unsupported) as caught:
        texloom.compile(model).save(tmp_path / "open.tlp")
    assert reason in str(caught.value)
    assert "it needs to know the extents" not in str(caught.value)
