"""Scales and shifts of channels are folded into the weights of the operator before them."""

import re

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper

from texloom.graph import Graph
from texloom.onnx.importer import Importer
from texloom.onnx.model import Model
from texloom.ops.convolution import convolution
from texloom.ops.elementwise import add, multiply
from texloom.ops.movement import depth_to_space, transpose

GENERATOR = np.random.default_rng(7)
CHANNELS = 6
NORMALIZED = ("BatchNormalization", [(CHANNELS,)] * 4)


def numbers(shape):
    return GENERATOR.uniform(0.5, 1.5, shape).astype("float32")


def model_of(producer, scales, outputs=("y",), bias=True, **attributes):
    """Return a model: a node with constant weights, then nodes with constants of given shapes."""
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


def operators(model, passes=("remove_dead_nodes", "fold_scales")):
    """Return the names of the operators of a model's graph after the passes."""
    imported = Importer(model, {}, {})
    imported.run()
    for value in imported.outputs:
        imported.graph.output(value.tensor)
    return re.findall(r'operator \S+ op="(\w+)"', imported.graph.text(passes=passes))


def check(model):
    x = numbers([d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]) - 1
    got = Model(model).run({"x": x})
    for array, expected in zip(got.values(), unfolded(model, x), strict=True):
        # Each result adds up at most 24 terms below 1; factors are below 4 and are rounded twice.
        np.testing.assert_allclose(array, expected, rtol=16 * 2.0**-24, atol=8 * 40 * 2.0**-24)


def unfolded(model, x):
    """Return onnxruntime's outputs, without its optimizations."""
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
    assert len(operators(model)) == 1
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
    assert operators(model) == operators(model, passes=("remove_dead_nodes",))
    check(model)


def test_numbers_that_would_become_infinite_are_kept():
    model = model_of("Gemm", [("Mul", [()])])
    (scale,) = (each for each in model.graph.initializer if each.name.startswith("c"))
    scale.CopyFrom(onnx.numpy_helper.from_array(np.float32(3e38), scale.name))
    (weight,) = (each for each in model.graph.initializer if each.name == "w")
    weight.CopyFrom(onnx.numpy_helper.from_array(np.full((8, CHANNELS), 3, "float32"), "w"))
    assert operators(model) == ["gemm", "mul"]


def test_constants_among_nodes():
    """Some exporters write weights as Constant nodes, which are folded, too."""
    model = model_of("Conv", [NORMALIZED], group=2)
    graph = model.graph
    nodes = [helper.make_node("Constant", [], [t.name], value=t) for t in graph.initializer]
    nodes += graph.node
    del graph.node[:], graph.initializer[:]
    graph.node.extend(nodes)
    assert operators(model) == ["conv"]
    x = numbers((2, 8, 5, 4)) - 1
    np.testing.assert_allclose(
        Model(model).run({"x": x})["y"], unfolded(model, x)[0], rtol=0, atol=8 * 40 * 2.0**-24
    )


def graph_of(*functions, shape=(1, 8, 4, 4)):
    """Return a graph: a 1 x 1 convolution without a bias, then a chain of the functions."""
    g = Graph()
    x = g.input("x", shape)
    w = g.constant("w", numbers((8, 8, 1, 1)))
    (value,) = g.op("conv", "conv", convolution, [x, w])
    for i, (function, array) in enumerate(functions):
        inputs = [value] if array is None else [value, g.constant(f"c{i}", array)]
        (value,) = g.op(f"n{i}", "op", function, inputs)
    g.output(value)
    return g


def kept(g):
    """Return the operators that remain after the pass; check that it changes no result."""
    x = numbers(g.inputs[0].shape)
    outputs = [list(g.compile(passes=p).run({"x": x}).values())[0] for p in (("fold_scales",), ())]
    np.testing.assert_allclose(*outputs, rtol=1e-5)
    return re.findall(r"operator (\S+)", g.text(passes=("fold_scales",)))


def blocks(x):
    """Make channels pixels."""
    return depth_to_space(x, 2)


def test_graphs_are_folded_as_models_are():
    """A sum and a product per channel are folded; the new bias gets a name."""
    g = graph_of((add, numbers((8, 1, 1))), (multiply, numbers((1, 8, 1, 1))))
    assert kept(g) == ["conv"]
    text = g.text(passes=("fold_scales",))
    assert "constant w: float32[8, 8, 1, 1]" in text and "constant w.bias: float32[8]" in text


def test_a_name_that_is_taken():
    g = graph_of((add, numbers((8, 1, 1))))
    (other,) = g.op("other", "add", add, [g.inputs[0], g.constant("w.bias", numbers((8, 1, 1)))])
    g.output(other)
    assert "constant w.bias_2: float32[8]" in g.text(passes=("fold_scales",))


def test_through_what_moves_channels():
    """Two factors after depth-to-space are folded into the convolution's 8 channels."""
    assert kept(graph_of((blocks, None), (multiply, numbers((2, 1, 1))))) == ["conv", "n0"]


def test_other_movements_stay():
    """Channels move to the last axis, but the factors lie along another axis, so they stay."""
    last = np.float32(numbers((4, 1, 1)))
    moved = graph_of((lambda x: transpose(x, [0, 2, 3, 1]), None), (multiply, last))
    assert kept(moved) == ["conv", "n0", "n1"]


@pytest.mark.parametrize("axis", [1, 2, 3])
def test_the_first_elements_are_not_a_scale(axis):
    """A slice from the beginning has the indices of its input, but fewer."""
    graph = onnx.parser.parse_model("""<ir_version: 9, opset_import: ["" : 20]>
        sliced (float[2, 8, 5, 4] x, float[6, 8, 2, 2] w, float[6] b) => (float[?] y) {
            a = Conv(x, w, b) y = Slice(a, zero, last, axis) }""").graph
    del graph.input[1:]
    given = {"w": numbers((6, 8, 2, 2)), "b": numbers(6), "zero": np.array([0])}
    given |= {"last": np.array([-1]), "axis": np.array([axis])}
    graph.initializer.extend(onnx.numpy_helper.from_array(v, n) for n, v in given.items())
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    x = numbers((2, 8, 5, 4))
    session = onnxruntime.InferenceSession(model.SerializeToString())
    (expected,) = session.run(None, {"x": x})
    np.testing.assert_allclose(Model(model).run({"x": x})["y"], expected, rtol=1e-5)


def test_weights_that_others_read_stay_for_them():
    g = graph_of((multiply, numbers((8, 1, 1))))
    (other,) = g.op(
        "other", "conv", convolution, [g.inputs[0], g.constant("v", numbers((8, 8, 1, 1)))]
    )
    g.output(other)
    assert kept(g) == ["conv", "other"]
