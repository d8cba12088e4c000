"""Random numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ops import random as ops
from ..nodes import Node, Value, empty
from ..nodes.types import dtype_name, element_type, float_name
from .registry import converts


@converts("RandomUniform", "RandomUniformLike")
def uniform(node: Node) -> Value:
    """Draw uniform numbers."""
    low, high = node.attributes.get("low", 0.0), node.attributes.get("high", 1.0)
    return _drawn(node, ops.uniform, low=low, high=high)


@converts("RandomNormal", "RandomNormalLike")
def normal(node: Node) -> Value:
    """Draw normal numbers."""
    mean, scale = node.attributes.get("mean", 0.0), node.attributes.get("scale", 1.0)
    return _drawn(node, ops.normal, mean=mean, scale=scale)


def _drawn(node: Node, function: Any, **options: float) -> Value:
    """Draw numbers of the shape that an attribute or a tensor has."""
    if node.op.endswith("Like"):
        shape, default = node.input(0).shape, node.input(0).dtype
    else:
        shape, default = tuple(node.attributes["shape"]), "float32"
    dtype = _result_type(node, default)
    if float_name(element_type(dtype)) is None:
        node.refuse(f"it makes elements of type {dtype}, not of floating point")
    if 0 in shape:
        return empty(shape, dtype)
    stream, seed = node.stream()
    return node.emit("random", function, seed, shape=shape, dtype=dtype, stream=stream, **options)


@converts("Dropout")
def dropout(node: Node) -> list[Value]:
    """Return the input or, in training, drop elements at random."""
    x = node.input(0)
    if node.has(2) and not node.input(2).is_constant:
        node.refuse("its training_mode is known only when the model runs")
    if node.has(2) and node.known(2).reshape(-1)[0] and not _drops_nothing(node):
        ratio = node.input(1) if node.has(1) else node.constant(0.5, "float32")
        if ratio.rank:
            ratio = node.convert("Reshape", [ratio, node.constant([], "int64")])
        stream, seed = node.stream()
        return node.emit_all("dropout", ops.dropout, [x, ratio, *seed], stream=stream)
    if not node.wants(1):
        return [x]
    mask = np.ones(x.shape, "bool" if node.version >= 10 else x.dtype)
    return [x, node.constant(mask)]


def _drops_nothing(node: Node) -> bool:
    """Whether there are no elements, or the ratio of dropped ones is known to be 0."""
    if 0 in node.input(0).shape:
        return True
    return node.has(1) and node.input(1).is_constant and node.known(1).reshape(-1)[0] == 0


def _result_type(node: Node, default: str) -> str:
    return dtype_name(node.attributes["dtype"]) if "dtype" in node.attributes else default


@converts("Bernoulli")
def bernoulli(node: Node) -> Value:
    """Draw 1 with the probability that an element is."""
    x = node.input(0)
    dtype = _result_type(node, x.dtype)
    stream, seed = node.stream()
    return node.emit("bernoulli", ops.bernoulli, [x, *seed], dtype=dtype, stream=stream)


@converts("Multinomial")
def multinomial(node: Node) -> Value:
    """Draw classes, given the logarithms of their probabilities."""
    x = node.input(0)
    if x.rank != 2:
        node.refuse(f"its input has {x.rank} axes, not 2")
    samples = node.attributes.get("sample_size", 1)
    if samples < 1:
        node.refuse(f"its sample_size is {samples}, not a positive number")
    dtype = _result_type(node, "int32")
    stream, seed = node.stream()
    return node.emit(
        "multinomial", ops.multinomial, [x, *seed], samples=samples, dtype=dtype, stream=stream
    )


__all__ = ["bernoulli", "dropout", "multinomial", "normal", "uniform"]
