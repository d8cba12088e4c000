"""Inputs with an initializer: the initializer is their default, which a run may replace."""

import numpy as np
import onnx
import pytest
from onnx import helper

import texloom
from texloom.graph import load

X, W = np.array([1, 2, 3], "float32"), np.array([5, 6, 7], "float32")
DEFAULT = np.full(3, 2, "float32")


def model(ir_version=8):
    """y = x + w, with a default for w."""
    x, w, y = (helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, [3]) for n in "xwy")
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "w"], ["y"])],
        "sum",
        [x, w],
        [y],
        [onnx.numpy_helper.from_array(DEFAULT, "w")],
    )
    opset = [helper.make_opsetid("", 17 if ir_version > 3 else 8)]
    return helper.make_model(graph, opset_imports=opset, ir_version=ir_version)


@pytest.mark.parametrize("ir_version", [3, 8])
def test_a_run_may_replace_a_default(ir_version):
    """Versions before 4 list all initializers among the inputs."""
    compiled = texloom.compile(model(ir_version))
    assert compiled.inputs == ["x"]
    assert (compiled.run({"x": X, "w": W})["y"] == X + W).all()
    assert (compiled.run({"x": X})["y"] == X + DEFAULT).all()


def test_values_replace_a_default(tmp_path):
    """A package has the value that was given when it was compiled."""
    compiled = texloom.compile(model(), values={"w": W})
    assert (compiled.run({"x": X})["y"] == X + W).all()
    compiled.save(tmp_path / "sum.tlp")
    assert (load(tmp_path / "sum.tlp").run({"x": X})["y"] == X + W).all()


def test_variants_and_fixed_models_have_their_own_defaults():
    """A model for another target compiles again; a fixed model has the values that are given."""
    compiled = texloom.compile(model())
    assert (compiled.run({"x": X, "w": W})["y"] == X + W).all()
    other = compiled.for_target("opencl -device_class=gpu")
    assert (other.run({"x": X, "w": W})["y"] == X + W).all()
    assert other._by_defaults.keys() == compiled._by_defaults.keys()
    assert other._by_defaults is not compiled._by_defaults
    assert (compiled.fixed({"x": X, "w": W}).run({"x": X})["y"] == X + W).all()


def test_a_default_is_replaced_by_a_value_of_its_type():
    with pytest.raises(texloom.TVMError, match="the input 'w' is float32, but the array is int64"):
        texloom.compile(model()).run({"x": X, "w": np.arange(3)})
    with pytest.raises(texloom.TVMError, match="input 'w' has the shape"):
        texloom.compile(model(), values={"w": np.ones(4, "float32")})


def test_a_replaced_shape_decides_the_sizes():
    """The output of a Reshape has the shape that the run gives for the default shape."""
    x = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [6])
    shape = helper.make_tensor_value_info("shape", onnx.TensorProto.INT64, [2])
    graph = helper.make_graph(
        [helper.make_node("Reshape", ["x", "shape"], ["y"])],
        "reshape",
        [x, shape],
        [onnx.ValueInfoProto(name="y")],
        [onnx.numpy_helper.from_array(np.array([2, 3]), "shape")],
    )
    opset = [helper.make_opsetid("", 17)]
    compiled = texloom.compile(helper.make_model(graph, opset_imports=opset, ir_version=8))
    x = np.arange(6, dtype="float32")
    assert compiled.run({"x": x})["y"].shape == (2, 3)
    assert compiled.run({"x": x, "shape": np.array([3, 2])})["y"].shape == (3, 2)


def test_a_model_keeps_the_last_values_only():
    """A value that is given again is compiled again if eight others came after it."""
    compiled = texloom.compile(model())
    for number in [*range(10), 9, 0]:
        w = np.full(3, number, "float32")
        assert (compiled.run({"x": X, "w": w})["y"] == X + w).all()
    assert len(compiled._by_defaults) == 8
    assert all(each._model is compiled._model for each in compiled._by_defaults.values())


@pytest.mark.parametrize("is_input", [False, True])
@pytest.mark.parametrize("linear", [False, True])
def test_a_sparse_initializer_is_a_constant_or_a_default(is_input, linear):
    places = np.array([1, 5]) if linear else np.array([[0, 1], [1, 2]])
    dense = np.array([[0, 4, 0], [0, 0, -3]], "float32")
    made = helper.make_sparse_tensor(
        onnx.numpy_helper.from_array(np.array([4, -3], "float32"), "w"),
        onnx.numpy_helper.from_array(places, "places"),
        [2, 3],
    )
    x, w, y = (helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, [2, 3]) for n in "xwy")
    node = helper.make_node("Add", ["x", "w"], ["y"])
    graph = helper.make_graph(
        [node], "sum", [x, w] if is_input else [x], [y], sparse_initializer=[made]
    )
    opset = [helper.make_opsetid("", 17)]
    compiled = texloom.compile(helper.make_model(graph, opset_imports=opset, ir_version=8))
    given = np.arange(6, dtype="float32").reshape(2, 3)
    np.testing.assert_array_equal(compiled.run({"x": given})["y"], given + dense)
    if is_input:
        np.testing.assert_array_equal(compiled.run({"x": given, "w": given})["y"], given * 2)


def test_a_default_of_bfloat16_is_replaced():
    """bfloat16 is given as its bits, or with the dtype that ml_dtypes adds."""
    dtype = onnx.helper.tensor_dtype_to_np_dtype(onnx.TensorProto.BFLOAT16)
    w = helper.make_tensor_value_info("w", onnx.TensorProto.BFLOAT16, [3])
    x, y = (helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, [3]) for n in "xy")
    nodes = [helper.make_node("Cast", ["w"], ["c"], to=1), helper.make_node("Add", "xc", ["y"])]
    default = onnx.numpy_helper.from_array(DEFAULT.astype(dtype), "w")
    graph = helper.make_graph(nodes, "sum", [x, w], [y], [default])
    opset = [helper.make_opsetid("", 17)]
    compiled = texloom.compile(helper.make_model(graph, opset_imports=opset, ir_version=8))
    assert (compiled.run({"x": X})["y"] == X + DEFAULT).all()
    bits = W.astype(dtype).view("uint16")
    assert (compiled.run({"x": X, "w": bits})["y"] == X + W).all()
