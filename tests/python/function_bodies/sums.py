"""Drawers of operators that add up elements: reductions, normalizations and losses."""

from __future__ import annotations

from math import prod

import numpy as np

from .drawing import Draw, Drawn, draws, greatest, magnitudes


@draws("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare")
def reduction(draw: Draw) -> Drawn:
    """Axes as a constant or an input of the run, empty, or left out."""
    shape = draw.extents(0, 4)
    x = draw.values(draw.type(), *shape)
    if draw.op == "ReduceLogSum" and draw.chance(0.7):
        x = np.abs(x)
    axes = np.array(draw.axes(len(shape)), "int64") if draw.chance(0.8) else None
    attributes = draw.some(keepdims=draw.of(0, 1), noop_with_empty_axes=draw.of(0, 1))
    logarithm = draw.op.startswith("ReduceLog")
    return Drawn(
        [x, axes],
        attributes,
        size=1 + greatest(x) if logarithm else 0.0,
        terms=prod(shape),
        constants=draw.known(1) if axes is not None else (),
    )


@draws("Softmax", "LogSoftmax")
def softmax(draw: Draw) -> Drawn:
    """The error of the difference to the maximum is a factor of each exponential."""
    shape = draw.extents(1, 4)
    x = draw.values(draw.type(), *shape, scale=draw.of(1, 5))
    span = 2 * greatest(x)
    size = span if draw.op == "LogSoftmax" else lambda y: span * y
    axis = draw.axis(len(shape))
    return Drawn([x], draw.some(axis=axis), size=size, terms=max(shape))


@draws("MeanVarianceNormalization")
def mean_variance(draw: Draw) -> Drawn:
    has_axes = draw.chance(0.7)
    shape = draw.extents(2, 5) if has_axes else draw.extents(4, 4)
    axes = draw.axes(len(shape)) or [-1]
    x = draw.values(draw.type(), *shape)
    attributes = {"axes": axes} if has_axes else {}
    reduced = tuple(axes) if has_axes else (0, 2, 3)
    size, count = _normalized_size(x, reduced, 1e-9)
    return Drawn([x], attributes, size=size, terms=count)


def _normalized_size(x, axes, epsilon):
    """The magnitudes of the terms of (x - mean) / deviation, and the number of terms of sums.

    An error of the mean is also one of each difference, and of the deviation.
    """
    wide = x.astype("float64")
    if not x.size:
        return 0.0, 1
    count = prod(x.shape[axis] for axis in axes)
    deviation = np.sqrt(wide.var(axis=axes, keepdims=True) + epsilon)
    size = (magnitudes(wide) + greatest(wide)) / deviation
    return np.where(np.isfinite(size), size, 0.0) * (1 + magnitudes(size)), count


def _after(draw, shape):
    """A shape that broadcasts to the last of these extents."""
    return [draw.of(1, each) for each in shape] if draw.chance(0.3) else shape


@draws("LayerNormalization", "RMSNormalization")
def layer_normalization(draw: Draw) -> Drawn:
    """A scale of the normalized axes, or one that broadcasts to them."""
    shape = draw.extents(1, 4)
    axis = draw.axis(len(shape))
    dtype = draw.float_type()
    x = draw.values(dtype, *shape)
    normalized = shape[axis if draw.chance(0.8) else -1 :]
    has_axis = normalized != shape[-1:] or draw.chance()
    attributes = draw.some(epsilon=draw.of(0.0, 1e-5, 0.5), stash_type=1)
    if has_axis:
        attributes["axis"] = len(shape) - len(normalized) - len(shape) * draw.chance()
    first = len(shape) - len(normalized)
    epsilon = attributes.get("epsilon", 1e-5)
    is_rms = draw.op == "RMSNormalization"
    scale_type = draw.float_type("V") if is_rms else dtype
    scale = draw.ordinary(scale_type, *_after(draw, normalized))
    size, count = _normalized_size(x, tuple(range(first, len(shape))), epsilon)
    if is_rms:
        wide = x.astype("float64")
        axes = tuple(range(first, len(shape)))
        norm = np.sqrt(np.mean(wide**2, axis=axes, keepdims=True) + epsilon) if x.size else 1.0
        amount = magnitudes(wide / norm) * greatest(scale)
        return Drawn([x, scale], attributes, size=amount, terms=count, precision="float32")
    bias = draw.ordinary(dtype, *_after(draw, normalized)) if draw.chance() else None
    outputs = draw.of(1, 2, 3)
    amount = np.asarray(size) * greatest(scale) + (0 if bias is None else greatest(bias))
    sizes = [amount, greatest(x), lambda y: y * (1 + y * greatest(x)) ** 2]
    return Drawn(
        [x, scale, bias],
        attributes,
        outputs,
        unused=(1,) if outputs == 3 and draw.chance(0.3) else (),
        size=sizes,
        terms=count,
        precision="float32",
    )


@draws("GroupNormalization")
def group_normalization(draw: Draw) -> Drawn:
    groups, dtype = draw.up_to(3), draw.type()
    shape = [draw.up_to(3), groups * draw.up_to(3), *draw.extents(0, 3, 4)]
    x = draw.values(dtype, *shape)
    scale, bias = (draw.ordinary(dtype, shape[1]) for _ in range(2))
    attributes = {"num_groups": groups, **draw.some(epsilon=draw.of(0.0, 1e-5, 0.5), stash_type=1)}
    grouped = x.reshape(shape[0], groups, -1) if x.size else x
    size, count = _normalized_size(grouped, (2,), attributes.get("epsilon", 1e-5))
    amount = greatest(size) * greatest(scale) + greatest(bias)
    return Drawn([x, scale, bias], attributes, size=amount, terms=count, precision="float32")


@draws("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
def loss(draw: Draw) -> Drawn:
    """Targets that are ignored, also all of them; with and without weights."""
    classes, dtype = draw.up_to(5), draw.type()
    shape = [draw.up_to(4), classes, *draw.extents(0, 3, 3)]
    target_shape = [shape[0], *shape[2:]]
    targets = draw.generator.integers(0, classes, target_shape)
    attributes = draw.some(reduction=draw.of("none", "sum", "mean"))
    if draw.chance():
        ignored = draw.of(-1, 0, classes, -100)
        attributes["ignore_index"] = ignored
        share = draw.of(0.3, 0.3, 1.0)
        targets = np.where(draw.generator.random(target_shape) < share, ignored, targets)
    x = draw.values(dtype, *shape)
    weights = np.abs(draw.ordinary(dtype, classes)) if draw.chance() else None
    is_softmax = draw.op == "SoftmaxCrossEntropyLoss"
    amount = (2 * greatest(x) + 3) * (1 if weights is None else max(1, greatest(weights)))
    count = prod(target_shape)
    added = amount * (max(1, count) if attributes.get("reduction") == "sum" else 1)
    return Drawn(
        [x, targets.astype(draw.type("Tind")), weights],
        attributes,
        draw.of(1, 2) if is_softmax else 1,
        size=[added, amount],
        terms=max(count, classes),
    )


@draws("DynamicQuantizeLinear")
def dynamic_quantize(draw: Draw) -> Drawn:
    shape = draw.extents(0, 4)
    x = draw.ordinary("float32", *shape, scale=2) + np.float32(draw.of(-3, 0, 3))
    if draw.chance(0.1):
        x = x * np.float32(0)
    return Drawn([x], {}, 3)
