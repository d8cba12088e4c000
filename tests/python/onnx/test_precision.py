"""Models whose tensors are stored as float16, against onnxruntime in float32.

The tolerance comes from the network: onnxruntime runs it several times, and multiplies every
tensor that float16 may round by random factors within float16's rounding error of 1.
"""

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper

from texloom.onnx.model import Model
from texloom_demo.ocr.models import find

ROUNDING = 2.0**-11  # the relative error of a number that becomes a float16
DRAWS = 6
MARGIN = 3  # the tolerance, in largest errors of the draws


def perturbed(model, seed):
    """Return the model with each element of weights and results times a random factor near 1."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    graph = made.graph
    inferred = onnx.shape_inference.infer_shapes(model).graph
    floats = {
        each.name
        for each in (*inferred.value_info, *inferred.output)
        if each.type.tensor_type.elem_type == onnx.TensorProto.FLOAT
    }
    generator = np.random.default_rng(seed)
    for each in graph.initializer:
        array = onnx.numpy_helper.to_array(each)
        if array.dtype == np.float32 and array.ndim > 1:
            draw = generator.uniform(-ROUNDING, ROUNDING, array.shape)
            each.CopyFrom(
                onnx.numpy_helper.from_array((array * (1 + draw)).astype("float32"), each.name)
            )
    nodes = list(graph.node)
    del graph.node[:]
    for number, node in enumerate(nodes):
        rounded = [name for name in node.output if name in floats and node.op_type != "Constant"]
        renamed = [f"{name}/exact" if name in rounded else name for name in node.output]
        node.output[:] = renamed
        graph.node.append(node)
        for name in rounded:
            factor = {"low": 1 - ROUNDING, "high": 1 + ROUNDING, "seed": seed * 10000.0 + number}
            made_of = [f"{name}/exact", f"{name}/factor"]
            graph.node.extend(
                [
                    helper.make_node("RandomUniformLike", made_of[:1], made_of[1:], **factor),
                    helper.make_node("Mul", made_of, [name]),
                ]
            )
    return made


def run(model, inputs):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    return session.run(None, inputs)


def check(model, inputs, storages=("buffer", "texture")):
    expected = run(model, inputs)
    drawn = [run(perturbed(model, seed), inputs) for seed in range(DRAWS)]
    for storage in storages:
        shapes = {name: array.shape for name, array in inputs.items()}
        got = Model(model, storage=storage, shapes=shapes, precision="fp16").run(inputs)
        for number, (name, array) in enumerate(got.items()):
            assert array.dtype == expected[number].dtype
            bound = MARGIN * max(np.abs(each[number] - expected[number]).max() for each in drawn)
            error = np.abs(array - expected[number]).max()
            assert 0 < error <= bound, (storage, name, error, bound)


def residual_network():
    """A small ResNet: a stem, two blocks of convolutions with normalizations, a classifier."""
    generator = np.random.default_rng(11)
    nodes, constants = [], []

    def weight(name, *shape, scale=1.0, shift=0.0):
        array = generator.normal(shift, scale, shape).astype("float32")
        constants.append(onnx.numpy_helper.from_array(array, name))
        return name

    def convolved(name, x, outputs, inputs, stride=1):
        w = weight(f"{name}.w", outputs, inputs, 3, 3, scale=(2 / (9 * inputs)) ** 0.5)
        nodes.append(
            helper.make_node(
                "Conv",
                [x, w],
                [f"{name}.c"],
                strides=[stride] * 2,
                pads=[1] * 4,
                kernel_shape=[3, 3],
            )
        )
        scale = weight(f"{name}.scale", outputs, scale=0.1, shift=1.0)
        shift, mean = weight(f"{name}.shift", outputs, scale=0.1), weight(f"{name}.mean", outputs)
        constants.append(
            onnx.numpy_helper.from_array(
                generator.uniform(0.5, 2, outputs).astype("float32"), f"{name}.var"
            )
        )
        inputs_of = [f"{name}.c", scale, shift, mean, f"{name}.var"]
        nodes.append(helper.make_node("BatchNormalization", inputs_of, [name]))
        return name

    def relu(name, x):
        nodes.append(helper.make_node("Relu", [x], [name]))
        return name

    value = relu("stem.y", convolved("stem", "x", 16, 3, stride=2))
    for block in ("first", "second"):
        inner = relu(f"{block}.a.y", convolved(f"{block}.a", value, 16, 16))
        nodes.append(
            helper.make_node(
                "Add", [convolved(f"{block}.b", inner, 16, 16), value], [f"{block}.sum"]
            )
        )
        value = relu(f"{block}.y", f"{block}.sum")
    nodes.append(helper.make_node("GlobalAveragePool", [value], ["pooled"]))
    nodes.append(helper.make_node("Flatten", ["pooled"], ["flat"]))
    nodes.append(
        helper.make_node("Gemm", ["flat", weight("fc", 16, 10), weight("fc.b", 10)], ["s"])
    )
    nodes.append(helper.make_node("Softmax", ["s"], ["y"]))
    graph = helper.make_graph(
        nodes,
        "residual",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, (1, 3, 24, 24))],
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, (1, 10))],
        constants,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


@pytest.mark.nightly
def test_residual_network():
    x = np.random.default_rng(2).uniform(-1, 1, (1, 3, 24, 24)).astype("float32")
    check(residual_network(), {"x": x})


@pytest.mark.nightly
def test_direction_of_text():
    networks = find()
    if networks is None:
        pytest.skip("rapidocr-onnxruntime is not installed")
    model = onnx.load(networks["direction"])
    x = np.random.default_rng(2).uniform(-1, 1, (1, 3, 48, 192)).astype("float32")
    check(model, {model.graph.input[0].name: x}, storages=("buffer",))


def test_integers_and_float64_are_untouched():
    nodes = [
        helper.make_node("Mul", ["n", "n"], ["square"]),
        helper.make_node("Add", ["square", "n"], ["y"]),
        helper.make_node("Mul", ["d", "d"], ["e"]),
        helper.make_node("Add", ["e", "d"], ["z"]),
    ]
    kinds = {"n": onnx.TensorProto.INT64, "d": onnx.TensorProto.DOUBLE}
    graph = helper.make_graph(
        nodes,
        "numbers",
        [helper.make_tensor_value_info(name, kind, (4,)) for name, kind in kinds.items()],
        [
            helper.make_tensor_value_info("y", kinds["n"], (4,)),
            helper.make_tensor_value_info("z", kinds["d"], (4,)),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    n = np.array([3, 70001, -5, 1 << 30])
    d = np.array([0.1, 1e10, 1e-20, -3.0])
    got = Model(model, precision="fp16").run({"n": n, "d": d})
    assert (got["y"] == n * n + n).all()
    assert np.allclose(got["z"], d * d + d, rtol=2.0**-50, atol=0)
