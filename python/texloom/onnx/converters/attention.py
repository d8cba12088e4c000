"""Attention, and the rotary embeddings of its queries and keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from ...extents import Extent, agree, agreed, at_least, number_of, plain
from ...ops import attention as ops
from ...ops import elementwise, movement, normalization
from ...ops.broadcast import broadcast_shape
from ..nodes import Node, Value
from ..nodes.types import float_name
from .registry import converts

_QUERY, _KEY, _VALUE, _MASK, _PAST_KEY, _PAST_VALUE, _LENGTHS = range(7)


@dataclass(frozen=True)
class _Sizes:
    """The extents of attention.

    Attributes
    ----------
    heads : Heads
    batch, rows : int or Expr
        The number of sequences, and of the queries in each.
    depth : int or Expr
        The number of elements of a query in one head.
    past, total : int or Expr
        The number of keys in the cache, and of all keys.
    """

    heads: ops.Heads
    batch: Extent
    rows: Extent
    depth: Extent
    past: Extent
    total: Extent


@converts("Attention")
def attention(node: Node) -> list[Value]:
    """Convert attention over heads, with masks and caches.

    Scores are of the type in which elements of queries are summed; the softmax is computed in
    `softmax_precision` if that is wider. The graph may fuse the whole attention into one kernel.
    """
    _check_attributes(node)
    sizes = _sizes(node)
    query = node.input(_QUERY)
    key = _cached(node, _KEY, _PAST_KEY, "key", sizes.heads.key)
    value = _cached(node, _VALUE, _PAST_VALUE, "value", sizes.heads.key)
    columns = node.emit_part("columns", "transpose", ops.key_columns, [key], heads=sizes.heads.key)
    made = node.emit_part("scores", "matmul", ops.scores, [query, columns], heads=sizes.heads)
    scaled = _scaled(node, made, sizes)
    capped = _capped(node, scaled)
    masked, may_hide_all = _masked(node, capped, sizes)
    weights = _weights(node, masked, may_hide_all)
    outputs = [_sums(node, weights, value, sizes), key, value]
    if node.wants(3):
        exposed = (scaled, capped, masked, weights)[node.attributes.get("qk_matmul_output_mode", 0)]
        outputs.append(_cast(node, "exposed", exposed, query.dtype))
    return outputs


def _check_attributes(node: Node) -> None:
    mode = node.attributes.get("qk_matmul_output_mode", 0)
    if mode not in range(4):
        node.refuse(f"its qk_matmul_output_mode is {mode}, not 0, 1, 2 or 3")
    precision = node.attributes.get("softmax_precision")
    if precision is not None and float_name(precision) is None:
        node.refuse(f"its softmax_precision {precision} is not the number of a floating-point type")
    if node.attributes.get("softcap", 0.0) < 0:
        node.refuse(f"its softcap is {node.attributes['softcap']}, which is negative")
    for name in ("left_window_size", "right_window_size"):
        if node.attributes.get(name, -1) < -1:
            node.refuse(f"its {name} is {node.attributes[name]}, neither -1 nor a number of keys")
    if node.has(_PAST_KEY) != node.has(_PAST_VALUE):
        node.refuse("it has only one of past_key and past_value")
    if node.has(_LENGTHS) and node.has(_PAST_KEY):
        node.refuse("it has both nonpad_kv_seqlen and past_key, which exclude each other")


def _sizes(node: Node) -> _Sizes:
    """Return the extents; refuse inputs that do not fit together."""
    given = [node.input(i) for i in (_QUERY, _KEY, _VALUE)]
    ranks = [each.rank for each in given]
    if ranks not in ([3, 3, 3], [4, 4, 4]):
        node.refuse(f"its queries, keys and values have {_list(ranks)} axes, not 3 each or 4 each")
    heads = _heads(node, given)
    counts = (heads.query, heads.key, heads.key)
    query, key, value = (
        ops.split_shape(each.shape, count) for each, count in zip(given, counts, strict=True)
    )
    batch = _common(
        node, "numbers of sequences of queries, keys and values", query[0], key[0], value[0]
    )
    depth = _common(node, "sizes of queries and keys", query[3], key[3])
    rows = _common(node, "numbers of keys and values", key[2], value[2])
    past: Extent = 0
    if node.has(_PAST_KEY) and not node.input(_PAST_KEY).is_empty:
        caches = node.input(_PAST_KEY), node.input(_PAST_VALUE)
        names = ("past_key", "past_value")
        for name, cache, width in zip(names, caches, (key[3], value[3]), strict=True):
            own = (batch, heads.key, cache.shape[2] if cache.rank == 4 else 0, width)
            if cache.rank != 4 or not all(map(agree, cache.shape, own)):
                needed = _list((batch, heads.key, "length", width))
                node.refuse(f"its {name} has the shape {cache.shape}, not ({needed})")
        past = _common(
            node, "lengths of past_key and past_value", *(each.shape[2] for each in caches)
        )
    return _Sizes(heads, batch, query[2], depth, past, plain(past + rows))


def _common(node: Node, named: str, *extents: Extent) -> Extent:
    made = agreed(extents)
    if made is None:
        node.refuse(f"the {named} differ: {_list(extents)}")
    return made


def _list(extents: Sequence[Extent | str]) -> str:
    return ", ".join(map(str, extents))


def _heads(node: Node, given: Sequence[Value]) -> ops.Heads:
    """Return the numbers of heads, which are attributes for inputs of three axes."""
    names = ("q_num_heads", "kv_num_heads", "kv_num_heads")
    counts = []
    for each, name in zip(given, names, strict=True):
        named = node.attributes.get(name)
        count = named if each.rank == 3 else number_of(each.shape[1])
        if count is None:
            why = "are open" if each.rank == 4 else f"need {name}, which is missing"
            node.refuse(f"the heads of its inputs of {each.rank} axes {why}")
        if named not in (None, count):
            node.refuse(f"its {name} is {named}, but an input has {count} heads")
        _check_divides(node, each, count)
        counts.append(count)
    query, key, value = counts
    if key != value or query % key:
        node.refuse(
            f"{query} heads of queries do not share {key} heads of keys and {value} of values: "
            "keys and values need equal numbers, and queries a multiple of that number"
        )
    return ops.Heads(query, key)


def _check_divides(node: Node, x: Value, heads: int) -> None:
    """Refuse a tensor whose last axis does not hold this number of heads."""
    if heads < 1:
        node.refuse(f"its number of heads is {heads}, which is not positive")
    if x.rank == 4:
        return
    width = number_of(x.shape[-1])
    if width is None:
        node.refuse(
            f"the last extent of an input of shape {x.shape} is open, but {heads} heads share it"
        )
    if width % heads:
        node.refuse(f"{heads} heads do not divide the last axis of an input of shape {x.shape}")


def _cached(node: Node, index: int, past: int, name: str, heads: int) -> Value:
    """Return keys or values, appended to the cache; if they are an output, heads are an axis."""
    x = node.input(index)
    part = f"present_{name}"
    if node.has(past) and not node.input(past).is_empty:
        given = [node.input(past), x]
        if x.rank == 4:
            return node.emit_part(part, "concat", movement.concatenate, given, axis=2)
        return node.emit_part(part, "concat", ops.appended, given, heads=heads)
    if x.rank == 3 and node.wants(index):  # the output has an axis for the heads
        return node.emit_part(part, "transpose", ops.split_heads, [x], heads=heads)
    return x


def _scaled(node: Node, scores: Value, sizes: _Sizes) -> Value:
    scale = node.attributes.get("scale")
    if scale is None:
        depth = number_of(sizes.depth)
        if depth is None:
            node.refuse("its scale depends on the size of its queries, which is open")
        scale = 1 / sqrt(depth)
    if scale == 1:
        return scores
    factor = node.constant(scale, scores.dtype)
    return node.emit_part("scaled", "mul", elementwise.multiply, [scores, factor])


def _capped(node: Node, scores: Value) -> Value:
    limit = node.attributes.get("softcap", 0.0)
    if limit == 0:
        return scores
    return node.emit_part("capped", "softcap", elementwise.soft_cap, [scores], limit=limit)


def _masked(node: Node, scores: Value, sizes: _Sizes) -> tuple[Value, bool]:
    """Return the scores, minus infinity for hidden keys, and whether a row may hide all keys."""
    left, right = (
        None if node.attributes.get(name, -1) == -1 else node.attributes[name]
        for name in ("left_window_size", "right_window_size")
    )
    visible = ops.Visible(bool(node.attributes.get("is_causal", 0)), left, right, sizes.past)
    given: dict[str, Value] = {}
    if node.has(_MASK):
        given["mask"] = _checked_mask(node, sizes)
    if node.has(_LENGTHS):
        given["lengths"] = node.input(_LENGTHS)
        if given["lengths"].rank != 1 or not agree(given["lengths"].shape[0], sizes.batch):
            node.refuse(
                f"its nonpad_kv_seqlen has the shape {given['lengths'].shape}, not one number for "
                f"each of {sizes.batch} sequences"
            )
    if not given and visible.is_all:
        return scores, False
    bias = _bias(node, given, visible, sizes, scores.dtype)
    masked = node.emit_part("masked", "add", elementwise.add, [scores, bias])
    return masked, bool(given) or left is not None


def _checked_mask(node: Node, sizes: _Sizes) -> Value:
    mask = node.input(_MASK)
    own = (sizes.batch, sizes.heads.query, sizes.rows)
    try:
        fits = all(map(agree, broadcast_shape(mask.shape[:-1], own), own))
    except ValueError:
        fits = False
    if not fits or mask.rank > 4 or (mask.rank and not at_least(sizes.total, mask.shape[-1])):
        node.refuse(
            f"a mask of the shape {mask.shape} does not fit scores of {(*own, sizes.total)}: it "
            "must broadcast to this shape, but its last extent may be smaller"
        )
    return mask


def _bias(
    node: Node, given: dict[str, Value], visible: ops.Visible, sizes: _Sizes, dtype: str
) -> Value:
    """Return the term to add to each score."""
    mask = given.get("mask")
    is_whole = mask is not None and (not mask.rank or plain(mask.shape[-1]) == sizes.total)
    if is_whole and mask.dtype != "bool" and visible.is_all and len(given) == 1:
        return _cast(node, "mask", mask, dtype)
    shapes = [mask.shape[:-1] if mask is not None else ()]
    if not visible.is_all:
        shapes.append((sizes.rows,))
    if "lengths" in given:
        shapes.append((sizes.batch, 1, 1))
    return node.emit_part(
        "bias",
        "bias",
        ops.score_bias,
        list(given.values()),
        names=tuple(given),
        shape=(*broadcast_shape(*shapes), sizes.total),
        rows=sizes.rows,
        dtype=dtype,
        visible=visible,
    )


def _weights(node: Node, scores: Value, may_hide_all: bool) -> Value:
    """Return the softmax; the weights of a row whose keys are all hidden are zero."""
    softmax = normalization.masked_softmax if may_hide_all else normalization.softmax
    precision = node.attributes.get("softmax_precision")
    is_wide = precision is not None and float_name(precision) == "float64"
    wide = "float64" if is_wide else scores.dtype
    weights = node.emit_part("weights", "softmax", softmax, [_cast(node, "wide", scores, wide)])
    return _cast(node, "narrow", weights, scores.dtype)


def _sums(node: Node, weights: Value, value: Value, sizes: _Sizes) -> Value:
    query = node.input(_QUERY)
    options = {"heads": sizes.heads, "dtype": query.dtype}
    given = [weights, value]
    if query.rank == 4:
        return node.emit("matmul", ops.weighted_values, given, **options)
    if number_of(sizes.rows) != 1:
        return node.emit("matmul", ops.weighted_values, given, is_merged=True, **options)
    made = node.emit_part("rows", "matmul", ops.weighted_values, given, **options)
    batch, heads, _, width = made.shape
    shape = (batch, 1, plain(heads * width))
    return node.emit("reshape", movement.reshape, [made], shape=shape)


def _cast(node: Node, part: str, x: Value, dtype: str) -> Value:
    if x.dtype == dtype:
        return x
    return node.emit_part(part, "cast", elementwise.cast, [x], dtype=dtype)


@converts("RotaryEmbedding")
def rotary_embedding(node: Node) -> Value:
    """Rotate pairs of elements of each head by angles that depend on their position."""
    x, cosines, sines = node.input(0), node.input(1), node.input(2)
    if x.rank not in (3, 4):
        node.refuse(f"its input has {x.rank} axes, neither 3 nor 4")
    heads = _rotated_heads(node, x)
    batch, _, tokens, size = ops.split_shape(x.shape, heads)
    rotated = node.attributes.get("rotary_embedding_dim", 0) or number_of(size)
    if rotated is None:
        node.refuse("the last axis of its input is open, which holds the rotated elements")
    if rotated < 0 or rotated % 2 or not at_least(size, rotated):
        node.refuse(f"{rotated} of {size} elements cannot be rotated in pairs")
    positions = [node.input(3)] if node.has(3) else []
    for each in positions:
        _check_fits(node, "position_ids", each, (batch, tokens))
    for name, table in (("cos_cache", cosines), ("sin_cache", sines)):
        first = table.shape[:1] if positions else (batch, tokens)
        _check_fits(node, name, table, (*first, rotated // 2))
    return node.emit(
        "rotary_embedding",
        ops.rotary_embedding,
        [x, cosines, sines, *positions],
        heads=heads,
        rotated=rotated,
        interleaved=bool(node.attributes.get("interleaved", 0)),
    )


def _rotated_heads(node: Node, x: Value) -> int:
    """Return the number of heads; 1 for four axes, whose heads need not be split."""
    if x.rank == 4:
        return 1
    heads = node.attributes.get("num_heads", 0)
    if not heads:
        node.refuse("its input has three axes, and num_heads is missing")
    _check_divides(node, x, heads)
    return int(heads)


def _check_fits(node: Node, name: str, x: Value, shape: Sequence[Extent]) -> None:
    """Refuse a tensor that does not have this shape; its first extent may also be 1."""
    if x.rank == len(shape):
        own = (x.shape[0] if number_of(x.shape[0]) == 1 else shape[0], *shape[1:])
        if all(map(agree, x.shape, own)):
            return
    node.refuse(f"its {name} has the shape {x.shape}, not {tuple(shape)}")


__all__ = ["attention", "rotary_embedding"]
