"""Operators that are expanded into the standard's bodies."""

import numpy as np
from node_peers import model_of, ours, random


def test_a_body_that_imports_no_version_of_its_operators():
    """Their version is that of the model: the body of FlexAttention calls Shape with `start`."""
    query, key, value = (random(seed, 1, 1, 2, 3) for seed in range(3))
    inputs = [query, key, value]
    model = model_of("FlexAttention", inputs, opset=27, domain="ai.onnx.preview", scale=1.0)
    weights = np.exp(query @ key.swapaxes(2, 3))
    expected = weights / weights.sum(-1, keepdims=True) @ value
    np.testing.assert_allclose(ours(model, inputs)[0], expected, rtol=0, atol=64 * 2.0**-24)
