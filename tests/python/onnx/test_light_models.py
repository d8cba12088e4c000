"""The light models of the package onnx, with seeded weights, against onnxruntime."""

from __future__ import annotations

import faulthandler
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

import texloom
from texloom.target import Target

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks/networks"))
from error_bounds import distance, error_bound
from light_models import NAMES, light_model


@pytest.fixture(autouse=True)
def no_hang():
    """A longer limit than other tests have: the 284 kernels of DenseNet take a while to build."""
    faulthandler.dump_traceback_later(600, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.mark.nightly
@pytest.mark.parametrize("name", NAMES)
def test_light_model(dev, name):
    """Both results are within the bound of the exact one, so within twice the bound of each other.

    The inputs of a last softmax are compared, too: their errors are as small as those of the
    layers, while the softmax turns errors relative to all of its inputs into errors of a result
    that may be small. The norm of a softmax's derivative is at most a half.
    """
    model = light_model(name)
    (given,) = (v for v in model.graph.input if v.name not in constants_of(model))
    shape = [each.dim_value for each in given.type.tensor_type.shape.dim]
    x = {given.name: np.random.default_rng(1).standard_normal(shape, np.float32)}
    last = model.graph.node[-1]
    if last.op_type == "Softmax":
        model.graph.output.append(onnx.ValueInfoProto(name=last.input[0]))
    got = texloom.compile(model, Target.from_device(dev)).run(x, dev)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    names = [each.name for each in model.graph.output]
    expected = dict(zip(names, session.run(names, x), strict=True))
    bound = 2 * error_bound(model, "float32")
    assert bound < 1e-3
    scores = expected[names[-1]]
    assert distance(got[names[-1]], scores) <= bound
    if last.op_type == "Softmax":
        difference = np.linalg.norm(got[names[0]] - expected[names[0]])
        rounding = 2.0**-20 * np.linalg.norm(expected[names[0]])
        assert difference <= bound * np.linalg.norm(scores) / 2 + rounding


def constants_of(model):
    return {each.name for each in model.graph.initializer}
