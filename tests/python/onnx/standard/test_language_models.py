"""Operators of language models, with attributes, types and shapes drawn at random."""

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from nightly import most_at_night
from node_peers import model_of, named, onnxruntimes, references

from texloom.onnx.model import Model

UNIT = {"float16": 2.0**-11, "float32": 2.0**-24, "float64": 2.0**-53}


@dataclass
class Drawn:
    """A node, its inputs, and for each output the greatest error of any implementation."""

    inputs: list[Any]
    opset: int
    bounds: list[float]
    attributes: dict[str, Any] = field(default_factory=dict)


class Source:
    """Random choices and tensors."""

    def __init__(self, seed):
        self.generator = np.random.default_rng(seed)
        self.dtype = self.of("float32", "float32", "float16", "float64")

    def of(self, *choices):
        return choices[int(self.generator.integers(len(choices)))]

    def up_to(self, most):
        return int(self.generator.integers(1, most + 1))

    def chance(self):
        return bool(self.generator.integers(2))

    def floats(self, *shape):
        return self.generator.standard_normal(shape).astype(self.dtype)


def _mask(source, shape, is_short):
    """A mask that hides some keys, at times all keys of a query, and may end before the last."""
    batch, heads, rows, keys = shape
    if is_short:
        keys = source.up_to(keys)
    first = source.of((rows,), (1, rows), (heads, rows), (batch, 1, 1), (batch, heads, rows))
    mask = source.floats(*first, keys)
    return mask > source.of(-0.5, 1) if source.chance() else mask


def _attention(source):
    batch, heads, group, rows, past = (source.up_to(3) for _ in range(5))
    keys, depth, width = source.up_to(6), source.of(4, 6, 8), source.of(4, 6, 8)
    opset = source.of(23, 24, 25)
    is_flat, has_past, has_mask = (source.chance() for _ in range(3))
    has_lengths = opset > 23 and not has_past and source.chance()
    given = [source.floats(batch, heads * group, rows, depth)]
    given += [source.floats(batch, heads, keys, size) for size in (depth, width)]
    inputs = [_flat(each) if is_flat else each for each in given] + [None] * 4
    total = keys
    if has_past:
        inputs[4:6] = [source.floats(batch, heads, past, size) for size in (depth, width)]
        total += past
    if has_lengths:
        inputs[6] = source.generator.integers(1, keys + 1, batch)
    if has_mask:
        inputs[3] = _mask(source, (batch, heads * group, rows, total), source.chance())
    while inputs[-1] is None:
        inputs.pop()
    attributes = _attributes_of_attention(source, opset)
    if is_flat:
        attributes |= {"q_num_heads": heads * group, "kv_num_heads": heads}
    bounds = _bounds_of_attention(source, inputs, attributes, depth, total)
    outputs = source.of(1, 4) if not has_lengths else 1
    if has_past and outputs == 1:
        outputs = 3
    return Drawn(inputs, opset, bounds[:outputs], attributes)


def _attributes_of_attention(source, opset):
    drawn = {
        "scale": source.of(0.25, 1.0),  # exact roots: onnx.reference takes them in float32
        "is_causal": 1,
        "softcap": source.of(0.5, 3.0),
        "softmax_precision": source.of(1, 10, 11),
        "qk_matmul_output_mode": source.of(1, 2, 3),
    }
    if opset > 24:
        drawn |= {name: source.of(0, 1, 2) for name in ("left_window_size", "right_window_size")}
    drawn = {name: value for name, value in drawn.items() if source.chance()}
    if "softcap" in drawn:  # mode 0 is before the cap, but onnx.reference applies the cap
        drawn.setdefault("qk_matmul_output_mode", 1)
    return drawn


def _flat(x):
    return x.swapaxes(1, 2).reshape(x.shape[0], x.shape[2], -1)


def _bounds_of_attention(source, inputs, attributes, depth, total):
    """Return bounds: exponentials turn errors of scores, sums of products, into relative errors."""
    named_types = {1: "float32", 10: "float16"}
    precision = named_types.get(attributes.get("softmax_precision"), source.dtype)
    unit, scale = UNIT[source.dtype], attributes.get("scale", depth**-0.5)
    keys = [x for x in (inputs[1], *inputs[4:5]) if x is not None]
    term = scale * _greatest(inputs[0]) * max(map(_greatest, keys))
    mask = inputs[3] if len(inputs) > 3 else None
    shift = _greatest(mask) if mask is not None and mask.dtype != bool else 0
    of_scores = (depth + 4) * unit * depth * term + 4 * unit * attributes.get("softcap", 0)
    of_scores += 2 * unit * shift
    wide = max(unit, UNIT[precision])
    relative = 2 * of_scores + wide * (2 * (depth * term + shift) + total + 8)
    greatest = max(_greatest(x) for x in (inputs[2], *inputs[5:6]) if x is not None)
    exposed = 2 * relative if attributes.get("qk_matmul_output_mode") == 3 else of_scores
    return [2 * (relative + total * unit) * greatest, 0, 0, exposed]


def _greatest(x):
    return float(np.abs(x.astype("float64")).max())


def _rotary(source):
    if source.dtype == "float64":
        source.dtype = "float32"  # the operator has no float64
    batch, heads, rows = (source.up_to(3) for _ in range(3))
    size = source.of(4, 8)
    is_flat, has_ids = source.chance(), source.chance()
    shape = (batch, rows, heads * size) if is_flat else (batch, heads, rows, size)
    attributes = {"interleaved": int(source.chance())}
    rotated = size
    if source.chance():
        rotated = attributes["rotary_embedding_dim"] = size // 2
    if is_flat:
        attributes["num_heads"] = heads
    table = (9, rotated // 2) if has_ids else (batch, rows, rotated // 2)
    inputs = [source.floats(*each) for each in (shape, table, table)]
    bound = 3 * UNIT[source.dtype] * _greatest(inputs[0]) * sum(map(_greatest, inputs[1:]))
    if has_ids:
        inputs.append(source.generator.integers(0, 9, (batch, rows)))
    return Drawn(inputs, 23, [bound], attributes)


def _rms(source):
    shape = [source.up_to(5) for _ in range(source.up_to(4))]
    axis = int(source.generator.integers(-len(shape), len(shape)))
    own = shape[axis % len(shape) :]
    scale = source.of(own, [1] * len(own), own[-1:])
    inputs = [source.floats(*shape), source.floats(*scale)]
    attributes = {"epsilon": 0.01} if source.chance() else {}
    attributes |= {"axis": axis} if axis != -1 or source.chance() else {}
    count = int(np.prod(own))  # an element is at most sqrt(count) times their root mean square
    greatest = count**0.5 * _greatest(inputs[1])
    return Drawn(inputs, 23, [(count + 8) * UNIT[source.dtype] * greatest], attributes)


def _scatter(source):
    shape = [source.up_to(4) for _ in range(source.of(2, 3, 4))]
    axis = int(source.generator.integers(1, len(shape)))
    shape[axis] += 2
    length = source.up_to(shape[axis])
    update = [*shape[:axis], length, *shape[axis + 1 :]]
    source.dtype = source.of("float32", "float16", "int64", "uint8")
    inputs = [
        source.generator.integers(0, 99, each).astype(source.dtype) for each in (shape, update)
    ]
    mode = source.of("linear", "circular")
    last = 2 * shape[axis] if mode == "circular" else shape[axis] - length
    if source.chance():
        inputs.append(source.generator.integers(0, last + 1, shape[0]))
    attributes = {"mode": mode} if mode != "linear" or source.chance() else {}
    attributes |= {"axis": source.of(axis, axis - len(shape))} if axis != len(shape) - 2 else {}
    return Drawn(inputs, 24, [0], attributes)


def _swish(source):
    x = 3 * source.floats(*(source.up_to(4) for _ in range(source.up_to(4))))
    alpha = source.of(1.0, -0.5, 1.7)
    attributes = {"alpha": alpha} if alpha != 1 or source.chance() else {}
    relative = (3 * abs(alpha) * _greatest(x) + 8) * UNIT[source.dtype]
    return Drawn([x.astype(source.dtype)], 24, [relative * _greatest(x)], attributes)


DRAW = {
    "Attention": _attention,
    "RMSNormalization": _rms,
    "RotaryEmbedding": _rotary,
    "Swish": _swish,
    "TensorScatter": _scatter,
}


def _are_close(some, others, bounds):
    return all(
        a.shape == b.shape
        and a.dtype == b.dtype
        and np.allclose(a.astype("float64"), b.astype("float64"), 0, 2 * bound, equal_nan=True)
        for a, b, bound in zip(some, others, bounds, strict=True)
    )


def _peers(model, inputs):
    """Return the outputs of each implementation that takes the node."""
    made = {}
    for name, run in (("onnx.reference", references), ("onnxruntime", onnxruntimes)):
        with suppress(Exception):
            made[name] = run(model, inputs)
    return made


def check(op, seed):
    """Compare a node with its peers, which may contradict each other; return those it agrees with.

    onnxruntime's attention of float64 has the precision of float32.
    """
    drawn = DRAW[op](Source(seed))
    model = model_of(op, drawn.inputs, len(drawn.bounds), opset=drawn.opset, **drawn.attributes)
    model.ir_version = 11
    got = list(Model(model).run(named(drawn.inputs)).values())
    bounds = {"onnx.reference": drawn.bounds, "onnxruntime": drawn.bounds}
    if op == "Attention" and got[0].dtype == np.float64:
        loss = UNIT["float32"] / UNIT["float64"]
        bounds["onnxruntime"] = [loss * each for each in drawn.bounds]
    peers = _peers(model, drawn.inputs)
    close = {name: _are_close(got, each, bounds[name]) for name, each in peers.items()}
    agree = len(peers) == 2 and _are_close(*peers.values(), bounds["onnxruntime"])
    assert all(close.values()) if agree else any(close.values()), (drawn.attributes, close)
    return [name for name, is_close in close.items() if is_close]


@pytest.mark.parametrize("seed", most_at_night(range(8), first=2))
@pytest.mark.parametrize("op", DRAW)
def test_operator(op, seed):
    check(op, seed)


@pytest.mark.nightly
@pytest.mark.parametrize("op", DRAW)
def test_many_attributes(op):
    for seed in range(100, 125):
        check(op, seed)
