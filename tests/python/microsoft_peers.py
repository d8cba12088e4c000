"""Nodes of onnxruntime's own operators with inputs drawn at random, compared with onnxruntime."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from node_peers import model_of, onnxruntimes, ours

MICROSOFT = "com.microsoft"
UNIT = {"float16": 2.0**-11, "float32": 2.0**-24}


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


class Source:
    """Random choices and tensors."""

    def __init__(self, seed):
        self.generator = np.random.default_rng(seed)
        self.dtype = self.of("float32", "float32", "float16")

    @property
    def unit(self):
        return UNIT[self.dtype]

    def of(self, *choices):
        return choices[int(self.generator.integers(len(choices)))]

    def up_to(self, most):
        return int(self.generator.integers(1, most + 1))

    def shape(self, least, most):
        """From `least` to `most` extents of at most 5."""
        rank = int(self.generator.integers(least, most + 1))
        return [self.up_to(5) for _ in range(rank)]

    def chance(self):
        return bool(self.generator.integers(2))

    def floats(self, *shape):
        return self.generator.standard_normal(shape).astype(self.dtype)

    def maybe(self, *shape):
        """Numbers, or None for an input that is left out."""
        return self.floats(*shape) if self.chance() else None

    def integers(self, dtype, *shape):
        limits = np.iinfo(dtype)
        return np.asarray(self.generator.integers(limits.min, limits.max + 1, shape), dtype)


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


def with_constants(model, inputs, constants):
    """Make the inputs at these positions initializers; return the other inputs."""
    for i in constants:
        name = f"x{i}"
        (value,) = [each for each in model.graph.input if each.name == name]
        model.graph.input.remove(value)
        model.graph.initializer.append(onnx.numpy_helper.from_array(inputs[i], name))
    return [None if i in constants else each for i, each in enumerate(inputs)]


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
