"""Products of 8-bit integers in native code: exact for every shape, type and zero point.

Sums of integers have one right value, so results must be equal: to NumPy's, and, of models that
state scales, to onnxruntime's. Weights are so small that its sums do not saturate without VNNI.
"""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime
import pytest
from llvm_plugin import has_llvm
from onnx import TensorProto
from onnx.helper import make_graph, make_model, make_node, make_opsetid, make_tensor_value_info
from onnx.numpy_helper import from_array
from onnx.reference import ReferenceEvaluator

from texloom.onnx import Model
from texloom.onnx.quantized_nodes import with_integer_operators
from texloom.onnx.scope import Scope, versions_of

pytestmark = pytest.mark.skipif(not has_llvm(), reason="the LLVM plug-in is not built")

TARGETS = ["native", *(pytest.param(n, marks=pytest.mark.nightly) for n in ("haswell", "generic"))]
TYPES = {"uint8": TensorProto.UINT8, "int8": TensorProto.INT8, "float32": TensorProto.FLOAT}
TYPES["int32"] = TensorProto.INT32


def drawn(shape, dtype, most=None, seed=0):
    info = np.iinfo(dtype)
    low, high = (info.min, info.max) if most is None else (-most, most)
    return np.random.default_rng((seed, *shape)).integers(low, high + 1, shape).astype(dtype)


def model_of(nodes, constants, x, dtype, name="y"):
    """A model of nodes that read `x`; the rank of its result is open."""
    given = make_tensor_value_info("x", TYPES[str(x.dtype)], x.shape)
    made = make_tensor_value_info(name, TYPES[dtype], None)
    graph = make_graph(nodes, "net", [given], [made])
    graph.initializer.extend(from_array(np.asarray(a), n) for n, a in constants.items())
    imports = [make_opsetid("", 17), make_opsetid("com.microsoft", 1)]
    return make_model(graph, opset_imports=imports, ir_version=9)


def result(model, x, target):
    return Model(model, target).run({"x": x})["y"]


def of_onnxruntime(model, x, optimized=True):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    if not optimized:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(model.SerializeToString(), options).run(None, {"x": x})[0]


def operators_of(model):
    """The operators of a model in which integers are multiplied as such."""
    scope = Scope(versions_of(model.opset_import))
    return {node.op_type for node in with_integer_operators(model.graph, scope)}


PRODUCTS = {
    # rows, steps and columns; words, vectors and tiles divide none of the second shape
    "whole": (32, 64, 96),
    "odd": (37, 35, 43),
    "one row": (1, 130, 64),
    "one step": (9, 1, 16),
    "few columns": (6, 20, 3),
    "long": (5, 4100, 16),
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize("shape", PRODUCTS.values(), ids=list(PRODUCTS))
def test_products_of_matrices(shape, dtype, target):
    rows, steps, columns = shape
    x, w = drawn((rows, steps), dtype), drawn((steps, columns), "int8")
    zero, zeros = np.array(113 if dtype == "uint8" else -7, dtype), np.zeros(columns, "int8")
    node = make_node("MatMulInteger", ["x", "w", "zero", "zeros"], ["y"])
    model = model_of([node], {"w": w, "zero": zero, "zeros": zeros}, x, "int32")
    expected = (x.astype("int64") - int(zero)) @ w.astype("int64")
    np.testing.assert_array_equal(result(model, x, target), expected)


@pytest.mark.parametrize("b_zero", [128, 100])
@pytest.mark.parametrize("b_dtype", ["uint8", "int8"])
def test_zero_points_of_the_right_side(b_dtype, b_zero):
    """int8 holds the integers less a zero point of 128, but not those less 100."""
    x = drawn((7, 40), "uint8")
    w, zero = drawn((40, 32), b_dtype), np.array(b_zero if b_dtype == "uint8" else 5, b_dtype)
    node = make_node("MatMulInteger", ["x", "w", "", "zero"], ["y"])
    model = model_of([node], {"w": w, "zero": zero}, x, "int32")
    expected = x.astype("int64") @ (w.astype("int64") - int(zero))
    np.testing.assert_array_equal(result(model, x, "native"), expected)


CONVOLUTIONS = {
    # input channels, weights, attributes
    "picture": (3, (16, 3, 3, 3), {"pads": [1, 1, 1, 1], "strides": [2, 2]}),
    "1x1": (24, (40, 24, 1, 1), {}),
    "1x1 of odd channels": (13, (16, 13, 1, 1), {}),
    "3x3": (8, (24, 8, 3, 3), {"pads": [1, 1, 1, 1]}),
    "odd": (7, (9, 7, 3, 2), {"pads": [2, 0, 1, 1], "dilations": [2, 1]}),
    "rows that only padding meets": (8, (24, 8, 3, 3), {"dilations": [9, 1], "pads": [9, 1, 9, 1]}),
    "groups": (12, (16, 6, 3, 3), {"group": 2, "pads": [1, 1, 1, 1]}),
    "groups of whole words": (16, (32, 8, 3, 3), {"group": 2, "strides": [2, 1]}),
    "depthwise": (16, (16, 1, 3, 3), {"group": 16, "pads": [1, 1, 1, 1], "strides": [2, 2]}),
    "single channels": (4, (8, 1, 3, 3), {"group": 4}),
}


def convolution(case, dtype, wide):
    channels, shape, attributes = CONVOLUTIONS[case]
    x, w = drawn((2, channels, 9, 11), dtype), drawn(shape, "int8")
    zero = np.array(90 if dtype == "uint8" else -7, dtype)
    if not wide:
        w //= 2
    return x, w, zero, attributes


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize("case", CONVOLUTIONS)
def test_convolutions(case, dtype, target):
    x, w, zero, attributes = convolution(case, dtype, wide=True)
    node = make_node("ConvInteger", ["x", "w", "zero"], ["y"], **attributes)
    model = model_of([node], {"w": w, "zero": zero}, x, "int32")
    plain = make_node("Conv", ["x", "w"], ["y"], **attributes)
    reference = model_of([plain], {"w": w.astype("float64")}, x.astype("float32"), "float32")
    reference.graph.input[0].type.tensor_type.elem_type = TensorProto.DOUBLE
    reference.graph.output[0].type.tensor_type.elem_type = TensorProto.DOUBLE
    whole = {"x": x.astype("float64") - int(zero)}
    expected = ReferenceEvaluator(reference).run(None, whole)[0]
    np.testing.assert_array_equal(result(model, x, target), expected)


def test_an_open_zero_point():
    """The zero point of DynamicQuantizeLinear is known at a run."""
    x = np.random.default_rng(0).standard_normal((6, 20)).astype("float32")
    w = drawn((20, 24), "int8", 60)
    nodes = [
        make_node("DynamicQuantizeLinear", ["x"], ["q", "scale", "zero"]),
        make_node("MatMulInteger", ["q", "w", "zero"], ["y"]),
    ]
    model = model_of(nodes, {"w": w}, x, "int32")
    np.testing.assert_array_equal(result(model, x, "native"), of_onnxruntime(model, x))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("case", CONVOLUTIONS)
def test_convolutions_of_wide_weights(case, target):
    """int8 does not hold the weights less their zero point, and that of the pixels is open."""
    channels, shape, attributes = CONVOLUTIONS[case]
    x = np.random.default_rng(0).standard_normal((2, channels, 9, 11)).astype("float32")
    w, w_zero = drawn(shape, "uint8"), np.array(100, "uint8")
    nodes = [
        make_node("DynamicQuantizeLinear", ["x"], ["q", "scale", "zero"]),
        make_node("ConvInteger", ["q", "w", "zero", "w_zero"], ["y"], **attributes),
    ]
    model = model_of(nodes, {"w": w, "w_zero": w_zero}, x, "int32")
    np.testing.assert_array_equal(result(model, x, target), of_onnxruntime(model, x))


def quantized(dtype, scale=0.05, zero=3):
    return np.float32(scale), np.array(zero, dtype)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize("case", CONVOLUTIONS)
def test_qlinear_conv(case, dtype, target):
    x, w, zero, attributes = convolution(case, dtype, wide=False)
    rng = np.random.default_rng(1)
    constants = {"s": np.float32(0.02), "z": zero, "w": w, "wz": np.zeros(len(w), "int8")}
    constants["ws"] = (rng.random(len(w)) * 0.01 + 0.001).astype("float32")
    constants["os"], constants["oz"] = quantized(dtype, 0.2)
    constants["b"] = rng.integers(-3000, 3000, len(w)).astype("int32")
    names = ["x", "s", "z", "w", "ws", "wz", "os", "oz", "b"]
    model = model_of([make_node("QLinearConv", names, ["y"], **attributes)], constants, x, dtype)
    ours = result(model, x, target)
    assert len(np.unique(ours)) > 20
    np.testing.assert_array_equal(ours, of_onnxruntime(model, x))


def test_qlinear_matmul():
    x, w = drawn((19, 50), "uint8"), drawn((50, 30), "int8", 60)
    constants = {"s": np.float32(0.02), "z": np.array(7, "uint8"), "w": w}
    constants |= {"ws": np.float32(0.003), "wz": np.array(0, "int8")}
    constants["os"], constants["oz"] = quantized("uint8", 0.1, 128)
    node = make_node("QLinearMatMul", ["x", "s", "z", "w", "ws", "wz", "os", "oz"], ["y"])
    model = model_of([node], constants, x, "uint8")
    ours = result(model, x, "native")
    assert len(np.unique(ours)) > 20
    np.testing.assert_array_equal(ours, of_onnxruntime(model, x))


def around(operator, constants, dtype, after=()):
    """QuantizeLinear and DequantizeLinear around an operator of `x` and the integers `w`."""
    constants |= {"s": np.float32(0.02), "z": np.array(13, dtype)}
    constants["s2"], constants["z2"] = quantized(dtype)
    inputs = ["xd", "wd"]
    nodes = [
        make_node("QuantizeLinear", ["x", "s", "z"], ["xq"]),
        make_node("DequantizeLinear", ["xq", "s", "z"], ["xd"]),
        make_node("DequantizeLinear", ["w", "ws", "wz"], ["wd"], axis=0),
    ]
    if "b" in constants:
        constants["bs"] = (constants["s"] * constants["ws"]).astype("float32")
        nodes.append(make_node("DequantizeLinear", ["b", "bs"], ["bd"], axis=0))
        inputs.append("bd")
    operator.input.extend(inputs)
    chain = [operator, *after]
    for before, each in zip(chain, chain[1:], strict=False):
        each.input.insert(0, before.output[0])
    last = make_node("QuantizeLinear", [chain[-1].output[0], "s2", "z2"], ["y"])
    return [*nodes, *chain, last]


def weights(shape, seed=2):
    rng = np.random.default_rng(seed)
    w = {"w": rng.integers(-60, 61, shape).astype("int8"), "wz": np.zeros(shape[0], "int8")}
    w["ws"] = (rng.random(shape[0]) * 0.01 + 0.003).astype("float32")
    return w


AFTER = {
    "nothing": [],
    "relu": [make_node("Relu", [], ["r"])],
    "clip": [make_node("Clip", ["least", "most"], ["r"])],
}


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize("after", AFTER)
def test_convolutions_between_quantizations(after, dtype):
    x = np.random.default_rng(3).standard_normal((1, 6, 9, 10)).astype("float32")
    constants = weights((24, 6, 3, 3))
    constants["b"] = np.random.default_rng(4).integers(-2000, 2000, 24).astype("int32")
    constants |= {"least": np.float32(0), "most": np.float32(2)}
    chain = [onnx.NodeProto.FromString(each.SerializeToString()) for each in AFTER[after]]
    conv = make_node("Conv", [], ["c"], pads=[1, 1, 1, 1])
    model = model_of(around(conv, constants, dtype, chain), constants, x, dtype)
    ours = result(model, x, "native")
    assert len(np.unique(ours)) > 20
    np.testing.assert_array_equal(ours, of_onnxruntime(model, x))
    assert operators_of(model) - {"Constant", "Clip"} == {"QuantizeLinear", "QLinearConv"}


def test_matrices_between_quantizations():
    x = np.random.default_rng(3).standard_normal((9, 36)).astype("float32")
    constants = weights((36, 24)) | {"ws": np.float32(0.01), "wz": np.array(0, "int8")}
    nodes = around(make_node("MatMul", [], ["c"]), constants, "uint8")
    model = model_of(nodes, constants, x, "uint8")
    ours = result(model, x, "native")
    assert len(np.unique(ours)) > 20
    np.testing.assert_array_equal(ours, of_onnxruntime(model, x))
    assert operators_of(model) == {"QuantizeLinear", "QLinearMatMul"}


def others():
    """Models whose convolution is none of integers: each has something that is not constant."""
    x = np.random.default_rng(3).standard_normal((1, 6, 9, 10)).astype("float32")

    def model(change=lambda constants, nodes: None):
        constants = weights((24, 6, 3, 3))
        nodes = around(make_node("Conv", [], ["c"]), constants, "uint8")
        change(constants, nodes)
        return model_of(nodes, constants, x, "uint8"), x

    def several_scales(constants, nodes):
        constants["s"], constants["z"] = np.full(6, 0.02, "float32"), np.full(6, 13, "uint8")

    def computed_scale(constants, nodes):
        constants["half"] = np.float32(0.01)
        del constants["s"]
        nodes.insert(0, make_node("Add", ["half", "half"], ["s"]))

    def inputs_of_output_too(constants, nodes):
        nodes.append(make_node("Identity", ["c"], ["unused"]))

    return {
        "several scales": model(several_scales),
        "a computed scale": model(computed_scale),
        "another reader of the numbers": model(inputs_of_output_too),
    }


@pytest.mark.parametrize(
    "case", ["several scales", "a computed scale", "another reader of the numbers"]
)
def test_other_convolutions_stay(case):
    model, x = others()[case]
    assert "QLinearConv" not in operators_of(model)
    ours, theirs = result(model, x, "native"), of_onnxruntime(model, x, optimized=False)
    # Sums of numbers are rounded, so that a result may be one step away.
    assert abs(ours.astype(int) - theirs.astype(int)).max() <= 1


def test_other_targets_compute_numbers():
    """OpenCL has no instruction for words: a convolution stays one of float32."""
    x = np.random.default_rng(3).standard_normal((1, 6, 9, 10)).astype("float32")
    constants = weights((24, 6, 3, 3))
    model = model_of(
        around(make_node("Conv", [], ["c"]), constants, "uint8"), constants, x, "uint8"
    )
    words = "DequantizeLinear of the input and the weights"
    assert str(Model(model, "opencl")).count("node xd"), words
    assert not str(Model(model, "native")).count("node xd"), words


@pytest.mark.parametrize("steps", [32, 7, 1])
@pytest.mark.parametrize("types", [("uint8", "uint8"), ("uint8", "int8"), ("int8", "int8")])
def test_two_computed_factors(types, steps):
    """As in attention: neither side is a constant, and both have zero points."""
    x = drawn((2, 3, 9, steps), types[0])
    other = drawn((2, 3, steps, 24), types[1], seed=5)
    zeros = {"az": np.array(11, types[0]), "bz": np.array(9, types[1])}
    node = make_node("MatMulInteger", ["x", "w", "az", "bz"], ["y"])
    model = model_of([node], zeros, x, "int32")
    model.graph.input.append(make_tensor_value_info("w", TYPES[types[1]], other.shape))
    expected = (x.astype("int64") - 11) @ (other.astype("int64") - 9)
    found = Model(model, "native").run({"x": x, "w": other})["y"]
    np.testing.assert_array_equal(found, expected)


MOVES = {
    "reshape": (make_node("Reshape", ["shape"], ["c"]), 1),
    "transpose": (make_node("Transpose", [], ["c"], perm=[0, 2, 3, 1]), 1),
    "largest": (make_node("MaxPool", [], ["c"], kernel_shape=[3, 3], pads=[1, 1, 1, 1]), 1),
    "joined": (make_node("Concat", [], ["c"], axis=1), 2),
}


@pytest.mark.parametrize("same", [True, False])
@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize("case", MOVES)
def test_moves_between_quantizations(case, dtype, same):
    """Integers move; those of another scale are quantized again before."""
    x = np.random.default_rng(6).standard_normal((1, 8, 6, 6)).astype("float32")
    kept, count = MOVES[case]
    node = onnx.NodeProto.FromString(kept.SerializeToString())
    constants = {"s0": np.float32(0.02), "z0": np.array(13, dtype), "shape": np.array([4, 72])}
    constants |= {"s1": np.float32(0.05), "z1": np.array(2, dtype)}
    last = ["s0", "z0"] if same else ["s1", "z1"]
    nodes = []
    for i in range(count):
        scale = [f"s{i}", f"z{i}"]
        nodes.append(make_node("QuantizeLinear", ["x", *scale], [f"q{i}"]))
        nodes.append(make_node("DequantizeLinear", [f"q{i}", *scale], [f"d{i}"]))
    for i in reversed(range(count)):
        node.input.insert(0, f"d{i}")
    model = model_of(
        [*nodes, node, make_node("QuantizeLinear", ["c", *last], ["y"])], constants, x, dtype
    )
    ours = result(model, x, "native")
    assert len(np.unique(ours)) > 20
    np.testing.assert_array_equal(ours, of_onnxruntime(model, x, optimized=False))
    if count == 1 and same:
        assert operators_of(model) == {"QuantizeLinear", node.op_type}
