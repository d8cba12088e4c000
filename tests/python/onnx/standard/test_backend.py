"""ONNX's backend tests: a sample of them here, all of them by tests/onnx_backend.py."""

import numpy as np
import onnx
import onnx_backend
import pytest
from nightly import most_at_night
from onnx import TensorProto, helper

from texloom.errors import TVMError
from texloom.onnx import backend

_CASES = {case.name: case for case in onnx_backend.cases_of(["node", "simple"])}
_EVERY = 29  # a prime, so that the sample takes different cases of each family
_SAMPLE = sorted(_CASES)[::_EVERY]


@pytest.mark.parametrize("name", most_at_night([*_SAMPLE[::2], *_SAMPLE[1::2]], len(_SAMPLE) // 2))
def test_case(name):
    outcome, why = onnx_backend.run_case(_CASES[name], "buffer", "CPU", "")
    assert outcome in ("passed", "refused", "contested"), why


@pytest.mark.nightly
@pytest.mark.parametrize("name", sorted(_CASES)[7 :: 2 * _EVERY])
def test_case_in_textures(name):
    outcome, why = onnx_backend.run_case(_CASES[name], "texture", "CPU", "")
    assert outcome in ("passed", "refused", "contested"), why


_ON_PROCESSORS = sorted(_CASES)[13 :: _EVERY // 3]


@pytest.mark.parametrize("name", most_at_night(_ON_PROCESSORS, len(_ON_PROCESSORS) // 3))
def test_case_for_the_default_target(name, default_target):
    outcome, why = onnx_backend.run_case(_CASES[name], "buffer", "host:0", default_target)
    assert outcome in ("passed", "refused", "contested"), why


def _model():
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 3])
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [x], [y])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])


@pytest.mark.parametrize("storage", ["buffer", "texture", "auto"])
def test_interface(storage):
    x = np.array([[-1, 0, 2], [3, -4, 5]], "float32")
    prepared = backend.prepare(_model(), device="opencl:0", storage=storage)
    (y,) = prepared.run([x])
    np.testing.assert_array_equal(y, np.maximum(x, 0))
    (y,) = backend.run_model(_model(), [x])
    np.testing.assert_array_equal(y, np.maximum(x, 0))
    (y,) = backend.run_node(helper.make_node("Relu", ["x"], ["y"]), [x])
    np.testing.assert_array_equal(y, np.maximum(x, 0))


def test_arrays_beyond_the_inputs_are_refused():
    x = np.zeros((2, 3), "float32")
    with pytest.raises(TVMError, match="2 arrays are given, and the model has 1 inputs"):
        backend.prepare(_model()).run([x, x])
    with pytest.raises(TVMError, match="the input 'x' is missing"):
        backend.prepare(_model()).run([])


def test_devices():
    assert backend.supports_device("CPU")
    assert backend.supports_device("opencl:0")
    assert not backend.supports_device("opencl:77")
    assert not backend.supports_device("abacus")


def test_refusals_come_from_prepare():
    model = _model()
    model.graph.node[0].op_type = "Unheard"
    with pytest.raises(onnx.checker.ValidationError, match="Unheard"):
        backend.prepare(model)
