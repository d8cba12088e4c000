"""Operators that the standard's bodies expand, with attributes and shapes drawn at random."""

import numpy as np
import pytest
from nightly import most_at_night
from node_peers import model_of, named, onnxruntimes, references

from texloom.onnx.model import Model


def _attention(draw):
    """Keys and values have at most as many heads as queries; masks and caches are optional."""
    batch, heads, group = (int(draw.integers(1, 4)) for _ in range(3))
    rows, keys, past = (int(draw.integers(1, 6)) for _ in range(3))
    depth, width = (int(each) for each in draw.choice([4, 6, 8], 2))
    has_past, is_flat, has_mask = (bool(draw.integers(0, 2)) for _ in range(3))

    def tensor(*shape):
        return draw.standard_normal(shape).astype("float32")

    def flat(x):
        return x.swapaxes(1, 2).reshape(x.shape[0], x.shape[2], -1) if is_flat else x

    query = tensor(batch, heads * group, rows, depth)
    key, value = tensor(batch, heads, keys, depth), tensor(batch, heads, keys, width)
    mask, caches = None, [None, None]
    if has_past:
        caches = [tensor(batch, heads, past, depth), tensor(batch, heads, past, width)]
    if has_mask:
        whole = keys + past if has_past else keys
        first = [(), (1, 1), (batch, 1), (batch, heads * group)][draw.integers(0, 4)]
        mask = tensor(*first, rows, whole)
        if draw.integers(0, 2):
            mask = mask > 0
            mask[..., 0] = True  # implementations disagree on a row without keys
    attributes = {}
    if is_flat:
        attributes |= {"q_num_heads": heads * group, "kv_num_heads": heads}
    if draw.integers(0, 2):
        attributes["scale"] = 0.3
    if draw.integers(0, 2):
        attributes["is_causal"] = 1
    inputs = [flat(query), flat(key), flat(value), mask, *caches]
    while inputs[-1] is None:
        inputs.pop()
    return inputs, (3 if has_past else 1), attributes


def _rotary(draw):
    batch, heads, rows = (int(draw.integers(1, 4)) for _ in range(3))
    size = int(draw.choice([4, 8]))
    is_flat, has_ids = (bool(draw.integers(0, 2)) for _ in range(2))
    shape = (batch, rows, heads * size) if is_flat else (batch, heads, rows, size)
    attributes = {"interleaved": int(draw.integers(0, 2))}
    rotated = size
    if draw.integers(0, 2):
        rotated = attributes["rotary_embedding_dim"] = size // 2
    if is_flat:
        attributes["num_heads"] = heads
    table = (9, rotated // 2) if has_ids else (batch, rows, rotated // 2)
    inputs = [draw.standard_normal(s).astype("float32") for s in (shape, table, table)]
    if has_ids:
        inputs.append(draw.integers(0, 9, (batch, rows)))
    return inputs, 1, attributes


def _quantized(draw):
    shape = draw.integers(1, 5, draw.integers(1, 5))
    return [draw.normal(draw.integers(-3, 3), 2, shape).astype("float32")], 3, {}


_DRAWN = {
    "Attention": (_attention, 23),
    "DynamicQuantizeLinear": (_quantized, 20),
    "RotaryEmbedding": (_rotary, 23),
}


def _are_close(some, others):
    return all(
        a.shape == b.shape and np.allclose(a, b, rtol=1e-4, atol=1e-5, equal_nan=True)
        for a, b in zip(some, others, strict=True)
    )


def _check(op, seed):
    draw, opset = _DRAWN[op]
    inputs, outputs, attributes = draw(np.random.default_rng(seed))
    model = model_of(op, inputs, outputs, opset=opset, **attributes)
    model.ir_version = 11
    got = list(Model(model).run(named(inputs)).values())
    peers = [references(model, inputs), onnxruntimes(model, inputs)]
    agree = [_are_close(got, each) for each in peers]
    assert all(agree) if _are_close(*peers) else any(agree), (attributes, agree)


@pytest.mark.parametrize("seed", most_at_night(range(8), first=2))
@pytest.mark.parametrize("op", _DRAWN)
def test_a_body_computes_what_both_references_do(op, seed):
    _check(op, seed)


@pytest.mark.nightly
@pytest.mark.parametrize("op", _DRAWN)
def test_bodies_of_many_attributes(op):
    for seed in range(100, 125):
        _check(op, seed)
