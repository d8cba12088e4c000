"""Operators that the standard's bodies expand, with attributes and shapes drawn at random."""

import numpy as np
import pytest
from nightly import most_at_night
from node_peers import model_of, named, onnxruntimes, references

from texloom.onnx.model import Model


def _quantized(draw):
    shape = draw.integers(1, 5, draw.integers(1, 5))
    return [draw.normal(draw.integers(-3, 3), 2, shape).astype("float32")], 3, {}


_DRAWN = {
    "DynamicQuantizeLinear": (_quantized, 20),
}


def _are_close(some, others):
    return all(
        a.shape == b.shape and np.allclose(a, b, rtol=1e-4, atol=1e-5, equal_nan=True)
        for a, b in zip(some, others, strict=True)
    )


def _check(op, seed):
    draw, opset = _DRAWN[op]
    inputs, outputs, attributes = draw(np.random.default_rng(seed))
    model = model_of(op, inputs, outputs, opset=opset, **attributes)
    model.ir_version = 11
    got = list(Model(model).run(named(inputs)).values())
    peers = [references(model, inputs), onnxruntimes(model, inputs)]
    agree = [_are_close(got, each) for each in peers]
    assert all(agree) if _are_close(*peers) else any(agree), (attributes, agree)


@pytest.mark.parametrize("seed", most_at_night(range(8), first=2))
@pytest.mark.parametrize("op", _DRAWN)
def test_a_body_computes_what_both_references_do(op, seed):
    _check(op, seed)


@pytest.mark.nightly
@pytest.mark.parametrize("op", _DRAWN)
def test_bodies_of_many_attributes(op):
    for seed in range(100, 125):
        _check(op, seed)
