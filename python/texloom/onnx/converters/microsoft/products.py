"""Products and convolutions of onnxruntime: with transposed factors, and activations after them."""

from __future__ import annotations

from collections.abc import Sequence

from ....extents import agree
from ...nodes import Node, Value
from ..registry import MICROSOFT, converts
from .activations import activated, parameter_names

_WINDOWS = ("auto_pad", "dilations", "group", "kernel_shape", "pads", "strides")


@converts("FusedMatMul", "TransposeMatMul", domain=MICROSOFT)
def fused_matmul(node: Node) -> Value:
    """Multiply matrices, which may be stored transposed, and scale the product."""
    factors = [_oriented(node, node.input(i), "AB"[i]) for i in range(2)]
    product = node.convert("MatMul", factors)
    alpha = node.attributes.get("alpha", 1.0)
    if alpha == 1:
        return product
    return node.convert("Mul", [product, node.constant(alpha, product.dtype)])


def _oriented(node: Node, x: Value, name: str) -> Value:
    """Return a factor as ``[..., rows, columns]``.

    With `transBatch`, the first axis is that of the rows; with `trans`, rows and columns are then
    exchanged.
    """
    order = list(range(x.rank))
    if node.attributes.get(f"transBatch{name}", 0):
        if x.rank < 3:
            node.refuse(f"its transBatch{name} needs 3 axes or more, but its input has {x.rank}")
        order = [*order[1:-1], order[0], order[-1]]
    if node.attributes.get(f"trans{name}", 0) and x.rank > 1:
        order[-2:] = order[-1], order[-2]
    return transposed(node, x, order)


def transposed(node: Node, x: Value, order: Sequence[int]) -> Value:
    """Return `x` with its axes in another order."""
    if list(order) == list(range(x.rank)):
        return x
    return node.convert("Transpose", [x], perm=list(order))


@converts("FusedGemm", domain=MICROSOFT)
def fused_gemm(node: Node) -> Value:
    """Convert Gemm with an activation after it."""
    names = ("alpha", "beta", "transA", "transB")
    own = {name: node.attributes[name] for name in names if name in node.attributes}
    product = node.convert("Gemm", [node.input(i) for i in range(3) if node.has(i)], **own)
    given = {
        name: node.attributes[f"activation_{name}"]
        for name in parameter_names(node)
        if f"activation_{name}" in node.attributes
    }
    if node.attributes.get("activation") == "Clip":
        node.refuse("its activation is 'Clip', for whose limits it has no attributes")
    return activated(node, product, given)


@converts("FusedConv", domain=MICROSOFT)
def fused_conv(node: Node) -> Value:
    """Convert a convolution, to which a tensor may be added, with an activation after it."""
    made = node.convert("Conv", _given(node), **_windows(node))
    if node.has(3):
        other = node.input(3)
        if other.rank != made.rank or not all(map(agree, other.shape, made.shape)):
            node.refuse(f"its Z has the shape {other.shape}, not that of its output, {made.shape}")
        made = node.convert("Add", [made, other])
    names, values = parameter_names(node), node.attributes.get("activation_params", [])
    if len(values) not in (0, len(names)):
        node.refuse(
            f"its activation_params are {len(values)} numbers, but its activation has {len(names)}"
        )
    return activated(node, made, dict(zip(names, values, strict=False)))


@converts("NhwcConv", domain=MICROSOFT)
def nhwc_conv(node: Node) -> Value:
    """Convert a convolution whose tensors, also the weights, have channels as the last axis."""
    x, weight, *bias = _given(node)
    if x.rank < 3 or weight.rank != x.rank:
        node.refuse(f"its input has {x.rank} axes and its weights {weight.rank}")
    inputs = [channels_first(node, x), channels_first(node, weight), *bias]
    return channels_last(node, node.convert("Conv", inputs, **_windows(node)))


def channels_first(node: Node, x: Value) -> Value:
    """Return ``[N, ..., C]`` as ``[N, C, ...]``."""
    return transposed(node, x, [0, x.rank - 1, *range(1, x.rank - 1)])


def channels_last(node: Node, x: Value) -> Value:
    """Return ``[N, C, ...]`` as ``[N, ..., C]``."""
    return transposed(node, x, [0, *range(2, x.rank), 1])


def _given(node: Node) -> list[Value]:
    return [node.input(i) for i in range(3) if node.has(i)]


def _windows(node: Node) -> dict[str, object]:
    return {name: node.attributes[name] for name in _WINDOWS if name in node.attributes}


__all__ = [
    "channels_first",
    "channels_last",
    "fused_conv",
    "fused_gemm",
    "fused_matmul",
    "nhwc_conv",
    "transposed",
]
