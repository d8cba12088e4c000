"""Normalizations that become part of the weights of the node before them."""

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper

from texloom.onnx.fold_normalization import fold_normalization
from texloom.onnx.model import Model

GENERATOR = np.random.default_rng(7)
CHANNELS = 6
NORMALIZED = ("BatchNormalization", [(CHANNELS,)] * 4)


def numbers(shape):
    return GENERATOR.uniform(0.5, 1.5, shape).astype("float32")


def model_of(producer, scales, outputs=("y",), bias=True, **attributes):
    """A node with constant weights, then others with constants of the given shapes."""
    shapes = {
        "Conv": ((2, 8, 5, 4), (CHANNELS, 4, 3, 2)),
        "ConvTranspose": ((2, 8, 5, 4), (8, CHANNELS // 2, 3, 2)),
        "Gemm": ((3, 8), (8, CHANNELS)),
        "MatMul": ((2, 3, 8), (8, CHANNELS)),
    }
    data, weight = shapes[producer]
    if attributes.get("transB"):
        weight = weight[::-1]
    constants = {"w": numbers(weight) - 1}
    if bias and producer != "MatMul":
        constants["b"] = numbers(CHANNELS)
    nodes = [helper.make_node(producer, ["x", *constants], ["v0"], **attributes)]
    for i, (op, given) in enumerate(scales):
        names = [f"c{i}.{k}" for k in range(len(given))]
        constants.update(zip(names, map(numbers, given), strict=True))
        inputs = [f"v{i}", *names] if not op.startswith("-") else [*names, f"v{i}"]
        nodes.append(helper.make_node(op.lstrip("-"), inputs, [f"v{i + 1}"]))
    nodes[-1].output[0] = "y"
    graph = helper.make_graph(
        nodes,
        "scaled",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, data)],
        [helper.make_tensor_value_info(each, onnx.TensorProto.FLOAT, None) for each in outputs],
        [onnx.numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def check(model):
    x = numbers([d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]) - 1
    got = Model(model).run({"x": x})
    for array, expected in zip(got.values(), unfolded(model, x), strict=True):
        # Both add up at most 24 terms, each below 1; factors are below 4 and are rounded twice.
        np.testing.assert_allclose(array, expected, rtol=16 * 2.0**-24, atol=8 * 40 * 2.0**-24)


def unfolded(model, x):
    """The outputs of onnxruntime, node by node."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(model.SerializeToString(), options).run(None, {"x": x})


FOLDED = {
    "a convolution": ("Conv", [NORMALIZED], {"group": 2}),
    "without a bias": ("Conv", [NORMALIZED], {"group": 2, "bias": False}),
    "a transposed convolution": ("ConvTranspose", [NORMALIZED], {"group": 2}),
    "a product": ("Gemm", [NORMALIZED], {}),
    "of a transposed matrix": ("Gemm", [NORMALIZED], {"transB": 1}),
    "numbers for all channels": ("Conv", [("Mul", [()]), ("Add", [(1,)])], {"group": 2}),
    "numbers for each channel": (
        "Conv",
        [NORMALIZED, ("Mul", [(CHANNELS, 1, 1)]), ("Sub", [(1, CHANNELS, 1, 1)])],
        {"group": 2},
    ),
    "constants on the left": ("Gemm", [("-Sub", [(CHANNELS,)]), ("-Mul", [(CHANNELS,)])], {}),
    "a quotient": ("MatMul", [("Div", [(CHANNELS,)])], {}),
}


@pytest.mark.parametrize(("producer", "scales", "attributes"), FOLDED.values(), ids=FOLDED)
def test_folded(producer, scales, attributes):
    model = model_of(producer, scales, **attributes)
    (node,) = fold_normalization(model.graph).nodes
    assert (node.op_type, list(node.output)) == (producer, ["y"])
    check(model)


KEPT = {
    "another reader": ("Conv", [NORMALIZED], {"group": 2, "outputs": ("y", "v0")}),
    "a constant for each row": ("Conv", [("Mul", [(3, 1)])], {"group": 2}),
    "a constant that makes an axis": ("Gemm", [("Mul", [(2, 1, CHANNELS)])], {}),
    "a dividend": ("Gemm", [("-Div", [(CHANNELS,)])], {}),
    "a shift of a product without bias": ("MatMul", [("Add", [(CHANNELS,)])], {}),
    "a scaled bias": ("Gemm", [NORMALIZED], {"beta": 0.5}),
}


@pytest.mark.parametrize(("producer", "scales", "attributes"), KEPT.values(), ids=KEPT)
def test_kept(producer, scales, attributes):
    model = model_of(producer, scales, **attributes)
    assert list(fold_normalization(model.graph).nodes) == list(model.graph.node)
    check(model)


def test_numbers_that_would_become_infinite_are_kept():
    model = model_of("Gemm", [("Mul", [()])])
    (scale,) = (each for each in model.graph.initializer if each.name.startswith("c"))
    scale.CopyFrom(onnx.numpy_helper.from_array(np.float32(3e38), scale.name))
    (weight,) = (each for each in model.graph.initializer if each.name == "w")
    weight.CopyFrom(onnx.numpy_helper.from_array(np.full((8, CHANNELS), 3, "float32"), "w"))
    assert list(fold_normalization(model.graph).nodes) == list(model.graph.node)


def test_constants_among_nodes():
    """Some exporters write weights as nodes."""
    model = model_of("Conv", [NORMALIZED], group=2)
    graph = model.graph
    nodes = [helper.make_node("Constant", [], [t.name], value=t) for t in graph.initializer]
    nodes += graph.node
    del graph.node[:], graph.initializer[:]
    graph.node.extend(nodes)
    made = [node for node in fold_normalization(graph).nodes if node.op_type != "Constant"]
    assert [node.op_type for node in made] == ["Conv"]
    x = numbers((2, 8, 5, 4)) - 1
    np.testing.assert_allclose(
        Model(model).run({"x": x})["y"], unfolded(model, x)[0], rtol=0, atol=8 * 40 * 2.0**-24
    )


def test_a_name_that_is_taken():
    model = model_of("Gemm", [NORMALIZED])
    model.graph.initializer.append(onnx.numpy_helper.from_array(numbers((2,)), "y.0"))
    model.graph.node.append(helper.make_node("Identity", ["y.0"], ["z"]))
    model.graph.output.append(helper.make_tensor_value_info("z", onnx.TensorProto.FLOAT, None))
    check(model)
