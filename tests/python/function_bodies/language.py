"""Drawers of the operators that language models are made of."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx

from .drawing import PREVIEW, Draw, Drawn, draws, greatest


@draws("Attention")
def attention(draw: Draw) -> Drawn:
    """Heads as an axis or merged, shared keys, caches, masks, windows, all outputs.

    The standard's body multiplies by the square root of the scale, which is float32.
    """
    dtype = draw.float_type("T1")
    batch, queries, keys = draw.up_to(3), draw.up_to(4), draw.up_to(5)
    key_heads, shared = draw.up_to(2), draw.up_to(2)
    depth, width = draw.up_to(4), draw.up_to(4)
    heads, is_merged = key_heads * shared, draw.chance()

    def tensor(count, length, size):
        shape = (batch, length, count * size) if is_merged else (batch, count, length, size)
        return draw.ordinary(dtype, *shape)

    inputs: list[Any] = [
        tensor(heads, queries, depth),
        tensor(key_heads, keys, depth),
        tensor(key_heads, keys, width),
        None,
    ]
    attributes = draw.some(
        is_causal=draw.of(0, 1),
        scale=draw.of(0.5, 1.0, 2.0),
        softcap=draw.of(0.0, 2.0),
        softmax_precision=draw.of(1, 10, 11),
    )
    if is_merged:
        attributes |= {"q_num_heads": heads, "kv_num_heads": key_heads}
    if draw.version >= 25:
        attributes |= draw.some(
            left_window_size=draw.of(-1, 0, 2), right_window_size=draw.of(-1, 0, 1)
        )
    past = draw.of(0, draw.up_to(3)) if draw.chance(0.4) else 0
    if past:
        inputs += [draw.ordinary(dtype, batch, key_heads, past, each) for each in (depth, width)]
    elif draw.version >= 24 and draw.chance(0.4):
        inputs += [None, None, draw.generator.integers(1, keys + 1, batch)]
    if draw.chance():
        inputs[3] = _mask(draw, dtype, [batch, heads, queries, past + keys])
    outputs = draw.of(1, 3, 4)
    has_lengths = len(inputs) == 7
    if outputs == 4:
        attributes |= draw.some(qk_matmul_output_mode=draw.of(0, 1, 2, 3))
    unused: tuple[int, ...] = ()
    if outputs > 1 and (has_lengths or (outputs == 4 and not past)):
        unused = (1, 2)
        outputs = 4
    return Drawn(
        inputs,
        attributes,
        outputs,
        unused,
        size=_sizes_of_attention(inputs, attributes, depth),
        terms=past + keys + depth,
        precision="float16" if attributes.get("softmax_precision") == 10 else "float32",
    )


def _sizes_of_attention(inputs, attributes, depth):
    """Errors of scores, which are sums of products, become factors of exponentials."""
    keys, values, mask = [inputs[1], *inputs[4:5]], [inputs[2], *inputs[5:6]], inputs[3]
    scale = attributes.get("scale", depth**-0.5)
    score = scale * depth * greatest(inputs[0]) * greatest(*(e for e in keys if e is not None))
    score += 1 + attributes.get("softcap", 0)
    if mask is not None and mask.dtype != bool:
        score += greatest(mask)
    return [score * greatest(*(e for e in values if e is not None)), 0.0, 0.0, score]


def _mask(draw, dtype, shape):
    """A mask that broadcasts to the scores, and may end before the last key."""
    first = int(draw.generator.integers(0, 3))
    keys = draw.up_to(shape[-1]) if draw.chance(0.3) else shape[-1]
    own = [*(draw.of(1, each) for each in shape[first:-1]), keys]
    if draw.chance():
        return draw.generator.random(own) < draw.of(0.3, 0.8)
    return draw.ordinary(dtype, *own)


@draws("RotaryEmbedding")
def rotary_embedding(draw: Draw) -> Drawn:
    """Heads as an axis or merged, all or some elements, with and without positions."""
    dtype = draw.type()
    batch, tokens, heads = draw.up_to(3), draw.up_to(4), draw.up_to(3)
    rotated, rest = 2 * draw.up_to(3), 2 * draw.of(0, draw.up_to(2))
    size, is_merged = rotated + rest, draw.chance()
    shape = (batch, tokens, heads * size) if is_merged else (batch, heads, tokens, size)
    attributes = draw.some(interleaved=draw.of(0, 1))
    if is_merged:
        attributes["num_heads"] = heads
    if rest or draw.chance():
        attributes["rotary_embedding_dim"] = rotated
    x = draw.ordinary(dtype, *shape)
    longest = draw.up_to(6)
    has_positions = draw.chance()
    table = (longest, rotated // 2) if has_positions else (batch, tokens, rotated // 2)
    angles = draw.generator.uniform(-4, 4, table)
    tables = [np.cos(angles).astype(dtype), np.sin(angles).astype(dtype)]
    positions = draw.generator.integers(0, longest, (batch, tokens)) if has_positions else None
    return Drawn([x, *tables, positions], attributes, size=2 * greatest(x), terms=2)


@draws("CausalConvWithState")
def causal_convolution(draw: Draw) -> Drawn:
    """Kernels longer and shorter than the sequence, also of one element."""
    dtype = draw.type()
    batch, channels, length, taps = (draw.up_to(each) for each in (3, 4, 6, 4))
    x = draw.ordinary(dtype, batch, channels, length)
    weight = draw.ordinary(dtype, channels, 1, taps)
    bias = draw.ordinary(dtype, channels) if draw.chance() else None
    past = draw.ordinary(dtype, batch, channels, taps - 1) if draw.chance() else None
    given = [each for each in (x, past) if each is not None]
    size = taps * greatest(*given) * greatest(weight) + (0 if bias is None else greatest(bias))
    activation = draw.some(activation=draw.of("none", "silu", "swish"))
    return Drawn([x, weight, bias, past], activation, 2, size=[size, 0.0], terms=taps + 1)


@draws("LinearAttention")
def linear_attention(draw: Draw) -> Drawn:
    """The four rules, shared keys, states of another type, gates by head or by element."""
    dtype, state_type = draw.type("T"), draw.type("S")
    batch, tokens, key_heads, shared = (draw.up_to(each) for each in (3, 4, 2, 2))
    depth, width = draw.up_to(3), draw.up_to(3)
    rule = draw.of("linear", "gated", "delta", "gated_delta")
    attributes = {"q_num_heads": key_heads * shared, "kv_num_heads": key_heads}
    if rule != "gated_delta" or draw.chance():
        attributes["update_rule"] = rule
    attributes |= draw.some(scale=draw.of(0.0, 0.5), chunk_size=draw.of(1, 64))
    query = draw.ordinary(dtype, batch, tokens, key_heads * shared * depth)
    key = draw.ordinary(dtype, batch, tokens, key_heads * depth, scale=0.5)
    value = draw.ordinary(dtype, batch, tokens, key_heads * width)
    past = draw.ordinary(state_type, batch, key_heads, depth, width) if draw.chance() else None
    gates = draw.of(key_heads, key_heads * depth)
    decay = -np.abs(draw.ordinary(dtype, batch, tokens, gates)) if "gated" in rule else None
    rates = draw.of(1, key_heads)
    rate = (
        np.abs(draw.ordinary(dtype, batch, tokens, rates, scale=0.5)) if "delta" in rule else None
    )
    step = 1 + greatest(key) ** 2 * depth * (greatest(rate) if rate is not None else 1)
    first = 1.0 if past is None else 1 + greatest(past)
    state = min(step**tokens, 50.0) * (first + greatest(key) * greatest(value))
    sizes = [state * greatest(query) * depth, state]
    inputs = [query, key, value, past, decay, rate]
    return Drawn(inputs, attributes, 2, size=sizes, terms=depth * tokens)


@draws("FlexAttention", domain=PREVIEW)
def flex_attention(draw: Draw) -> Drawn:
    """With graphs that change scores and probabilities, or without."""
    dtype = draw.type("T1")
    batch, queries, keys = draw.up_to(3), draw.up_to(4), draw.up_to(5)
    key_heads, shared = draw.up_to(2), draw.up_to(2)
    depth, width = draw.up_to(4), draw.up_to(4)
    shapes = (
        (batch, key_heads * shared, queries, depth),
        (batch, key_heads, keys, depth),
        (batch, key_heads, keys, width),
    )
    inputs = [draw.ordinary(dtype, *each) for each in shapes]
    softmax_type = 11 if dtype == "float64" else 1
    attributes = draw.some(
        scale=draw.of(0.5, 1.0, 2.0),
        score_mod=_modifier(draw.of("Neg", "Tanh", "Abs"), softmax_type),
        prob_mod=_modifier(draw.of("Neg", "Sqrt", "Identity"), softmax_type),
    )
    if dtype not in ("float32", "float64") or draw.chance(0.3):
        attributes["softmax_precision"] = softmax_type
    score = 1 + 2 * greatest(inputs[0]) * greatest(inputs[1]) * depth
    return Drawn(inputs, attributes, size=score * greatest(inputs[2]), terms=keys + depth)


def _modifier(op, element_type):
    """A graph of one node over the scores or the probabilities."""
    made = [onnx.helper.make_tensor_value_info(n, element_type, list("bhqk")) for n in "st"]
    node = onnx.helper.make_node(op, ["s"], ["t"])
    return onnx.helper.make_graph([node], op.lower(), made[:1], made[1:])
