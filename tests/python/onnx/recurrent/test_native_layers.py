"""Recurrent layers in native code, whose constant weights are stored block by block."""

import numpy as np
import onnx
import onnxruntime
import pytest
from llvm_plugin import has_llvm
from onnx.helper import make_graph, make_model, make_node, make_opsetid, make_tensor_value_info
from onnx.numpy_helper import from_array

from texloom.onnx import Model

pytestmark = pytest.mark.skipif(not has_llvm(), reason="the LLVM plug-in is not built")

TIME, BATCH, INPUT = 5, 2, 6
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def layer(op, hidden, **attributes):
    """A model of a layer in both directions."""
    rng, rows = np.random.default_rng(hidden), GATES[op] * hidden
    shapes = {"w": (2, rows, INPUT), "r": (2, rows, hidden), "b": (2, 2 * rows)}
    node = make_node(
        op, ["x", *shapes], ["y"], direction="bidirectional", hidden_size=hidden, **attributes
    )
    graph = make_graph(
        [node],
        "net",
        [make_tensor_value_info("x", onnx.TensorProto.FLOAT, (TIME, BATCH, INPUT))],
        [make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)],
    )
    for name, shape in shapes.items():
        values = rng.uniform(-0.25, 0.25, shape).astype("float32")
        graph.initializer.append(from_array(values, name))
    return make_model(graph, opset_imports=[make_opsetid("", 17)], ir_version=9)


@pytest.mark.parametrize("hidden", [7, 20, 24, 64])
@pytest.mark.parametrize(
    ("op", "attributes"),
    [
        ("RNN", {}),
        ("GRU", {"linear_before_reset": 0}),
        ("GRU", {"linear_before_reset": 1}),
        ("LSTM", {}),
    ],
)
def test_layers(op, attributes, hidden):
    """Vectors and blocks divide some sizes; 7 has none."""
    model = layer(op, hidden, **attributes)
    x = np.random.default_rng(0).uniform(-1, 1, (TIME, BATCH, INPUT)).astype("float32")
    session = onnxruntime.InferenceSession(model.SerializeToString())
    (expected,) = session.run(None, {"x": x})
    # Each of both rounds a sum of magnitudes below 0.25 (INPUT + hidden) + 1 so many times.
    terms = INPUT + hidden + 8
    bound = 2 * TIME * terms * (terms / 4) * 2.0**-24
    made = Model(model, "native").run({"x": x})["y"]
    np.testing.assert_allclose(made, expected, rtol=0, atol=bound)


def test_blocks_read_their_weights_one_after_another():
    layouts = [
        layout for *_, layout in Model(layer("LSTM", 64), "haswell").summary["stores"].values()
    ]
    assert any("d3/16, d1, d2, d3%16" in layout for layout in layouts), layouts
