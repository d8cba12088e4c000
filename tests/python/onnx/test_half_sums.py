"""Sums that exporters wrote as single nodes, in models whose tensors are stored as float16.

The results are those of the operators: squares, products and exponentials are added up in float32.
"""

import numpy as np
import onnx
import pytest
from onnx import helper

from texloom.onnx.model import Model

ROUNDING = 2.0**-11  # the relative error of a number that becomes a float16

X = np.random.default_rng(0).standard_normal((4, 64)).astype("float32")
X[:, 3] = 800  # its square is infinite in float16
CONSTANTS = {
    "two": np.float32(2),
    "epsilon": np.float32(1e-5),
    "scale": np.linspace(0.5, 2, 64, dtype="float32"),
    "shift": np.linspace(-1, 1, 64, dtype="float32"),
}
CENTERED = "mean = ReduceMean(x); d = Sub(x, mean)"
NORMALIZED = "v = ReduceMean(p); w = Add(v, epsilon); s = Sqrt(w); n = Div(d, s)"
PATTERNS = {
    "power": f"{CENTERED}; p = Pow(d, two); {NORMALIZED}; y = Identity(n)",
    "product": f"{CENTERED}; p = Mul(d, d); {NORMALIZED}; y = Identity(n)",
    "affine": f"{CENTERED}; p = Pow(d, two); {NORMALIZED}; t = Mul(n, scale); y = Add(t, shift)",
    "two squares": "mean = ReduceMean(x); q = Mul(x, x); m = ReduceMean(q); r = Mul(mean, mean);"
    "v = Sub(m, r); w = Add(v, epsilon); s = Sqrt(w); d = Sub(x, mean); y = Div(d, s)",
    "reciprocal": f"{CENTERED}; p = Mul(d, d); v = ReduceMean(p); w = Add(v, epsilon);"
    "s = Sqrt(w); r = Reciprocal(s); y = Mul(d, r)",
    "root mean square": "p = Pow(x, two); v = ReduceMean(p); w = Add(v, epsilon); s = Sqrt(w);"
    "n = Div(x, s); y = Mul(n, scale)",
    "norm": "p = Mul(x, x); v = ReduceSum(p); s = Sqrt(v); y = Div(x, s)",
    "operator of a norm": "s = ReduceL2(x); y = Div(x, s)",
    "operator of squares": "v = ReduceSumSquare(x); s = Sqrt(v); y = Div(x, s)",
}


def model_of(text, opset=17):
    """Return a model of x, with a statement `output = Operator(inputs)` for each node."""
    nodes = []
    for statement in text.split(";"):
        output, call = statement.split("=")
        op, inputs = call.strip(" )").split("(")
        reduces = {"axes": [-1]} if op.startswith("Reduce") and op != "ReduceSum" else {}
        names = [each.strip() for each in inputs.split(",")]
        names += ["last"] if op == "ReduceSum" else []
        nodes.append(helper.make_node(op, names, [output.strip()], **reduces))
    values = {**CONSTANTS, "last": np.array([-1])}
    shape = [helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, X.shape) for n in "xy"]
    constants = [onnx.numpy_helper.from_array(np.asarray(a), name) for name, a in values.items()]
    graph = helper.make_graph(nodes, "sums", shape[:1], shape[1:], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)


def expected(name):
    x = X.astype("float64")
    if "norm" in name or "squares" in name and "operator" in name:
        return x / np.sqrt((x * x).sum(-1, keepdims=True))
    if name == "root mean square":
        n = x / np.sqrt((x * x).mean(-1, keepdims=True) + CONSTANTS["epsilon"])
        return n * CONSTANTS["scale"]
    n = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + CONSTANTS["epsilon"])
    return n * CONSTANTS["scale"] + CONSTANTS["shift"] if name == "affine" else n


@pytest.mark.parametrize("storage", ["buffer", "texture"])
@pytest.mark.parametrize("name", PATTERNS)
def test_normalizations(name, storage):
    """An input of 800 is normalized as in float32, but for the roundings of two stored tensors."""
    got = Model(model_of(PATTERNS[name]), storage=storage, precision="fp16").run({"x": X})["y"]
    want = expected(name)
    assert np.abs(got - want).max() <= 2 * ROUNDING * np.abs(want).max()


@pytest.mark.parametrize("storage", ["buffer", "texture"])
def test_exponentials(storage):
    """A softmax without a maximum, whose exponentials are infinite in float16."""
    text = "e = Exp(x); s = ReduceSum(e); y = Div(e, s)"
    x = np.clip(X, -20, 20)
    got = Model(model_of(text), storage=storage, precision="fp16").run({"x": x})["y"]
    e = np.exp(x.astype("float64"))
    np.testing.assert_allclose(got, e / e.sum(-1, keepdims=True), atol=2 * ROUNDING)


def test_large_sums():
    """A sum that is infinite in float16 is a number when it is divided."""
    text = "s = ReduceSum(x); m = Mul(s, s); r = Sqrt(m); y = Div(x, r)"
    x = np.full_like(X, 2000)
    got = Model(model_of(text), precision="fp16").run({"x": x})["y"]
    np.testing.assert_allclose(got, 1 / 64, rtol=2 * ROUNDING)


def split_model(first, last, dtypes, shape=(4, 8), **attributes):
    """Return a model whose node `last` reads each of two halves of what the node `first` makes."""
    given, made = dtypes
    nodes = [
        first,
        helper.make_node("Split", ["f"], ["a", "b"], axis=0),
        *[
            helper.make_node(last, [part], [y], **attributes)
            for part, y in (("a", "y"), ("b", "z"))
        ],
    ]
    inputs = [helper.make_tensor_value_info("x", given, shape)]
    outputs = [helper.make_tensor_value_info(name, made, None) for name in "yz"]
    graph = helper.make_graph(nodes, "parts", inputs, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def test_parts_of_integers():
    """Integers that pass through a node of several outputs are exact."""
    kinds = onnx.TensorProto.INT64, onnx.TensorProto.INT64
    first = helper.make_node("Cast", ["x"], ["f"], to=onnx.TensorProto.FLOAT)
    x = np.arange(32).reshape(4, 8) * 1001
    model = Model(split_model(first, "Cast", kinds, to=onnx.TensorProto.INT64), precision="fp16")
    got = model.run({"x": x})
    np.testing.assert_array_equal(np.concatenate([got["y"], got["z"]]), x)


def test_parts_of_squares():
    """Squares that float16 makes infinite are added up after a node of several outputs."""
    kinds = onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT
    first = helper.make_node("Mul", ["x", "x"], ["f"])
    model = Model(split_model(first, "ReduceMean", kinds, axes=[-1]), precision="fp16")
    got = model.run({"x": np.full((4, 8), 800, "float32")})
    np.testing.assert_array_equal(np.concatenate([got["y"], got["z"]]), np.full((4, 1), 640000.0))


def test_maxima_of_squares():
    """The maximum of squares is as large as the squares."""
    statements = "p = Mul(x, x); m = MaxPool(p); y = ReduceMean(m)"
    model = model_of(statements)
    del model.graph.output[0].type.tensor_type.shape.dim[:]
    model.graph.input[0].type.tensor_type.shape.CopyFrom(
        helper.make_tensor_value_info("x", 1, (1, 1, 4, 8)).type.tensor_type.shape
    )
    model.graph.node[1].attribute.append(helper.make_attribute("kernel_shape", [2, 2]))
    got = Model(model, precision="fp16").run({"x": np.full((1, 1, 4, 8), 800, "float32")})["y"]
    np.testing.assert_array_equal(got, np.full((1, 1, 3, 1), 640000.0))
