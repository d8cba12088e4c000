"""Convolutions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...extents import Extent, are_known, is_at_most, plain
from ...ops import convolution, movement, products
from ...ops.convolution import winograd
from ...ops.windows import Windows
from ..nodes import Node, Value
from . import words
from .registry import converts
from .windows import (
    SAME,
    check_kernel,
    numbers,
    padding_mode,
    positive_part,
    shared_out,
    window_attributes,
)


def _attributes(node: Node, data: Value, weight: Value) -> dict[str, Any]:
    """Return the attributes of a convolution: windows, and groups."""
    if data.rank < 3 or weight.rank != data.rank:
        node.refuse(f"its input has the rank {data.rank}, but its weights have {weight.rank}")
    made = window_attributes(node, data.shape[2:], weight.shape[2:])
    return {**made, "groups": _groups(node)}


def _trimmed_weights(node: Node, data: Value, weight: Value) -> tuple[Value, dict[str, Any]]:
    """Return the weights and the attributes of a convolution.

    Constant weights lose the elements that only padding is multiplied by.
    """
    attributes = _attributes(node, data, weight)
    if weight.array is None or weight.is_empty:
        return weight, attributes
    given = (attributes[name] for name in ("strides", "pads", "dilations"))
    windows, kept = Windows.of(weight.shape[2:], *given).trimmed(data.shape[2:])
    if windows.kernel == tuple(weight.shape[2:]):
        return weight, attributes
    attributes["pads"] = [*windows.begins, *windows.ends]
    return node.constant(weight.array[(..., *kept)]), attributes


def _groups(node: Node) -> int:
    groups = int(node.attributes.get("group", 1))
    if groups < 1:
        node.refuse(f"its group is {groups}, not a positive number")
    return groups


def _given(node: Node, *indices: int) -> list[Value]:
    return [node.input(i) for i in indices if node.has(i)]


@converts("Conv")
def conv(node: Node) -> Value:
    """Convert a convolution along one or several axes."""
    data = node.input(0)
    weight, attributes = _trimmed_weights(node, data, node.input(1))
    if _suits_tiles(node, data, weight, attributes):
        return _by_tiles(node, data, weight, attributes["pads"])
    if _is_of_patches(data, weight, attributes):
        return _of_patches(node, data, weight)
    given = [data, weight, *_given(node, 2)]
    return node.emit("conv", convolution.convolution, given, **attributes)


_LEAST_PATCH = 128
"""The least elements of a patch of several pixels: copies of smaller ones take longer than their
products."""
_MOST_CHANNELS = 4
"""The most channels of such a patch: with more, vectors of channels are fast."""


def _is_of_patches(data: Value, weight: Value, attributes: dict[str, Any]) -> bool:
    """Whether a convolution multiplies patches that do not overlap, and a product is faster.

    The only pixel of an image is such a patch.
    """
    if weight.array is None or weight.is_empty or not are_known(data.shape):
        return False
    if attributes["groups"] != 1 or any(attributes["pads"]) or weight.shape[1] != data.shape[1]:
        return False
    kernel, places = tuple(weight.shape[2:]), tuple(data.shape[2:])
    if {*kernel, *places} == {1}:
        return True
    if {*attributes["dilations"]} != {1} or tuple(attributes["strides"]) != kernel:
        return False
    is_whole = all(n % k == 0 for n, k in zip(places, kernel, strict=True))
    is_large = math.prod(weight.shape[1:]) >= _LEAST_PATCH
    return is_whole and is_large and weight.shape[1] <= _MOST_CHANNELS


def _of_patches(node: Node, data: Value, weight: Value) -> Value:
    """Compute a convolution of patches as a product of matrices: a patch is a row."""
    batch, channels = data.shape[:2]
    kernel, outputs = weight.shape[2:], weight.shape[0]
    counts = [n // k for n, k in zip(data.shape[2:], kernel, strict=True)]
    cut = [batch, channels, *(each for pair in zip(counts, kernel, strict=True) for each in pair)]
    spatial = range(len(counts))
    order = [0, *(2 + 2 * i for i in spatial), 1, *(3 + 2 * i for i in spatial)]

    def reshaped(value: Value, shape: Sequence[Any]) -> Value:
        return node.convert("Reshape", [value, node.constant(shape, "int64")])

    patches = node.convert("Transpose", [reshaped(data, cut)], perm=order)
    rows = reshaped(patches, [batch * math.prod(counts), channels * math.prod(kernel)])
    matrix = node.constant(weight.array.reshape(outputs, -1).T)
    made = node.convert("MatMul", [rows, matrix])
    if node.has(2):
        made = node.convert("Add", [made, node.input(2)])
    image = reshaped(made, [batch, *counts, outputs])
    last = len(counts) + 1
    return node.convert("Transpose", [image], perm=[0, last, *range(1, last)])


def _suits_tiles(node: Node, data: Value, weight: Value, attributes: dict[str, Any]) -> bool:
    """Whether fewer products of transformed tiles may compute a convolution, and do it faster."""
    steps = (attributes["groups"], *attributes["strides"], *attributes["dilations"])
    if not node.fast_math or {*steps} != {1} or weight.array is None or weight.dtype != "float32":
        return False
    if weight.shape[2:] != (3, 3) or not are_known((*data.shape, *attributes["pads"])):
        return False
    extents = _windows(attributes["pads"]).counts(data.shape[2:])
    return weight.shape[1] == data.shape[1] and winograd.is_worth_it(
        data.shape[0], weight.shape[1], weight.shape[0], extents
    )


def _windows(pads: Sequence[int]) -> Windows:
    return Windows.of((3, 3), pads=pads)


def _by_tiles(node: Node, data: Value, weight: Value, pads: Sequence[int]) -> Value:
    """Compute a convolution by products of transformed tiles and transformed weights."""
    transformed = node.constant(winograd.transformed_weights(weight.array))
    extents = _windows(pads).counts(data.shape[2:])
    tiles = node.emit_part(
        "tiles", "tiles", winograd.transformed_tiles, [data], pads=pads[:2], extents=extents
    )
    made = node.emit_part("products", "matmul", products.matmul, [tiles, transformed])
    return node.emit(
        "pixels",
        winograd.pixels_of_tiles,
        [made, *_given(node, 2)],
        images=data.shape[0],
        extents=extents,
    )


@converts("ConvTranspose")
def conv_transpose(node: Node) -> Value:
    """Convert a transposed convolution; attributes may give the extents of its output."""
    data, weight = node.input(0), node.input(1)
    if data.rank < 3 or weight.rank != data.rank:
        node.refuse(f"its input has the rank {data.rank}, but its weights have {weight.rank}")
    rank = data.rank - 2
    kernel = list(weight.shape[2:])
    check_kernel(node, kernel)
    strides = numbers(node, "strides", rank, 1)
    dilations = numbers(node, "dilations", rank, 1)
    extra = numbers(node, "output_padding", rank, 0)
    pads: list[Extent] = [*numbers(node, "pads", 2 * rank, 0)]
    mode = padding_mode(node)
    whole = [
        (extent - 1) * stride + (kernel - 1) * dilation + 1 + more
        for extent, stride, kernel, dilation, more in zip(
            data.shape[2:], strides, weight.shape[2:], dilations, extra, strict=True
        )
    ]
    extents = node.attributes.get("output_shape")
    if extents is None and mode in SAME:
        extents = [e * stride for e, stride in zip(data.shape[2:], strides, strict=True)]
        if any(not is_at_most(e, w) for w, e in zip(whole, extents, strict=True)):
            node.refuse(
                f"its auto_pad is {mode}, but windows of {kernel} with dilations of {dilations} "
                f"are smaller than the strides {strides}: give output_shape or pads in place of "
                "auto_pad, because programs do not agree where the missing elements are"
            )
    if extents is not None:
        extents = list(extents)[-rank:]
        totals = [positive_part(plain(w - e)) for w, e in zip(whole, extents, strict=True)]
        pads = shared_out(totals, more_at_begin=mode != "SAME_UPPER")
    elif mode == "VALID":
        pads = [0] * (2 * rank)
    if extents is None:
        extents = [plain(w - pads[i] - pads[rank + i]) for i, w in enumerate(whole)]
    if any(isinstance(each, int) and each < 1 for each in extents):
        node.refuse(f"its output would have the extents {extents}, which are not all positive")
    block = _block_of(node, weight, strides, dilations)
    if (
        block is not None
        and not any((*pads, *extra))
        and node.attributes.get("output_shape") is None
    ):
        return _spread(node, block)
    return node.emit(
        "conv_transpose",
        convolution.transposed_convolution,
        _given(node, 0, 1, 2),
        extents=extents,
        begins=pads[:rank],
        strides=strides,
        dilations=dilations,
        groups=_groups(node),
    )


def _block_of(
    node: Node, weight: Value, strides: Sequence[int], dilations: Sequence[int]
) -> int | None:
    """Return the side of the square of outputs that each input element contributes to.

    None if squares overlap, if the weights or the bias are not constants, or for several groups.
    """
    kernel = list(weight.shape[2:])
    is_apart = kernel == list(strides) and {*dilations} == {1} and len({*kernel}) == 1
    is_known = all(each.array is not None for each in _given(node, 1, 2))
    is_plain = is_known and node.attributes.get("group", 1) == 1
    return kernel[0] if is_apart and is_plain and len(kernel) == 2 else None


def _spread(node: Node, block: int) -> Value:
    """Compute the pixels of each square as channels, then move them to their places.

    So the convolution becomes a matrix product.
    """
    data, weight = node.input(0), node.known(1)
    inputs, outputs = weight.shape[:2]
    pixels = block * block
    square = weight.transpose(2, 3, 1, 0).reshape(pixels * outputs, inputs, 1, 1)
    given = [data, node.constant(square)]
    if node.has(2):
        given.append(node.constant(np.tile(node.known(2), pixels)))
    deep = node.emit("conv", convolution.convolution, given)
    return node.emit("depth_to_space", movement.depth_to_space, [deep], block=block)


@converts("DeformConv")
def deform_conv(node: Node) -> Value:
    """Convert a deformable convolution, whose taps are moved by offsets."""
    data, weight = node.input(0), node.input(1)
    if data.rank != 4:
        node.refuse(f"its input has {data.rank - 2} spatial axes, but only two are supported")
    attributes = _attributes(node, data, weight)
    attributes["offset_groups"] = node.attributes.get("offset_group", 1)
    inputs = _given(node, 0, 1, 2, 3)
    if node.has(4):
        if not node.has(3):
            inputs.append(node.constant([0] * weight.shape[0], data.dtype))
        inputs.append(node.input(4))
    return node.emit("deform_conv", convolution.deformable_convolution, inputs, **attributes)


@converts("ConvInteger")
def conv_integer(node: Node) -> Value:
    """Convert a convolution of 8-bit integers with 32-bit sums."""
    data = node.input(0)
    weight, attributes = _trimmed_weights(node, data, node.input(1))
    given = [node.input(i) if node.has(i) else None for i in (2, 3)]
    made = words.conv(node, data, weight, *given, attributes)
    if made is not None:
        return made
    zeros = [node.constant([0], "int32") if each is None else each for each in given]
    return node.emit(
        "conv_integer",
        convolution.convolution_integer,
        [data, weight, *zeros],
        sums=_sums_of(data, weight, *zeros),
        **attributes,
    )


def _sums_of(data: Value, weight: Value, data_zero: Value, weight_zero: Value) -> str:
    """Return float32 if float32 represents all possible sums exactly, else int32."""
    if weight.array is None or weight_zero.array is None:
        return "int32"
    limits = np.iinfo(data.dtype)
    zeros = np.array([limits.min, limits.max]) if data_zero.array is None else data_zero.array
    zeros = zeros.astype("int64")
    farthest = max(int(limits.max - zeros.min()), int(zeros.max() - limits.min))
    of_channels = weight_zero.array.astype("int64").reshape(-1, *[1] * (weight.rank - 1))
    magnitudes = np.abs(weight.array.astype("int64") - of_channels)
    largest = magnitudes.reshape(weight.shape[0], -1).sum(1).max() * farthest
    return "float32" if largest <= words.EXACT_IN_FLOAT32 else "int32"


@converts("QLinearConv")
def qlinear_conv(node: Node) -> Value:
    """Convert a convolution of quantized tensors."""
    data, data_scale, data_zero, weight, weight_scale, weight_zero, scale, zero = (
        node.input(i) for i in range(8)
    )
    weight, attributes = _trimmed_weights(node, data, weight)
    bias = node.input(8) if node.has(8) else None
    sums = words.conv(node, data, weight, data_zero, weight_zero, attributes, bias)
    if sums is not None:
        return words.requantize(node, sums, (data_scale, weight_scale), scale, zero, 1)
    return node.emit(
        "qlinear_conv",
        convolution.convolution_requantized,
        [*_given(node, 0, 1, 2), weight, *_given(node, *range(4, 9))],
        sums=_sums_of(data, weight, data_zero, weight_zero),
        **attributes,
    )


__all__ = ["conv", "conv_integer", "conv_transpose", "deform_conv", "qlinear_conv"]
