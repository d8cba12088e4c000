"""Softmax and normalizations."""

from __future__ import annotations

import numpy as np

from ...ops import normalization
from ...ops.broadcast import broadcast_shape
from ..nodes import Node, Value, empty
from ..nodes.types import float_name
from .reductions import checked_axes
from .registry import converts

_SOFTMAX = {
    "Hardmax": normalization.hardmax,
    "LogSoftmax": normalization.log_softmax,
    "Softmax": normalization.softmax,
}
_EPSILON = float(np.float32(1e-5))  # attributes are float32


@converts(*_SOFTMAX)
def softmax(node: Node) -> Value:
    """Convert a softmax over one axis; before version 13, over all axes from the given one on."""
    data = node.input(0)
    axes = softmax_axes(node, data.rank)
    return node.emit(node.op.lower(), _SOFTMAX[node.op], [data], axes=axes)


def softmax_axes(node: Node, rank: int) -> tuple[int, ...]:
    """Return the axes over which a softmax sums."""
    is_old = node.version < 13
    (axis,) = checked_axes(node, [node.attributes.get("axis", 1 if is_old else -1)], rank)
    return tuple(range(axis, rank)) if is_old else (axis,)


@converts("BatchNormalization")
def batch_normalization(node: Node) -> list[Value]:
    """Normalize by given means and variances or, in training mode, by those of the data."""
    x, scale, bias, mean, variance = (node.input(i) for i in range(5))
    expected = x.shape[1:] if not node.attributes.get("spatial", 1) else x.shape[1:2] or (1,)
    for each in (scale, bias, mean, variance):
        if each.shape != expected:
            node.refuse(
                f"its scale, bias, mean or variance has the shape {each.shape}, not {expected}"
            )
    epsilon = node.attributes.get("epsilon", _EPSILON)
    if node.attributes.get("training_mode", 0):
        if x.rank < 2:
            node.refuse(f"its input of shape {x.shape} has no channels, which training_mode needs")
        return node.emit_all(
            "batch_normalization",
            normalization.batch_normalization_training,
            [x, scale, bias, mean, variance],
            epsilon=epsilon,
            momentum=node.attributes.get("momentum", 0.9),
        )
    if any(map(node.wants, range(1, 5))):
        node.refuse("its outputs other than the first are computed only with training_mode")
    if scale.array is None or variance.array is None:
        inputs = [x, scale, bias, mean, variance]
        op = normalization.batch_normalization
        return [node.emit("batch_normalization", op, inputs, epsilon=epsilon)]
    # This operator reads only constants. The graph folds it, so that no element needs a root or a
    # quotient.
    wide = "float64" if x.dtype == "float64" else "float32"
    factor = node.emit_part(
        "factor",
        "factor",
        normalization.deviation_factor,
        [scale, variance],
        epsilon=epsilon,
        dtype=wide,
    )
    inputs = [x, mean, factor, bias]
    return [node.emit("batch_normalization", normalization.scaled_difference, inputs)]


@converts("InstanceNormalization")
def instance_normalization(node: Node) -> Value:
    """Normalize each channel of each example."""
    x, scale, bias = (node.input(i) for i in range(3))
    _check_channels(node, x, [scale, bias], [x.shape[1]])
    epsilon = node.attributes.get("epsilon", _EPSILON)
    op = normalization.instance_normalization
    return node.emit("instance_normalization", op, [x, scale, bias], epsilon=epsilon)


@converts("GroupNormalization")
def group_normalization(node: Node) -> Value:
    """Normalize groups of channels; before version 21, scale and bias are per group."""
    x, scale, bias = (node.input(i) for i in range(3))
    groups = node.attributes["num_groups"]
    if groups < 1 or x.shape[1] % groups:
        node.refuse(f"{groups} groups do not divide {x.shape[1]} channels")
    _check_channels(node, x, [scale, bias], [groups if node.version < 21 else x.shape[1]])
    if x.is_empty:
        return empty(x.shape, x.dtype)
    return node.emit(
        "group_normalization",
        normalization.group_normalization,
        [x, scale, bias],
        groups=groups,
        epsilon=node.attributes.get("epsilon", _EPSILON),
    )


def _check_channels(node: Node, x: Value, parameters: list[Value], shape: list[int]) -> None:
    for each in parameters:
        if list(each.shape) != shape:
            node.refuse(f"its scale or bias has the shape {each.shape}, not {tuple(shape)}")


@converts("LayerNormalization")
def layer_normalization(node: Node) -> list[Value]:
    """Normalize over all axes from the given one on."""
    x, scale = node.input(0), node.input(1)
    (axis,) = checked_axes(node, [node.attributes.get("axis", -1)], x.rank)
    inputs = [x, scale, *([node.input(2)] if node.has(2) else [])]
    _check_broadcast(node, x, inputs[1:])
    stash = float_name(node.attributes.get("stash_type", 1) or 1)  # some files have 0: undefined
    if stash is None:
        node.refuse(f"its stash_type {node.attributes['stash_type']} is not supported")
    if x.is_empty:
        rows = (*x.shape[:axis], *(1 for _ in x.shape[axis:]))
        moments = node.constant(np.full(rows, np.nan), stash)  # of no elements
        return [empty(x.shape, x.dtype), moments, moments]
    return node.emit_all(
        "layer_normalization",
        normalization.layer_normalization,
        inputs,
        axis=axis,
        epsilon=node.attributes.get("epsilon", _EPSILON),
        stash=stash,
    )


@converts("RMSNormalization")
def rms_normalization(node: Node) -> Value:
    """Normalize by the root mean square over all axes from the given one on."""
    x, scale = node.input(0), node.input(1)
    (axis,) = checked_axes(node, [node.attributes.get("axis", -1)], x.rank)
    _check_broadcast(node, x, [scale])
    if x.is_empty:
        return empty(x.shape, scale.dtype)
    return node.emit(
        "rms_normalization",
        normalization.rms_normalization,
        [x, scale],
        axis=axis,
        epsilon=node.attributes.get("epsilon", _EPSILON),
    )


def _check_broadcast(node: Node, x: Value, parameters: list[Value]) -> None:
    for each in parameters:
        try:
            fits = broadcast_shape(x.shape, each.shape) == x.shape
        except ValueError:
            fits = False
        if not fits:
            node.refuse(f"the shape {each.shape} does not broadcast to {x.shape}")


@converts("MeanVarianceNormalization")
def mean_variance_normalization(node: Node) -> Value:
    """Normalize by mean and variance over the given axes; by default, over all but the second."""
    x = node.input(0)
    axes = node.attributes.get("axes")
    if axes is None:  # the standard says 0, 2 and 3; onnxruntime leaves out those that `x` lacks
        axes = [axis for axis in (0, 2, 3) if axis < x.rank]
    axes = checked_axes(node, axes, x.rank)
    op = normalization.mean_variance_normalization
    return node.emit("mean_variance_normalization", op, [x], axes=axes)


@converts("LpNormalization")
def lp_normalization(node: Node) -> Value:
    """Normalize by the norm along an axis."""
    x = node.input(0)
    (axis,) = checked_axes(node, [node.attributes.get("axis", -1)], x.rank)
    p = node.attributes.get("p", 2)
    if p not in (1, 2):
        node.refuse(f"its p is {p}, neither 1 nor 2")
    return node.emit("lp_normalization", normalization.lp_normalization, [x], axis=axis, p=p)


@converts("LRN")
def local_response_normalization(node: Node) -> Value:
    """Normalize by the squares of neighboring channels."""
    x = node.input(0)
    if x.rank < 2:
        node.refuse(f"its input has the rank {x.rank}, so it has no channels")
    if node.attributes["size"] < 1:
        node.refuse(f"its size is {node.attributes['size']}, not a positive number")
    return node.emit(
        "lrn",
        normalization.local_response_normalization,
        [x],
        size=node.attributes["size"],
        alpha=node.attributes.get("alpha", 1e-4),
        beta=node.attributes.get("beta", 0.75),
        bias=node.attributes.get("bias", 1.0),
    )


__all__ = [
    "batch_normalization",
    "group_normalization",
    "instance_normalization",
    "layer_normalization",
    "local_response_normalization",
    "lp_normalization",
    "mean_variance_normalization",
    "rms_normalization",
    "softmax",
]
