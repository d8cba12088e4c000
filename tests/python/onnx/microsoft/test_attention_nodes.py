"""Attention that onnxruntime's optimizer makes, with caches, masks, rotary embeddings."""

import numpy as np
import onnx
import pytest
from microsoft_peers import MICROSOFT, Drawn, check, greatest
from nightly import most_at_night
from node_peers import model_of, onnxruntimes, with_constants
from node_source import Source

from texloom.errors import TVMError
from texloom.onnx.model import Model


def _bounds(source, query, keys, values, scale, shift, total, caches=2):
    """Return bounds: exponentials turn errors of scores, sums of products, into relative errors."""
    depth = keys.shape[-1]
    term = scale * greatest(query) * greatest(keys)
    of_scores = (depth + 8) * source.unit * depth * term + 4 * source.unit * shift
    relative = 2 * of_scores + source.unit * (2 * (depth * term + shift) + total + 8)
    cached = [4 * source.unit * greatest(each) for each in (keys, values)][:caches]
    return [2 * (relative + total * source.unit) * greatest(values), *cached]


def _joined(x):
    """Heads become a part of the last axis."""
    return np.ascontiguousarray(x.swapaxes(1, 2)).reshape(x.shape[0], x.shape[2], -1)


def _padding(source, batch, rows, total, can_hide_all):
    shape = source.of((batch,), (batch, total), (batch, rows, total))
    if len(shape) == 1:
        return source.generator.integers(0 if can_hide_all else 1, total + 1, shape).astype("int32")
    mask = source.generator.integers(0, 2, shape).astype("int32")
    if not can_hide_all:
        mask[..., 0] = 1
    return mask


def _multi_head(source):
    batch, heads, rows, past = (source.up_to(3) for _ in range(4))
    size, form = source.of(4, 8), source.of("plain", "plain", "crossed", "packed_kv", "packed")
    keys = rows if form == "packed" else source.up_to(5)
    width = source.of(4, 8) if form == "plain" else size
    query, key, value = (
        source.floats(batch, heads, count, each)
        for count, each in ((rows, size), (keys, size), (keys, width))
    )
    inputs = [_joined(query), key, value] + [None] * 5
    if form == "plain":
        inputs[1:3] = [_joined(key), _joined(value)]
    plain = [inputs[0], _joined(key), _joined(value)]  # onnxruntime takes no packed tensors
    if form in ("packed", "packed_kv"):
        packed = [np.moveaxis(each, 1, 2) for each in (query, key, value)]
        first = 1 if form == "packed_kv" else 0
        inputs[first : first + 1] = [np.ascontiguousarray(np.stack(packed[first:], 3))]
        inputs[first + 1 : 3] = [None] * (2 - first)
    bias_scale = 1
    if form in ("plain", "packed") and source.chance():
        inputs[3] = source.floats(heads * (2 * size + width))
        bias_scale = 1 + greatest(inputs[3])
    total = keys
    if form == "plain" and width == size and source.chance():
        inputs[6:8] = [source.floats(batch, heads, past, size) for _ in range(2)]
        total += past
    attributes, shift = {"num_heads": heads}, 0
    if source.chance():
        can_hide_all = source.chance()
        inputs[4] = _padding(source, batch, rows, total, can_hide_all)
        if can_hide_all:
            attributes["mask_filter_value"] = -30.0
            shift = 30
    if source.chance():
        inputs[5] = source.floats(source.of(1, batch), source.of(1, heads), rows, total)
        shift += greatest(inputs[5])
    attributes |= {"scale": 0.3} if source.chance() else {}
    if source.chance() and rows == keys:
        attributes["unidirectional"] = 1
    past_keys, past_values = inputs[6:8]
    all_keys, all_values = (
        bias_scale + max(greatest(e) for e in each if e is not None)
        for each in ((key, past_keys), (value, past_values))
    )
    scale = attributes.get("scale", size**-0.5)
    bounds = _bounds(
        source,
        np.full(size, bias_scale + greatest(query)),
        np.full(size, all_keys),
        np.full(width, all_values),
        scale,
        shift,
        total,
    )
    wants = inputs[6] is not None or (form == "plain" and width == size and source.chance())
    peers = [*plain, *inputs[3:]] if form in ("packed", "packed_kv") else None
    return Drawn(inputs, bounds if wants else bounds[:1], attributes, peer_inputs=peers)


def _attention(source):
    """Projections are of order 1: weights are divided by the root of the number of terms."""
    batch, heads, rows = (source.up_to(3) for _ in range(3))
    size, depth, width = source.up_to(9), source.of(4, 8), source.of(4, 8)
    x = source.floats(batch, rows, size)
    width = source.of(depth, width)
    columns = heads * (2 * depth + width)
    weights = (source.floats(size, columns) / np.sqrt(size)).astype(source.dtype)
    inputs = [x, weights, source.floats(columns), None, None, None]
    attributes, shift = {"num_heads": heads}, 0
    if width != depth or source.chance():
        attributes["qkv_hidden_sizes"] = [heads * depth, heads * depth, heads * width]
    if source.chance():
        inputs[3] = _padding(source, batch, rows, rows, can_hide_all=False)
    if source.chance():
        inputs[5] = source.floats(source.of(1, batch), source.of(1, heads), rows, rows)
        shift = greatest(inputs[5])
    attributes |= {"scale": 0.3} if source.chance() else {}
    attributes |= {"unidirectional": 1} if source.chance() else {}
    terms = abs(x.astype("float64")) @ abs(weights.astype("float64"))
    peak = np.full(depth, greatest(terms) + greatest(inputs[2]))
    scale = attributes.get("scale", depth**-0.5)
    bounds = _bounds(source, peak, peak, peak, scale, shift, rows + size, caches=0)
    return Drawn(inputs, bounds, attributes)


def _rotary_tables(source, size, count=20):
    angles = source.generator.uniform(-3, 3, (count, size // 2))
    return [each.astype(source.dtype) for each in (np.cos(angles), np.sin(angles))]


def _rotary(source):
    batch, heads, rows, size = *(source.up_to(3) for _ in range(3)), source.of(4, 8)
    is_flat, rotated = source.chance(), source.of(size, size // 2)
    x = source.floats(batch, heads, rows, size)
    attributes = {"interleaved": int(source.chance())}
    if rotated != size:
        attributes |= {"rotary_embedding_dim": rotated, "num_heads": heads}
    elif source.chance():
        attributes["num_heads"] = heads
    positions = source.generator.integers(0, 9, source.of((1,), (batch, rows)))
    inputs = [_joined(x) if is_flat else x, positions, *_rotary_tables(source, rotated)]
    return Drawn(inputs, [4 * source.unit * greatest(x)], attributes)


def _group_query(source):
    batch, heads, group, rows = (source.up_to(3) for _ in range(4))
    size, capacity = source.of(16, 32), source.of(0, 6, 9)
    is_first = source.chance() or capacity == 0
    if not is_first:
        rows = 1
    lengths = source.generator.integers(rows, max(capacity, rows) + 1, batch)
    if is_first:
        lengths = source.generator.integers(1, rows + 1, batch)
        lengths[0] = rows
    total = int(lengths.max())
    query = source.floats(batch, heads * group, rows, size)
    key, value = (source.floats(batch, heads, rows, size) for _ in range(2))
    if is_first:  # what follows the end of a sequence is not defined
        query, key, value = (
            np.where(_exists(each, lengths), each, 0) for each in (query, key, value)
        )
    inputs = [_joined(each) for each in (query, key, value)] + [None] * 8
    if source.chance():
        inputs[:3] = [np.concatenate(inputs[:3], -1), None, None]
    if capacity:
        inputs[3:5] = [source.floats(batch, heads, capacity, size) for _ in range(2)]
    inputs[5:7] = [(lengths - 1).astype("int32"), np.array([total], "int32")]
    attributes = {"num_heads": heads * group, "kv_num_heads": heads}
    attributes |= {"scale": 0.3} if source.chance() else {}
    attributes |= {"softcap": 2.0} if source.chance() else {}
    attributes |= {"local_window_size": source.of(1, 2, 3)} if source.chance() else {}
    if source.chance():
        inputs[7:9] = _rotary_tables(source, size)
        attributes |= {"do_rotary": 1, "rotary_interleaved": int(source.chance())}
    shift = 0
    if source.chance():
        inputs[10] = source.floats(source.of(1, batch), source.of(1, heads * group), rows, total)
        shift = greatest(inputs[10])
    scale = attributes.get("scale", size**-0.5)
    peaks = [
        2 * max(greatest(each), *(greatest(e) for e in more if e is not None))
        for each, more in ((key, (inputs[3], 0)), (value, (inputs[4], 0)))
    ]
    arrays = np.full(size, 2 * greatest(query)), np.full(size, peaks[0]), np.full(size, peaks[1])
    bounds = _bounds(source, *arrays, scale, shift + attributes.get("softcap", 0), total)
    if is_first:  # rows after the end of a sequence are not defined
        is_row = np.arange(rows)[None, :, None] < lengths[:, None, None]
        bounds[0] = np.where(is_row, bounds[0], np.inf)
    return Drawn(inputs, bounds, attributes)


def _exists(x, lengths):
    return np.arange(x.shape[2])[None, None, :, None] < lengths[:, None, None, None]


DRAW = {
    "Attention": _attention,
    "GroupQueryAttention": _group_query,
    "MultiHeadAttention": _multi_head,
    "RotaryEmbedding": _rotary,
}


@pytest.mark.parametrize("seed", most_at_night(range(10), first=3))
@pytest.mark.parametrize("op", DRAW)
def test_operator(op, seed):
    check(op, DRAW[op](Source(seed)), constants=(6,) if op == "GroupQueryAttention" else ())


@pytest.mark.nightly
@pytest.mark.parametrize("op", DRAW)
def test_many_attributes(op):
    for seed in range(100, 120):
        check(op, DRAW[op](Source(seed)), constants=(6,) if op == "GroupQueryAttention" else ())


def test_open_lengths_of_a_cache():
    """One package runs the first step and later ones; the length of the cache is of the run."""
    model = onnx.parser.parse_model(
        """<ir_version: 10, opset_import: ["" : 20]>
        step (float[1, S, 64] q, float[1, 1, P, 16] pk, float[1, 1, P, 16] pv, int32[1] lengths,
              float[1, T] mask) => (y, nk, nv)
        { shape = Shape(mask) total64 = Gather<axis = 0>(shape, one) total = Cast<to = 6>(total64)
          y, nk, nv = com.microsoft.GroupQueryAttention<num_heads = 2, kv_num_heads = 1>
            (q, , , pk, pv, lengths, total) }"""
    )
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.array([1]), "one"))
    compiled = Model(model)
    for rows, past, total in ((3, 4, 3), (1, 4, 4), (1, 4, 5)):
        source = Source(rows + total)
        source.dtype = "float32"
        given = {
            "q": source.floats(1, rows, 64),
            "pk": source.floats(1, 1, past, 16),
            "pv": source.floats(1, 1, past, 16),
            "lengths": np.array([total - 1], "int32"),
            "mask": np.ones((1, total), "float32"),
        }
        got = compiled.run(given)
        inputs = [given["q"], None, None, given["pk"], given["pv"], given["lengths"]]
        inputs.append(np.array([total], "int32"))
        node = model_of(
            "GroupQueryAttention", inputs, 3, domain=MICROSOFT, num_heads=2, kv_num_heads=1
        )
        for ours, theirs in zip(got.values(), onnxruntimes(node, inputs), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-5)


X, WIDE = np.ones((1, 2, 8), "float32"), np.ones((1, 2, 32), "float32")
LENGTHS, TOTAL = np.array([1], "int32"), np.array([2], "int32")
GROUPED = [WIDE, WIDE, WIDE, None, None, LENGTHS, TOTAL]
TWO = {"num_heads": 2, "kv_num_heads": 2}


@pytest.mark.parametrize(
    ("op", "inputs", "attributes", "why"),
    [
        ("Attention", [X, WIDE[0]], {"num_heads": 3}, "its weights have 32 columns, but num_heads"),
        (
            "Attention",
            [X, np.ones((8, 24), "float32"), None, np.ones(5, "int32")],
            {"num_heads": 2},
            "its mask_index has the shape .5,., not one of",
        ),
        ("MultiHeadAttention", [X, X, X], {"num_heads": 0}, "its num_heads is 0, not a positive"),
        ("MultiHeadAttention", [X], {"num_heads": 2}, "its query has the shape .1, 2, 8.; one"),
        ("MultiHeadAttention", [X, X, X, X[0, 0]], {"num_heads": 2}, "its bias has the shape"),
        (
            "MultiHeadAttention",
            [X, X, X, None, np.ones(5, "int32")],
            {"num_heads": 2},
            "its key_padding_mask has the shape .5,., not one of",
        ),
        ("GroupQueryAttention", GROUPED, TWO | {"smooth_softmax": 1}, "its smooth_softmax is 1"),
        ("GroupQueryAttention", GROUPED, TWO | {"k_quant_type": "PER_TENSOR"}, "its k_quant_type"),
        ("GroupQueryAttention", GROUPED, TWO | {"do_rotary": 1}, "its do_rotary is set, but"),
        (
            "GroupQueryAttention",
            [*GROUPED, *[None] * 4, X[0, 0, :2]],
            TWO,
            "its input head_sink is not supported",
        ),
        (
            "GroupQueryAttention",
            [*GROUPED[:5], np.ones(3, "int32"), TOTAL],
            TWO,
            "its seqlens_k has the shape .3,., not one number for each of 1",
        ),
    ],
)
def test_refused(op, inputs, attributes, why):
    model = model_of(op, inputs, domain=MICROSOFT, **attributes)
    constant = [i for i, each in enumerate(inputs) if each is TOTAL]
    with_constants(model, inputs, constant)
    with pytest.raises(TVMError, match=f"com.microsoft::{op} 'y0': {why}"):
        Model(model)
