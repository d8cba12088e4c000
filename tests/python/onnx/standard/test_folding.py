"""Values that are folded when a model is imported equal the values that a run computes."""

import numpy as np
import onnx
import onnx_backend
import pytest
from node_peers import model_of
from onnx import TensorProto, helper, numpy_helper

from texloom.errors import TVMError
from texloom.onnx.inference import ShapeInference
from texloom.onnx.model import Model
from texloom.onnx.structured import takes_only_tensors

_CASES = {case.name: case for case in onnx_backend.cases_of(["node"])}
_NAMES = sorted(_CASES)
_EVERY = 31  # a prime, so that each sample takes different cases of each family


def _known(model, arrays):
    """The model with these values of its inputs as constants."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    del made.graph.input[:]
    for each, array in zip(model.graph.input, arrays, strict=False):
        if each.name:
            made.graph.initializer.append(numpy_helper.from_array(array, each.name))
    made.ir_version = max(made.ir_version, 4)  # an initializer need not be an input
    return made


def _assert_equal(folded, run):
    assert folded.dtype == run.dtype
    assert folded.shape == run.shape
    if "float" in folded.dtype.name:  # also bfloat16 and floats of 8 bits
        # Sums in another order.
        tolerance = {"float16": 2e-3, "bfloat16": 1e-2}.get(folded.dtype.name, 1e-4)
        wide = folded.astype("float64"), run.astype("float64")
        np.testing.assert_allclose(*wide, rtol=tolerance, atol=tolerance)
    else:
        np.testing.assert_array_equal(folded, run)


def _check(name):
    model = onnx_backend.model_of(_CASES[name])
    if not takes_only_tensors(model) or not model.graph.input:
        pytest.skip("its inputs are not tensors")
    for inputs, _ in onnx_backend.data_sets(_CASES[name]):
        if any(each is None or each.dtype.kind not in "fiub" for each in inputs):
            pytest.skip("it reads elements that NumPy lacks, or text")
        given = dict(zip((each.name for each in model.graph.input), inputs, strict=False))
        try:
            run = Model(model).run(given)
        except TVMError:
            pytest.skip("it is refused")
        folded = Model(_known(model, inputs)).run({})
        for output in run:
            if isinstance(run[output], np.ndarray):
                _assert_equal(folded[output], run[output])


@pytest.mark.parametrize("name", _NAMES[::_EVERY])
def test_a_case_of_constants_gives_what_it_computes_of_inputs(name):
    _check(name)


@pytest.mark.nightly
@pytest.mark.parametrize("start", range(1, _EVERY))
def test_every_case_of_constants_gives_what_it_computes_of_inputs(start):
    wrong = {name: why for name in _NAMES[start::_EVERY] if (why := _failure(name))}
    assert not wrong


def _failure(name):
    try:
        _check(name)
    except pytest.skip.Exception:
        pass
    except Exception as error:
        return str(error)
    return ""


_SOFTPLUS = np.array([100], "float32")  # log(1 + exp(x)) would overflow to infinity
_QUOTIENT = [np.array([2**53 + 1]), np.array([1])]  # float64 would round the dividend
_SOFTMAX = np.arange(24, dtype="float32").reshape(2, 3, 4)  # opset 11: over all axes but the first


@pytest.mark.parametrize(
    ("op", "inputs", "opset"),
    [("Softplus", [_SOFTPLUS], 13), ("Div", _QUOTIENT, 14), ("Softmax", [_SOFTMAX], 11)],
)
def test_constants_have_no_second_meaning(op, inputs, opset):
    model = model_of(op, inputs, opset=opset)
    run = Model(model).run({f"x{i}": each for i, each in enumerate(inputs)})
    known = Model(_known(model, inputs))
    assert known.summary == {}, "nothing is left to run"
    _assert_equal(known.run({})["y0"], run["y0"])


def test_a_shape_may_follow_from_constants():
    """An exporter's arithmetic on a shape is folded, and so is NonZero of a constant."""
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Cast", ["shape"], ["wide"], to=TensorProto.FLOAT),
        helper.make_node("Sqrt", ["wide"], ["root"]),
        helper.make_node("Cast", ["root"], ["narrow"], to=TensorProto.INT64),
        helper.make_node("ConstantOfShape", ["narrow"], ["zeros"]),
        helper.make_node("Not", ["flags"], ["kept"]),
        helper.make_node("NonZero", ["kept"], ["where"]),
        helper.make_node("Gather", ["x", "where"], ["rows"], axis=0),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 9])
    outputs = [onnx.ValueInfoProto(name=name) for name in ("zeros", "rows")]
    flags = numpy_helper.from_array(np.array([True, False, True, False]), "flags")
    graph = helper.make_graph(nodes, "g", [x], outputs, [flags])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    array = np.arange(36, dtype="float32").reshape(4, 9)
    made = Model(model).run({"x": array})
    assert made["zeros"].shape == (2, 3)
    np.testing.assert_array_equal(made["rows"], array[[[1, 3]]])


@pytest.mark.nightly
def test_what_takes_too_long_is_left_to_run():
    """A product of 16 million steps is not folded: the graph computes it in a kernel."""
    a = np.ones((256, 256), "float32")
    known = Model(_known(model_of("MatMul", [a, a], opset=13), [a, a]))
    assert known.summary, "a graph is compiled"
    np.testing.assert_allclose(known.run({})["y0"], np.full((256, 256), 256), rtol=1e-5)


def test_sums_of_nothing():
    nothing = np.zeros((2, 0), "float32")
    for op, expected in (("ReduceSum", 0), ("ReduceProd", 1), ("ReduceMax", -np.inf)):
        axes = np.array([1])
        model = _known(model_of(op, [nothing, axes]), [nothing, axes])
        np.testing.assert_array_equal(Model(model).run({})["y0"], np.full((2, 1), expected))
    model = model_of("MatMul", [nothing, nothing.T])
    (made,) = Model(model).run({"x0": nothing, "x1": nothing.T}).values()
    np.testing.assert_array_equal(made, np.zeros((2, 2)))


def test_inference_that_ends_its_process_takes_no_other_along():
    """ONNX 1.18 crashes on this slice of an empty axis; the next model is still inferred."""
    with ShapeInference() as inference:
        nothing = np.zeros((0, 2), "float32")
        slice_ = [nothing, *(np.array([each]) for each in (-1, -(2**62), 0, -1))]
        model = _known(model_of("Slice", slice_), slice_)
        inference.inferred(model, strict=True)  # whatever it answers
        relu = model_of("Relu", [nothing])
        made = inference.inferred(relu, strict=True)
        assert [each.dim_value for each in made.graph.output[0].type.tensor_type.shape.dim] == [
            0,
            2,
        ]
