"""Normalizations of onnxruntime: of sums of several tensors, and of embeddings."""

from __future__ import annotations

from ....extents import agree, number_of
from ....ops.precision import sum_dtype
from ...nodes import Node, Value
from ..normalization import rms_normalization
from ..registry import MICROSOFT, converts
from ..shapes import sizes_of
from .activations import check_row

_EPSILON = 9.999999960041972e-13  # 1e-12 as float32
_MASK, _POSITIONS = 7, 8  # inputs of EmbedLayerNormalization


@converts("SimplifiedLayerNormalization")
def simplified_layer_normalization(node: Node) -> Value:
    """Convert a normalization by the root mean square."""
    if node.wants(1):
        node.refuse("its second output, inv_std_var, is not supported")
    if node.attributes.get("stash_type", 1) not in (0, 1):  # some files have 0: undefined
        node.refuse(f"its stash_type is {node.attributes['stash_type']}, not 1 (float32)")
    return rms_normalization(node)


@converts("SkipLayerNormalization", "SkipSimplifiedLayerNormalization", domain=MICROSOFT)
def skip_normalization(node: Node) -> list[Value]:
    """Normalize the sum of a tensor, a skipped connection and a bias; the fourth output is the sum.

    Sums are of the type in which elements are summed.
    """
    _check_outputs(node)
    is_simplified = node.op == "SkipSimplifiedLayerNormalization"
    x, skip, scale = (node.input(i) for i in range(3))
    expected = x.shape if skip.rank == x.rank else x.shape[1:]
    if skip.rank == x.rank and number_of(skip.shape[0]) == 1:
        expected = (1, *x.shape[1:])
    fits = skip.rank == len(expected) and all(map(agree, skip.shape, expected))
    if x.rank not in (2, 3) or not fits:
        node.refuse(
            f"its skip of the shape {skip.shape} does not fit its input of the shape {x.shape}, "
            "which needs 2 or 3 axes"
        )
    total = node.convert("Add", [_wide(node, x), _wide(node, skip)])
    if node.has(3 if is_simplified else 4):
        bias = node.input(3 if is_simplified else 4)
        check_row(node, "bias", bias, x)
        total = node.convert("Add", [total, _wide(node, bias)])
    shift = None if is_simplified or not node.has(3) else node.input(3)
    made = _normalized(node, total, scale, shift, is_simplified)
    return [node.cast(made, x.dtype), made, made, node.cast(total, x.dtype)]


def _check_outputs(node: Node) -> None:
    if node.wants(1) or node.wants(2):
        node.refuse("its outputs mean and inv_std_var are not supported")


def _normalized(
    node: Node, x: Value, scale: Value, shift: Value | None, is_simplified: bool = False
) -> Value:
    """Normalize over the last axis."""
    check_row(node, "gamma", scale, x)
    epsilon = node.attributes.get("epsilon", _EPSILON)
    if is_simplified:
        return node.convert("RMSNormalization", [x, _wide(node, scale)], epsilon=epsilon)
    inputs = [x, _wide(node, scale)]
    if shift is not None:
        check_row(node, "beta", shift, x)
        inputs.append(_wide(node, shift))
    return node.convert("LayerNormalization", inputs, epsilon=epsilon)


def _wide(node: Node, x: Value) -> Value:
    return node.cast(x, sum_dtype(x.dtype))


@converts("EmbedLayerNormalization", domain=MICROSOFT)
def embed_layer_normalization(node: Node) -> list[Value]:
    """Add the embeddings of words, positions and segments, and normalize the sum.

    The second output is the number of shown words in each sequence, the third the sum.
    """
    ids, words, places = node.input(0), node.input(2), node.input(3)
    if ids.rank != 2 or any(each.rank != 2 for each in (words, places)):
        node.refuse(
            f"its input_ids, word_embedding and position_embedding have {ids.rank}, {words.rank} "
            f"and {places.rank} axes, not 2 each"
        )
    if node.has(1) != node.has(4):
        node.refuse("it has only one of segment_ids and segment_embedding")
    terms = [node.convert("Gather", [words, ids]), _positions(node, ids, places)]
    if node.has(1):
        terms.append(node.convert("Gather", [node.input(4), node.input(1)]))
    total = _wide(node, terms[0])
    for each in terms[1:]:
        total = node.convert("Add", [total, _wide(node, each)])
    made = _normalized(node, total, node.input(5), node.input(6))
    outputs = [node.cast(made, words.dtype)]
    if node.wants(1):
        outputs.append(_shown(node, ids))
    if node.wants(2):
        outputs += [outputs[0]] * (2 - len(outputs)) + [node.cast(total, words.dtype)]
    return outputs


def _positions(node: Node, ids: Value, places: Value) -> Value:
    """Return the embeddings of the positions, by default 0, 1 and so on."""
    tokens = ids.shape[1]
    if node.has(_POSITIONS):
        positions = node.input(_POSITIONS)
        if positions.rank != 2 or not agree(positions.shape[1], tokens):
            node.refuse(f"its position_ids have the shape {positions.shape}, not {ids.shape}")
        return node.convert("Gather", [places, positions])
    return node.convert("Slice", [places, node.constant([0]), sizes_of(node, [tokens])])


def _shown(node: Node, ids: Value) -> Value:
    """Return how many words of each sequence have the mask 1; 0 without a mask."""
    kind = node.attributes.get("mask_index_type", 0)
    if kind not in (0, 1):
        node.refuse(f"its mask_index_type is {kind}, neither 0 nor 1")
    if node.has(_MASK):
        is_shown = node.convert("Equal", [node.input(_MASK), node.constant(1, "int32")])
        ones = node.cast(is_shown, "int32")
        return node.convert("ReduceSum", [ones, node.constant([1])], keepdims=0)
    shape = sizes_of(node, [ids.shape[0]])
    return node.convert("Expand", [node.constant([0], "int32"), shape])


__all__ = ["embed_layer_normalization", "simplified_layer_normalization", "skip_normalization"]
