"""Attention of onnxruntime, which becomes ONNX's, and the rotary embeddings of its inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .... import te
from ....extents import Extent, agree, number_of, plain
from ....ops import attention as ops
from ...nodes import Node, Value
from ..registry import MICROSOFT, converts
from ..shapes import sizes_of

_HIDDEN = -10000.0  # the default of mask_filter_value


@converts("RotaryEmbedding", domain=MICROSOFT)
def rotary_embedding(node: Node) -> Value:
    """Rotate pairs of elements; positions are given, or count from one given position."""
    x, positions, cosines, sines = (node.input(i) for i in range(4))
    for name, default in (("is_packed_batching", 0), ("scale", 1.0)):
        if node.attributes.get(name, default) != default:
            node.refuse(f"its {name} is {node.attributes[name]}, but only {default} is supported")
    if x.rank not in (3, 4):
        node.refuse(f"its input has {x.rank} axes, neither 3 nor 4")
    if positions.shape == (1,):
        rows = x.shape[1 if x.rank == 3 else 2]
        positions = node.emit_part("positions", "positions", ops.positions, [positions], rows=rows)
    return _rotated(node, x, positions, (cosines, sines), _rotated_heads(node, x, cosines))


def _rotated_heads(node: Node, x: Value, cosines: Value) -> int:
    """Return the number of heads; without the attribute, all elements of a head are rotated."""
    heads = node.attributes.get("num_heads", 0)
    if heads or x.rank == 4:
        return int(heads)
    width, half = number_of(x.shape[-1]), number_of(cosines.shape[-1])
    if width is None or half is None or not half or width % (2 * half):
        node.refuse(f"its num_heads is missing, and cannot follow from {x.shape, cosines.shape}")
    return width // (2 * half)


def _rotated(
    node: Node, x: Value, positions: Value, tables: tuple[Value, Value], heads: int
) -> Value:
    rotated = number_of(tables[0].shape[-1])
    if rotated is None:
        node.refuse("the last axis of its cos_cache is open, which holds the rotated elements")
    if node.attributes.get("rotary_embedding_dim", 0) not in (0, 2 * rotated):
        node.refuse(
            f"its rotary_embedding_dim is {node.attributes['rotary_embedding_dim']}, but its "
            f"cos_cache has {rotated} columns"
        )
    interleaved = node.attributes.get("interleaved", node.attributes.get("rotary_interleaved", 0))
    options = {"num_heads": heads} if x.rank == 3 else {}
    return node.convert(
        "RotaryEmbedding",
        [x, *tables, positions],
        interleaved=interleaved,
        rotary_embedding_dim=2 * rotated,
        **options,
    )


@converts("MultiHeadAttention", domain=MICROSOFT)
def multi_head_attention(node: Node) -> list[Value]:
    """Convert attention with equal numbers of heads of queries and keys."""
    heads = node.attributes["num_heads"]
    if heads < 1:
        node.refuse(f"its num_heads is {heads}, not a positive number")
    for index, name in ((8, "past_sequence_length"), (9, "cache_indirection")):
        if node.has(index):
            node.refuse(f"its input {name}, for caches that grow in place, is not supported")
    if node.wants(3):
        node.refuse("its output qk is not supported")
    query, key, value = _biased(node, *_unpacked(node, heads))
    past = [node.input(i) if node.has(i) else None for i in (6, 7)]
    total = key.shape[2 if key.rank == 4 else 1]
    if node.attributes.get("unidirectional", 0) and not agree(query.shape[1], total):
        node.refuse(f"its unidirectional is set, but it has {query.shape[1]} queries, {total} keys")
    if past[0] is not None:
        total = plain(total + past[0].shape[2])
    mask = _mask(node, query, total)
    is_split = key.rank == 4
    if is_split:
        query = _split(node, query, heads)
    options: dict[str, Any] = {"is_causal": int(bool(node.attributes.get("unidirectional", 0)))}
    if not is_split:
        options |= {"q_num_heads": heads, "kv_num_heads": heads}
    if node.attributes.get("scale", 0.0):
        options["scale"] = node.attributes["scale"]
    count = 3 if node.wants(1) or node.wants(2) else 1
    made = node.convert_all("Attention", [query, key, value, mask, *past], outputs=count, **options)
    return [_merged(node, made[0]) if is_split else made[0], *made[1:]]


_ATTENTION_REFUSED = {4: "past", 6: "past_sequence_length"}
_ATTENTION_ONLY = {"do_rotary": (0,), "past_present_share_buffer": (0,)}


@converts("Attention", domain=MICROSOFT)
def attention(node: Node) -> Value:
    """Project an input to queries, keys and values, and convert attention without a cache."""
    _check_supported(node, _ATTENTION_REFUSED, _ATTENTION_ONLY)
    if node.wants(1):
        node.refuse("its output present is not supported")
    x, weights, heads = node.input(0), node.input(1), node.attributes["num_heads"]
    columns = number_of(weights.shape[-1])
    if x.rank != 3 or weights.rank != 2 or columns is None:
        node.refuse(
            f"its input and weights have the shapes {x.shape} and {weights.shape}, not [batch, "
            "length, size] and a known matrix"
        )
    widths = node.attributes.get("qkv_hidden_sizes") or [columns // 3] * 3
    if heads < 1 or len(widths) != 3 or sum(widths) != columns or any(e % heads for e in widths):
        node.refuse(
            f"its weights have {columns} columns, but num_heads is {heads} and qkv_hidden_sizes "
            f"are {widths}"
        )
    made = node.convert("MatMul", [x, weights])
    if node.has(2):
        made = node.convert("Add", [made, node.input(2)])
    firsts = np.cumsum([0, *widths[:-1]]).tolist()
    parts = [_columns(node, made, f, w) for f, w in zip(firsts, widths, strict=True)]
    options: dict[str, Any] = {"is_causal": int(bool(node.attributes.get("unidirectional", 0)))}
    if node.attributes.get("scale", 0.0):
        options["scale"] = node.attributes["scale"]
    mask = _mask(node, parts[0], x.shape[1], 3)
    return node.convert(
        "Attention", [*parts, mask], q_num_heads=heads, kv_num_heads=heads, **options
    )


def _unpacked(node: Node, heads: int) -> tuple[Value, Value, Value]:
    """Return queries, keys and values, which may be packed into one or two inputs."""
    query = node.input(0)
    if not node.has(1):
        parts = _parts(node, query, "query", heads, 3)
        return parts[0], parts[1], parts[2]
    key = node.input(1)
    if not node.has(2):
        first, second = _parts(node, key, "key", heads, 2)
        return query, first, second
    value = node.input(2)
    if query.rank != 3 or key.rank not in (3, 4) or value.rank != key.rank:
        node.refuse(
            f"its query, key and value have {query.rank}, {key.rank} and {value.rank} axes: 3, 3 "
            "and 3, or 3, 4 and 4, are supported"
        )
    return query, key, value


def _parts(node: Node, x: Value, name: str, heads: int, count: int) -> list[Value]:
    """Return the parts of ``[B, S, heads, count, D]``, each as ``[B, S, heads * D]``."""
    if x.rank != 5 or x.shape[2:4] != (heads, count):
        node.refuse(
            f"its {name} has the shape {x.shape}; one with {count} packed tensors is [batch, "
            f"length, {heads}, {count}, size]"
        )
    size = number_of(x.shape[4])
    if size is None:
        node.refuse(f"the last axis of its {name} is open, which holds the heads")
    shape = node.constant([0, 0, heads * size])
    return [
        node.convert("Reshape", [node.convert("Gather", [x, node.constant(i)], axis=3), shape])
        for i in range(count)
    ]


def _biased(node: Node, *given: Value) -> list[Value]:
    """Add the parts of the bias to queries, keys and values."""
    if not node.has(3):
        return list(given)
    bias = node.input(3)
    widths = [number_of(each.shape[-1]) for each in given]
    if any(each.rank != 3 for each in given) or None in widths:
        node.refuse("it has a bias, but keys and values with 4 axes or open sizes")
    known = [each for each in widths if each is not None]
    if bias.shape != (sum(known),):
        node.refuse(f"its bias has the shape {bias.shape}, not one number for each of {known}")
    made = []
    for x, width, first in zip(given, known, np.cumsum([0, *known[:-1]]).tolist(), strict=True):
        made.append(node.convert("Add", [x, _columns(node, bias, first, width)]))
    return made


def _columns(node: Node, x: Value, first: int, width: int) -> Value:
    """Return some columns of the last axis."""
    limits = [node.constant([each]) for each in (first, first + width, -1)]
    return node.convert("Slice", [x, *limits])


def _mask(node: Node, query: Value, total: Extent, index: int = 4) -> Value | None:
    """Return what is added to scores: the attention bias, and a number where keys are padding.

    The input `index` has the numbers of keys, or 0 where keys are padding.
    """
    bias = node.input(5) if node.has(5) else None
    if bias is not None and bias.rank != 4:
        node.refuse(f"its attention_bias has {bias.rank} axes, not 4")
    if not node.has(index):
        return bias
    padding, (batch, rows) = node.input(index), query.shape[:2]
    shapes = {1: (batch,), 2: (batch, total), 3: (batch, rows, total)}
    own = shapes.get(padding.rank, ())
    if len(own) != padding.rank or not all(map(agree, padding.shape, own)):
        name = "key_padding_mask" if index == 4 else "mask_index"
        node.refuse(
            f"its {name} has the shape {padding.shape}, not one of "
            f"{', '.join(map(str, shapes.values()))}"
        )
    hidden = node.emit_part(
        "padding",
        "padding",
        _padding,
        [padding],
        shape=(batch, 1, rows if padding.rank == 3 else 1, total),
        value=node.attributes.get("mask_filter_value", _HIDDEN),
        dtype=query.dtype,
    )
    return hidden if bias is None else node.convert("Add", [hidden, bias])


def _padding(mask: Any, *, shape: Sequence[Extent], value: float, dtype: str) -> Any:
    """Return 0 for keys that are shown, else `value`; `mask` has lengths, or 0 for padding."""

    def term(b: Any, _: Any, m: Any, n: Any) -> Any:
        if len(mask.shape) == 1:
            is_shown = n < mask(b)
        else:
            is_shown = (mask(b, n) if len(mask.shape) == 2 else mask(b, m, n)) > 0
        return te.if_then_else(is_shown, te.const(0, dtype), te.const(value, dtype))

    return te.compute(tuple(shape), term, name="padding")


def _split(node: Node, x: Value, heads: int) -> Value:
    """Return ``[B, S, H * D]`` as ``[B, H, S, D]``."""
    return node.emit_part("heads", "transpose", ops.split_heads, [x], heads=heads)


def _merged(node: Node, x: Value) -> Value:
    return node.emit_part("merged", "transpose", ops.merged_heads, [x])


@dataclass(frozen=True)
class _Cache:
    """Where the keys of this step are in the cache.

    Attributes
    ----------
    starts : Value
        ``[B]`` of int64: the number of keys before this step in each sequence.
    rows, length : int or Expr
        The numbers of keys of this step, and of places in the cache after it.
    """

    starts: Value
    rows: Extent
    length: Extent


_GQA_REFUSED = {  # inputs of GroupQueryAttention that are not supported
    11: "head_sink",
    12: "k_scale",
    13: "v_scale",
    14: "q_norm_weight",
    15: "k_norm_weight",
    16: "query_seqlens",
}
_GQA_ONLY = {  # attributes of GroupQueryAttention, and their supported values
    "k_quant_type": ("NONE",),
    "kv_cache_bit_width": (0,),
    "qk_output": (0,),
    "sliding_window_cache": (0,),
    "smooth_softmax": (-1, 0),
    "v_quant_type": ("NONE",),
}


@converts("GroupQueryAttention", domain=MICROSOFT)
def group_query_attention(node: Node) -> list[Value]:
    """Convert causal attention whose cache has, for each sequence, a number of keys of its own."""
    _check_group_query(node)
    heads = ops.Heads(node.attributes["num_heads"], node.attributes["kv_num_heads"])
    query, key, value = _grouped(node, heads)
    cache = _cache_of(node, query)
    if node.attributes.get("do_rotary", 0):
        query, key = _with_rotary(node, query, key, heads, cache)
    present = [
        _inserted(node, each, past, name, heads.key, cache)
        for each, past, name in ((key, 3, "present_key"), (value, 4, "present_value"))
    ]
    options = {
        "is_causal": int(bool(node.attributes.get("causal", 1))),
        "softcap": node.attributes.get("softcap", 0.0),
    }
    if node.attributes.get("scale", 0.0):
        options["scale"] = node.attributes["scale"]
    window = node.attributes.get("local_window_size", -1)
    if window > 0:
        options["left_window_size"] = window - 1
    lengths = node.convert("Add", [cache.starts, sizes_of(node, [cache.rows])])
    bias = node.input(10) if node.has(10) else None
    inputs = [_split(node, query, heads.query), *present, bias, None, None, lengths]
    return [_merged(node, node.convert("Attention", inputs, **options)), *present]


def _check_supported(
    node: Node, refused: Mapping[int, str], only: Mapping[str, tuple[Any, ...]]
) -> None:
    """Refuse these inputs, and other values of these attributes."""
    for index, name in refused.items():
        if node.has(index):
            node.refuse(f"its input {name} is not supported")
    for name, values in only.items():
        given = node.attributes.get(name, values[0])
        if given not in values:
            node.refuse(f"its {name} is {given!r}, but only {values[-1]!r} is supported")


def _check_group_query(node: Node) -> None:
    _check_supported(node, _GQA_REFUSED, _GQA_ONLY)
    if node.has(3) != node.has(4):
        node.refuse("it has only one of past_key and past_value")
    if node.wants(3):
        node.refuse("its output output_qk is not supported")
    for name in ("num_heads", "kv_num_heads"):
        if node.attributes[name] < 1:
            node.refuse(f"its {name} is {node.attributes[name]}, not a positive number")


def _grouped(node: Node, heads: ops.Heads) -> list[Value]:
    """Return queries, keys and values, which may be packed into the queries."""
    query = node.input(0)
    if node.has(1) != node.has(2):
        node.refuse("it has only one of key and value")
    given = [query, *(node.input(i) for i in (1, 2) if node.has(i))]
    if any(each.rank != 3 for each in given):
        node.refuse("its query, key or value has not 3 axes")
    if len(given) == 3:
        return given
    width, count = number_of(query.shape[2]), heads.query + 2 * heads.key
    if width is None or width % count:
        node.refuse(f"{count} heads of queries, keys and values do not divide {query.shape[2]}")
    size = width // count
    places = ((0, heads.query), (heads.query, heads.key), (heads.query + heads.key, heads.key))
    return [_columns(node, query, first * size, number * size) for first, number in places]


def _cache_of(node: Node, query: Value) -> _Cache:
    """Return where the keys of this step are.

    If this step has all keys, it is the first one; else `seqlens_k` counts the keys of each
    sequence after this step, less one.
    """
    (total,), (batch, rows) = node.ints(6), query.shape[:2]
    lengths = node.input(5)
    if lengths.rank == 2 and number_of(lengths.shape[1]) == 1:
        lengths = node.convert("Reshape", [lengths, node.constant([-1])])
    if lengths.rank != 1 or not agree(lengths.shape[0], batch):
        node.refuse(
            f"its seqlens_k has the shape {lengths.shape}, not one number for each of {batch} "
            "sequences"
        )
    past = node.input(3).shape[2] if node.has(3) and node.input(3).rank == 4 else 0
    known = number_of(past), number_of(total)
    if None in known:
        length = total if known[0] == 0 else plain(te.max(past, total))
    else:
        length = max(known)  # type: ignore[type-var]
    starts = node.emit_part(
        "starts", "starts", ops.sequence_starts, [lengths], rows=rows, total=total
    )
    return _Cache(starts, rows, length)


def _with_rotary(
    node: Node, query: Value, key: Value, heads: ops.Heads, cache: _Cache
) -> tuple[Value, Value]:
    if not node.has(7) or not node.has(8):
        node.refuse("its do_rotary is set, but cos_cache or sin_cache is missing")
    tables = node.input(7), node.input(8)
    positions = node.input(9) if node.has(9) else None
    if positions is None:
        given = {"rows": cache.rows}
        positions = node.emit_part("positions", "positions", ops.positions, [cache.starts], **given)
    return (
        _rotated(node, query, positions, tables, heads.query),
        _rotated(node, key, positions, tables, heads.key),
    )


def _inserted(node: Node, new: Value, past: int, name: str, heads: int, cache: _Cache) -> Value:
    """Return the cache with the keys or values of this step, and zeros after them."""
    given = [new, cache.starts]
    if node.has(past) and not node.input(past).is_empty:
        given.append(node.input(past))
        if given[-1].rank != 4:
            node.refuse(f"its past_{name[8:]} has {given[-1].rank} axes, not 4")
    return node.emit_part(name, "cache", ops.inserted, given, heads=heads, length=cache.length)


__all__ = ["attention", "group_query_attention", "multi_head_attention", "rotary_embedding"]
