"""Pooling."""

from __future__ import annotations

from typing import Any

from ...extents import are_known
from ...ops import pooling, reductions
from ..nodes import Node, Value
from .registry import converts
from .windows import numbers, window_attributes


def _windows(node: Node) -> dict[str, Any]:
    """Return the windows of a pooling operator."""
    data = node.input(0)
    if data.rank < 3:
        node.refuse(f"its input has the rank {data.rank}, so it has no spatial axes")
    kernel = numbers(node, "kernel_shape", data.rank - 2, 1)
    made = window_attributes(node, data.shape[2:], kernel)
    # With auto_pad, the number of windows is known, and the pads follow from it: ceil_mode has no
    # effect.
    has_pads = node.attributes.get("auto_pad", "NOTSET") == "NOTSET"
    is_ceil = has_pads and bool(node.attributes.get("ceil_mode", 0))
    return {**made, "kernel": kernel, "ceil": is_ceil}


@converts("MaxPool")
def max_pool(node: Node) -> list[Value]:
    """Convert max pooling; the second output has the indices of the maxima."""
    windows = _windows(node)
    if not node.wants(1):
        return [node.emit("max_pool", pooling.max_pool, [node.input(0)], **windows)]
    is_column_major = bool(node.attributes.get("storage_order", 0))
    return node.emit_all(
        "max_pool",
        pooling.max_pool_with_indices,
        [node.input(0)],
        column_major=is_column_major,
        **windows,
    )


@converts("AveragePool")
def average_pool(node: Node) -> Value:
    """Convert average pooling."""
    counts_pads = bool(node.attributes.get("count_include_pad", 0))
    return node.emit(
        "average_pool",
        pooling.average_pool,
        [node.input(0)],
        counts_pads=counts_pads,
        **_windows(node),
    )


@converts("LpPool")
def lp_pool(node: Node) -> Value:
    """Convert pooling by a norm."""
    return node.emit("lp_pool", pooling.lp_pool, [node.input(0)], p=_power(node), **_windows(node))


def _power(node: Node) -> int:
    p = int(node.attributes.get("p", 2))
    if p < 1:
        node.refuse(f"its p is {p}, not a positive number")
    return p


@converts("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def whole(node: Node) -> Value:
    """Convert global pooling: one window covers a whole channel."""
    data = node.input(0)
    if data.rank < 3:
        node.refuse(f"its input has the rank {data.rank}, so it has no spatial axes")
    kernel = list(data.shape[2:])
    if not are_known(kernel) and node.op != "GlobalLpPool":
        op = reductions.reduce_max if node.op == "GlobalMaxPool" else reductions.reduce_mean
        return node.emit(op.__name__, op, [data], axes=tuple(range(2, data.rank)))
    if node.op == "GlobalLpPool":
        return node.emit("lp_pool", pooling.lp_pool, [data], p=_power(node), kernel=kernel)
    if node.op == "GlobalMaxPool":
        return node.emit("max_pool", pooling.max_pool, [data], kernel=kernel)
    return node.emit("average_pool", pooling.average_pool, [data], kernel=kernel)


@converts("MaxUnpool")
def max_unpool(node: Node) -> Value:
    """Put elements back where the maxima were."""
    data, indices = node.input(0), node.input(1)
    known = are_known(data.shape) and are_known(indices.shape)
    if known and list(indices.shape) != list(data.shape):
        node.refuse(
            f"its indices have the shape {list(indices.shape)}, but its values {list(data.shape)}"
        )
    rank = data.rank - 2
    kernel = numbers(node, "kernel_shape", rank, 1)
    strides = numbers(node, "strides", rank, 1)
    pads = numbers(node, "pads", 2 * rank, 0)
    extents = [
        (extent - 1) * strides[i] + kernel[i] - pads[i] - pads[rank + i]
        for i, extent in enumerate(data.shape[2:])
    ]
    shape = node.ints(2) if node.has(2) else [*data.shape[:2], *extents]
    return node.emit(
        "max_unpool", pooling.max_unpool, [data, indices], extents=extents, shape=shape
    )


__all__ = ["average_pool", "lp_pool", "max_pool", "max_unpool", "whole"]
