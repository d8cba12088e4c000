"""Nodes of onnxruntime's own operators with inputs drawn at random, compared with onnxruntime."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from node_peers import model_of, onnxruntimes, ours, with_constants

MICROSOFT = "com.microsoft"


@dataclass
class Drawn:
    """A node, and for each output the greatest error of an implementation.

    An output without a bound has no name. `peer_inputs` are for onnxruntime, if it needs others.
    """

    inputs: list[Any]
    bounds: list[Any]
    attributes: dict[str, Any] = field(default_factory=dict)
    domain: str = MICROSOFT
    peer_inputs: list[Any] | None = None


def greatest(x):
    return float(np.abs(np.asarray(x, "float64")).max())


def model_of_drawn(op, drawn, inputs):
    unused = [i for i, bound in enumerate(drawn.bounds) if bound is None]
    while inputs and inputs[-1] is None:
        inputs = inputs[:-1]
    model = model_of(op, inputs, len(drawn.bounds), domain=drawn.domain, unused=unused)
    attributes = [onnx.helper.make_attribute(n, each) for n, each in drawn.attributes.items()]
    model.graph.node[0].attribute.extend(attributes)
    return model


def widened(x):
    return x if x is None or x.dtype != np.float16 else x.astype("float32")


def check(op, drawn, constants=()):
    """Compare a node with onnxruntime, which computes float16 in float32.

    The inputs at the positions in `constants` are known when the model is compiled.
    """
    model = model_of_drawn(op, drawn, drawn.inputs)
    got = ours(model, with_constants(model, drawn.inputs, constants))
    inputs = [widened(each) for each in drawn.peer_inputs or drawn.inputs]
    expected = onnxruntimes(model_of_drawn(op, drawn, inputs), inputs)
    bounds = [each for each in drawn.bounds if each is not None]
    for ours_, theirs, bound in zip(got, expected, bounds, strict=True):
        assert ours_.shape == theirs.shape, (op, drawn.attributes)
        halves = any(e is not None and e.dtype == np.float16 for e in drawn.inputs)
        assert ours_.dtype == theirs.dtype or (halves and ours_.dtype == np.float16)
        error = np.abs(ours_.astype("float64") - theirs.astype("float64"))
        assert (error <= 2 * np.asarray(bound)).all(), (op, drawn.attributes, error.max(), bound)
    return got
