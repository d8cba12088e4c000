"""Models that state operators of quantized tensors in ways other than the usual one.

Whether operators become those of integers or stay, no model is refused, and results are those of
onnxruntime: both round the same number once, so that they may be one step apart.
"""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime
import pytest
from llvm_plugin import has_llvm
from onnx import TensorProto
from onnx.helper import make_graph, make_model, make_node, make_opsetid, make_tensor_value_info
from onnx.numpy_helper import from_array, to_array
from onnx.reference import ReferenceEvaluator

from texloom.onnx import Model
from texloom.onnx.quantized_nodes import with_integer_operators
from texloom.onnx.scope import Scope, versions_of

pytestmark = pytest.mark.skipif(not has_llvm(), reason="the LLVM plug-in is not built")

MICROSOFT = "com.microsoft"
SHAPES = {  # of the input and the weights
    "Conv": ((1, 6, 7, 8), (16, 6, 3, 3)),
    "MatMul": ((9, 24), (24, 16)),
    "Gemm": ((9, 24), (24, 16)),
}
TYPES = {"uint8": (0, 255), "int8": (-128, 127), "uint16": (0, 65535), "int16": (-32768, 32767)}
TYPES |= {"int4": (-8, 7), "uint4": (0, 15)}
ELEMENTS = {name: getattr(TensorProto, name.upper()) for name in TYPES}
ELEMENTS |= {"float32": TensorProto.FLOAT, "float16": TensorProto.FLOAT16}
ELEMENTS |= {"int32": TensorProto.INT32, "float8e4m3fn": TensorProto.FLOAT8E4M3FN}


class Net:
    """A model that is written node by node; constants become initializers or Constant nodes."""

    def __init__(self, opset, in_nodes):
        self.opset, self.in_nodes = opset, in_nodes
        self.nodes, self.constants = [], {}
        self.inputs, self.outputs = [], []

    def constant(self, name, array, dtype=None):
        if dtype in (None, "float32", "float16"):
            tensor = from_array(np.asarray(array, dtype), name)
        else:
            array = np.asarray(array)
            flat = array.reshape(-1)
            tensor = onnx.helper.make_tensor(name, ELEMENTS[dtype], array.shape, flat)
        if self.in_nodes:
            self.nodes.append(make_node("Constant", [], [name], value=tensor))
        else:
            self.constants[name] = tensor
        return name

    def add(self, op, inputs, output, **attributes):
        self.nodes.append(make_node(op, inputs, [output], name=f"{op}_{output}", **attributes))
        return output

    def input(self, name, dtype, shape):
        self.inputs.append(make_tensor_value_info(name, ELEMENTS[dtype], shape))
        return name

    def output(self, name, dtype):
        self.outputs.append(make_tensor_value_info(name, ELEMENTS[dtype], None))

    def model(self):
        graph = make_graph(self.nodes, "net", self.inputs, self.outputs)
        graph.initializer.extend(self.constants.values())
        imports = [make_opsetid("", self.opset), make_opsetid(MICROSOFT, 1)]
        return make_model(graph, opset_imports=imports, ir_version=9 if self.opset < 21 else 10)


def quantized_model(
    op,
    opset=17,
    in_nodes=False,
    left="uint8",
    right="int8",
    out="uint8",
    zeros=True,
    scales="tensor",
    bias=False,
    after="nothing",
    finish=True,
):
    """Return a model with QuantizeLinear and DequantizeLinear around an operator.

    `zeros` is whether nodes have zero points, or all but that of the weights; `scales` says which
    weights share one, and `finish` whether the result is quantized.
    """
    net = Net(opset, in_nodes)
    rng = np.random.default_rng(7)
    shape, weight_shape = SHAPES[op]
    x = net.input("x", "float32", shape)
    lowest, highest = TYPES[left]
    middle = (lowest + highest) // 2 if zeros else 0

    def zero(name, value, dtype):
        is_given = zeros is True or (zeros == "but for weights" and name != "wz")
        return [net.constant(name, value, dtype)] if is_given else []

    steps = 4 / (highest - lowest)
    given = [net.constant("s", np.float32(steps)), *zero("z", middle, left)]
    net.add("QuantizeLinear", [x, *given], "xq")
    if in_nodes:
        given = [net.constant("s_", np.float32(steps)), *zero("z_", middle, left)]
    net.add("DequantizeLinear", ["xq", *given], "xd")

    least, most = TYPES[right]
    w = rng.integers(max(least, -60), min(most, 120) + 1, weight_shape)
    channel = 0 if op == "Conv" else 1
    count = weight_shape[channel]
    axis = {"axis": channel} if scales == "channel" else {}
    if scales == "tensor":
        sizes = ()
    elif scales == "channel":
        sizes = (count,)
    elif scales == "other axis":
        axis = {"axis": 1 - channel}
        sizes = (weight_shape[1 - channel],)
    else:
        axis = {"axis": 1 - channel, "block_size": 3}
        sizes = list(weight_shape)
        sizes[1 - channel] //= 3
    ws = (rng.random(sizes) * 0.005 + 0.002).astype("float32") * np.float32(127 / min(most, 127))
    w_zero = np.full(sizes, (least + most + 1) // 2)
    given = [net.constant("w", w, right), net.constant("ws", ws)]
    net.add("DequantizeLinear", [*given, *zero("wz", w_zero, right)], "wd", **axis)
    factors = ["xd", "wd"]
    if bias:
        b = rng.integers(-2000, 2000, count)
        b_scale = (np.float32(steps) * ws).astype("float32")
        given = [net.constant("b", b, "int32"), net.constant("bs", b_scale)]
        factors.append(net.add("DequantizeLinear", given, "bd", **({"axis": 0} if axis else {})))
    attributes = {"pads": [1, 1, 1, 1]} if op == "Conv" else {}
    made = net.add(op, factors, "c" if finish or after != "nothing" else "y", **attributes)
    limited = "r" if finish else "y"
    if after == "relu":
        made = net.add("Relu", [made], limited)
    elif after == "clip":
        if opset < 11:
            made = net.add("Clip", [made], limited, min=-0.25, max=0.75)
        else:
            limits = [
                net.constant("low", np.float32(-0.25)),
                net.constant("high", np.float32(0.75)),
            ]
            made = net.add("Clip", [made, *limits], limited)
    if finish:
        low, high = TYPES.get(out, (0, 0))
        o_zero = zero("oz", (low + high) // 2 if out in TYPES else 0.0, out)
        given = [net.constant("os", np.float32(6 / (high - low or 6))), *o_zero]
        is_small = out == "uint4"  # which onnxruntime does not return
        net.add("QuantizeLinear", [made, *given], "q" if is_small else "y")
        if is_small:
            out = "int32"
            net.add("Cast", ["q"], "y", to=TensorProto.INT32)
    net.output("y", out if finish else "float32")
    return net


def pixels(net):
    """Return arrays for the inputs."""
    rng = np.random.default_rng(3)
    arrays = {}
    for each in net.inputs:
        kind = each.type.tensor_type
        shape = [d.dim_value for d in kind.shape.dim]
        arrays[each.name] = rng.uniform(-1.9, 1.9, shape).astype("float32")
        if each.name != "x":  # a scale
            arrays[each.name] = np.full(shape, 0.03, "float32")
    return arrays


def expected_of(model, arrays):
    """Return the results by onnxruntime; by ONNX's evaluator if onnxruntime lacks an operator."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    except onnxruntime.capi.onnxruntime_pybind11_state.NotImplemented:
        return ReferenceEvaluator(model).run(None, arrays)
    return session.run(None, arrays)


def check(net, arrays=None):
    """Compare all results; integers may be one step apart."""
    model = net.model()
    arrays = pixels(net) if arrays is None else arrays
    theirs = expected_of(model, arrays)
    ours = Model(model, "native").run(arrays)
    for each, expected in zip(model.graph.output, theirs, strict=True):
        found = ours[each.name]
        assert found.shape == expected.shape
        assert len(np.unique(expected.astype("float32"))) > 8
        if found.dtype.kind == "f":
            # A sum of at most 54 products, which are at most 2 * 120 * 0.007 each.
            bound = 54 * np.finfo(found.dtype).eps * 54 * 2 * 0.84
            np.testing.assert_allclose(found, expected, rtol=0, atol=bound)
        else:
            distance = np.abs(found.astype("int64") - expected.astype("int64"))
            assert distance.max() <= 1
            assert (distance > 0).mean() < 0.05


def operators_of(net, given=()):
    model = net.model()
    nodes = with_integer_operators(model.graph, Scope(versions_of(model.opset_import)), given)
    return {node.op_type for node in nodes}


INTEGERS = {"Conv": "QLinearConv", "MatMul": "QLinearMatMul", "Gemm": "QGemm"}
OPERATORS = list(INTEGERS)


@pytest.mark.parametrize("after", ["nothing", "relu", "clip"])
@pytest.mark.parametrize("op", OPERATORS)
@pytest.mark.parametrize("opset", [10, 11, 12, 13, 21])
def test_versions(opset, op, after):
    """Clip takes limits as inputs from version 11 on, and integers from 12 on."""
    net = quantized_model(op, opset, after=after, bias=op == "Gemm")
    check(net)
    if op != "Gemm" or opset > 10:  # its result may be float32
        takes_limits = after == "nothing" or opset >= 12
        assert (INTEGERS[op] in operators_of(net)) == takes_limits


@pytest.mark.parametrize("zeros", [True, False])
@pytest.mark.parametrize("scales", ["tensor", "channel"])
@pytest.mark.parametrize("after", ["nothing", "relu", "clip"])
@pytest.mark.parametrize("op", OPERATORS)
def test_constants_in_the_order_of_exporters(op, after, scales, zeros):
    """A scale stands just before the node that reads it, after the operator."""
    bias = op != "MatMul"
    net = quantized_model(op, in_nodes=True, zeros=zeros, scales=scales, bias=bias, after=after)
    check(net)
    assert INTEGERS[op] in operators_of(net)


@pytest.mark.parametrize("zeros", [False, "but for weights"])
@pytest.mark.parametrize("right", ["int8", "uint8"])
@pytest.mark.parametrize("finish", [True, False])
@pytest.mark.parametrize("op", OPERATORS)
def test_no_zero_points(op, finish, right, zeros):
    """A zero point that is left out is 0, of the type of the integers."""
    net = quantized_model(op, zeros=zeros, right=right, bias=op == "Gemm", finish=finish)
    check(net)
    is_made = finish or op != "Conv"
    made = INTEGERS[op] if finish or op != "MatMul" else "MatMulIntegerToFloat"
    assert (made in operators_of(net)) == is_made


KINDS = [  # of the input, the weights and the result
    ("uint8", "uint8", "int8"),
    ("int8", "uint8", "uint8"),
    ("int8", "int8", "uint8"),
    ("uint16", "int8", "uint16"),
    ("uint16", "uint8", "uint8"),
    ("int16", "int8", "int16"),
    ("uint8", "int16", "uint8"),
    ("int8", "int4", "int8"),
    ("uint8", "uint4", "uint8"),
    ("uint16", "int4", "uint16"),
    ("uint8", "int8", "uint16"),
    ("uint8", "int8", "int16"),
    ("uint8", "int8", "uint4"),
]


@pytest.mark.parametrize(("left", "right", "out"), KINDS)
@pytest.mark.parametrize("op", OPERATORS)
def test_types(op, out, right, left):
    """Only 8-bit integers are multiplied as such."""
    net = quantized_model(op, 21, left=left, right=right, out=out)
    check(net)
    made = operators_of(net) & {*INTEGERS.values(), "MatMulIntegerToFloat"}
    are_bytes = {left, right} <= {"uint8", "int8"}
    assert bool(made) == (are_bytes and (op != "Conv" or out in ("uint8", "int8")))


@pytest.mark.parametrize("scales", ["blocked", "other axis"])
@pytest.mark.parametrize("finish", [True, False])
@pytest.mark.parametrize("op", OPERATORS)
def test_scales_that_differ_within_a_sum(op, finish, scales):
    net = quantized_model(op, 21, scales=scales, finish=finish)
    check(net)
    assert not operators_of(net) & {*INTEGERS.values(), "MatMulIntegerToFloat"}


MOVED = [("uint8", True), ("int8", True), ("uint8", False)]  # integers, and their zero points
MOVED = [(opset, *each) for opset in (11, 12, 21) for each in MOVED]


@pytest.mark.parametrize(("opset", "dtype", "zeros"), [*MOVED, (21, "uint16", True)])
@pytest.mark.parametrize("same", [True, False])
@pytest.mark.parametrize("op", ["MaxPool", "Reshape", "Transpose", "Concat"])
def test_moves(op, same, opset, dtype, zeros):
    """MaxPool takes integers from version 12 on."""
    net = Net(opset, in_nodes=True)
    x = net.input("x", "float32", (1, 4, 6, 6))
    low, high = TYPES[dtype]
    middle = (low + high) // 2
    scale = np.float32(4 / (high - low))

    def steps(name, factor=1.0):
        zero = [net.constant(f"z{name}", middle, dtype)] if zeros else []
        return [net.constant(f"s{name}", scale * np.float32(factor)), *zero]

    net.add("QuantizeLinear", [x, *steps("0")], "xq")
    net.add("DequantizeLinear", ["xq", *steps("1")], "xd")
    if op == "Reshape":
        net.add(op, ["xd", net.constant("shape", np.array([4, 36]))], "c")
    elif op == "Concat":
        net.add(op, ["xd", "xd"], "c", axis=1)
    elif op == "MaxPool":
        net.add(op, ["xd"], "c", kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    else:
        net.add(op, ["xd"], "c", perm=[0, 2, 3, 1])
    net.add("QuantizeLinear", ["c", *steps("2", 1.0 if same else 1.5)], "y")
    net.output("y", dtype)
    check(net)
    if same and dtype != "uint16" and (op != "MaxPool" or opset >= 12):
        assert "DequantizeLinear" not in operators_of(net)


def test_float32_that_several_read():
    """The numbers are read by two operators, and are a result; so are integers."""
    net = quantized_model("Conv", in_nodes=True, bias=True, after="relu")
    net.add("Neg", ["xd"], "negated")
    net.add("DequantizeLinear", ["y", "os", "oz"], "numbers")
    for name in ("xd", "negated", "numbers"):
        net.output(name, "float32")
    model, arrays = net.model(), pixels(net)
    theirs, ours = expected_of(model, arrays), Model(model, "native").run(arrays)
    step = 6 / 255
    for each, expected in zip(model.graph.output, theirs, strict=True):
        most = {"y": 1, "numbers": 1.001 * step}.get(each.name, 1e-6)
        found = ours[each.name].astype("float64")
        np.testing.assert_allclose(found, expected.astype("float64"), rtol=0, atol=most)
    assert {"QLinearConv", "DequantizeLinear", "Neg"} <= operators_of(net)


@pytest.mark.parametrize("which", ["c", "r"])
@pytest.mark.parametrize("op", OPERATORS)
def test_numbers_between_that_are_results(op, which):
    net = quantized_model(op, after="relu")
    net.output(which, "float32")
    check(net)
    assert INTEGERS[op] not in operators_of(net) or op == "Gemm"


@pytest.mark.parametrize("name", ["s", "ws", "os"])
@pytest.mark.parametrize("op", OPERATORS)
def test_scales_that_are_inputs(op, name):
    net = quantized_model(op)
    del net.constants[name]
    net.input(name, "float32", ())
    check(net)


@pytest.mark.parametrize("op", OPERATORS)
def test_scales_of_float16(op):
    """All numbers are float16: their sums are rounded, by programs in different orders."""
    net = Net(19, in_nodes=False)
    shape, weight_shape = SHAPES[op]
    x = net.input("x", "float32", shape)
    net.add("Cast", [x], "half", to=TensorProto.FLOAT16)
    given = [net.constant("s", np.float16(0.0156)), net.constant("z", 128, "uint8")]
    net.add("QuantizeLinear", ["half", *given], "xq")
    net.add("DequantizeLinear", ["xq", *given], "xd")
    w = np.random.default_rng(1).integers(-60, 61, weight_shape)
    given = [net.constant("w", w, "int8"), net.constant("ws", np.float16(0.005))]
    net.add("DequantizeLinear", given, "wd")
    net.add(op, ["xd", "wd"], "c")
    given = [net.constant("os", np.float16(0.0625)), net.constant("oz", 128, "uint8")]
    net.add("QuantizeLinear", ["c", *given], "y")
    net.output("y", "uint8")
    model, arrays = net.model(), pixels(net)
    (theirs,) = expected_of(model, arrays)
    ours = Model(model, "native").run(arrays)["y"]
    assert np.abs(ours.astype(int) - theirs.astype(int)).max() <= 1
    assert not operators_of(net) & {*INTEGERS.values(), "MatMulIntegerToFloat"}


@pytest.mark.parametrize("op", OPERATORS)
def test_results_of_float8(op):
    net = quantized_model(op, 19, out="float8e4m3fn")
    model, arrays = net.model(), pixels(net)
    (theirs,) = expected_of(model, arrays)
    ours = Model(model, "native").run(arrays)["y"]
    theirs, ours = (np.asarray(a).view("uint8").astype(int) for a in (theirs, ours))
    same_sign = (theirs < 128) == (ours < 128)
    assert np.where(same_sign, np.abs(theirs - ours), 0).max() <= 1
    assert same_sign.mean() > 0.99


VECTORS = {"left": ((24,), (24, 16)), "right": ((9, 24), (24,)), "both": ((24,), (24,))}
VECTORS["a stack"] = ((9, 24), (3, 24, 16))


@pytest.mark.parametrize("case", VECTORS)
@pytest.mark.parametrize("finish", [True, False])
def test_products_of_vectors_and_stacks(finish, case, monkeypatch):
    monkeypatch.setitem(SHAPES, "MatMul", VECTORS[case])
    net = quantized_model("MatMul", finish=finish) if len(VECTORS[case][1]) > 1 else None
    if net is None:
        monkeypatch.setitem(SHAPES, "MatMul", (VECTORS[case][0], (24, 1)))
        net = quantized_model("MatMul", finish=finish)
        w = to_array(net.constants["w"]).reshape(24)
        net.constants["w"] = from_array(w, "w")
    model, arrays = net.model(), pixels(net)
    (theirs,) = expected_of(model, arrays)
    ours = Model(model, "native").run(arrays)["y"]
    assert ours.shape == theirs.shape
    most = 1 if finish else 1e-3
    np.testing.assert_allclose(ours.astype(float), theirs.astype(float), rtol=0, atol=most)


@pytest.mark.parametrize("name", ["s", "ws", "os"])
@pytest.mark.parametrize("number", [np.nan, np.inf, -0.02, 0.0])
def test_scales_that_do_not_order(number, name):
    """Integers fall as numbers rise where a scale is negative: no operator becomes one of them."""
    net = quantized_model("Conv", after="relu")
    net.constants[name] = from_array(np.float32(number), name)
    assert "QLinearConv" not in operators_of(net)


def test_a_negative_scale():
    net = quantized_model("Conv", after="relu")
    net.constants["os"] = from_array(np.float32(-6 / 255), "os")
    check(net)


def test_limits_that_are_no_numbers():
    net = quantized_model("Conv", after="clip")
    net.constants["low"] = from_array(np.float32(np.nan), "low")
    assert "QLinearConv" not in operators_of(net)
    net.constants["low"] = from_array(np.float32(-np.inf), "low")
    check(net)
    assert "QLinearConv" in operators_of(net)


def test_sums_that_int32_does_not_hold():
    """A bias near the end of int32, plus the products: float32 has the number, int32 has not."""
    net = quantized_model("Conv", bias=True)
    big = to_array(net.constants["b"]).copy()
    big[::2] = 2**31 - 1
    net.constants["b"] = from_array(big, "b")
    check(net)
    assert "QLinearConv" not in operators_of(net)


def test_names_that_the_model_has():
    """Names of nodes that are made differ from those of the model."""
    net = quantized_model("Conv", zeros=False, after="clip")
    for name in ("y.least", "y.most", "y.unlimited", "xd.zero", "wd.zero"):
        net.add("Neg", ["x"], name)
        net.output(name, "float32")
    check(net)
    assert "QLinearConv" in operators_of(net)


@pytest.mark.parametrize("given", ["::Conv", "::QLinearConv", "::Relu", "::QuantizeLinear"])
def test_operators_that_the_user_defines(given):
    net = quantized_model("Conv", after="relu")
    assert "QLinearConv" in operators_of(net)
    assert "QLinearConv" not in operators_of(net, {given})


def test_made_nodes_that_are_refused(monkeypatch):
    """A node that the importer made is none of the user's: the model's own nodes are imported."""
    from texloom.onnx import importer

    def broken(graph, scope, given):
        nodes = with_integer_operators(graph, scope, given)
        for node in nodes:
            if node.op_type == "QLinearConv":
                node.input[3] = "nothing"
        return nodes

    monkeypatch.setattr(importer, "with_integer_operators", broken)
    check(quantized_model("Conv"))


def test_computed_weights():
    """Weights that a run quantizes have one scale."""
    net = quantized_model("Conv")
    net.constants["w32"] = from_array(to_array(net.constants["w"]).astype("float32") * 0.01, "w32")
    del net.constants["w"]
    net.nodes.insert(0, make_node("QuantizeLinear", ["w32", "ws", "wz"], ["w"]))
    net.nodes.insert(0, make_node("Add", ["w32", "x1"], ["unused"]))
    net.constants["x1"] = from_array(np.float32(1), "x1")
    check(net)
