"""Operators between DequantizeLinear and QuantizeLinear, as operators of integers.

Quantized models state each operator as one of real numbers, with nodes before that make numbers of
integers, and a node after that makes integers again (QDQ). A convolution or a product of matrices
among them becomes the operator of integers, whose sums are exact. An operator that only moves
elements, or takes the largest, moves integers: quantization never decreases, and gives the integers
that it was given. Other operators stay.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx.helper import get_attribute_value, make_node

from .initializers import array_of, initializers

MICROSOFT = "com.microsoft"
_OPERATORS = ("Conv", "MatMul", "Gemm")
_MOVES = ("Concat", "DepthToSpace", "Expand", "Flatten", "Identity", "MaxPool", "Reshape", "Slice")
_MOVES += ("SpaceToDepth", "Squeeze", "Transpose", "Unsqueeze")


@dataclass(frozen=True)
class _Integers:
    """What a DequantizeLinear reads: the names of integers, their scale and their zero point."""

    names: tuple[str, str, str]
    scale: NDArray[Any]
    zero: NDArray[Any] | None
    axis: int
    constant: NDArray[Any] | None

    @property
    def is_single(self) -> bool:
        """Whether all integers have one scale and one zero point."""
        return self.scale.size == 1 and (self.zero is None or self.zero.size == 1)

    def has_steps_of(self, other: _Integers) -> bool:
        """Whether integers stand for the numbers that those of `other` stand for; both single."""
        assert self.zero is not None and other.zero is not None
        same_zero = self.zero.dtype == other.zero.dtype and (self.zero == other.zero).all()
        return bool(same_zero and (self.scale == other.scale).all())


@dataclass
class _Graph:
    """The nodes of a graph by the names that they make and read."""

    graph: onnx.GraphProto
    producers: dict[str, onnx.NodeProto] = field(default_factory=dict)
    readers: dict[str, list[onnx.NodeProto]] = field(default_factory=lambda: defaultdict(list))
    made: dict[str, onnx.NodeProto] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._initializers = initializers(self.graph)
        self._given = {each.name for each in self.graph.input}
        self.outputs = {each.name for each in self.graph.output}
        for node in self.graph.node:
            self.producers.update(dict.fromkeys(node.output, node))
            for name in {*node.input}:
                self.readers[name].append(node)
            for attribute in node.attribute:  # names that branches read may be any
                if attribute.HasField("g") or attribute.graphs:
                    self.outputs |= {*_names_in(node)}

    def constant(self, name: str) -> NDArray[Any] | None:
        """Return the values of a constant; None for other names."""
        if name in self._initializers and name not in self._given:
            return array_of(self._initializers[name])
        node = self.producers.get(name)
        if node is None or node.op_type != "Constant" or node.domain not in ("", "ai.onnx"):
            return None
        values = {each.name: get_attribute_value(each) for each in node.attribute}
        value = values.get("value")
        return None if value is None else onnx.numpy_helper.to_array(value)

    def integers(self, name: str) -> _Integers | None:
        """Return what a DequantizeLinear of 8-bit integers, or of int32, reads to make a tensor."""
        node = self.producers.get(name)
        if node is None or not _is(node, "DequantizeLinear"):
            return None
        attributes = {each.name: get_attribute_value(each) for each in node.attribute}
        scale = self.constant(node.input[1])
        has_zero = len(node.input) > 2 and node.input[2]
        zero = self.constant(node.input[2]) if has_zero else None
        is_plain = scale is not None and scale.dtype == np.float32 and scale.ndim <= 1
        if not is_plain or (has_zero and zero is None) or attributes.get("block_size", 0):
            return None
        names = (node.input[0], node.input[1], node.input[2] if has_zero else "")
        made = self.constant(node.input[0])
        return _Integers(names, scale, zero, attributes.get("axis", 1), made)

    def only_reader(self, name: str) -> onnx.NodeProto | None:
        """Return the node that reads a tensor, if it is one and nothing else needs the tensor."""
        readers = self.readers[name]
        return readers[0] if len(readers) == 1 and name not in self.outputs else None

    def quantized(self, name: str) -> tuple[onnx.NodeProto, _Integers] | None:
        """Return the only reader of a tensor, if it is a QuantizeLinear with constant scales."""
        node = self.only_reader(name)
        if node is None or not _is(node, "QuantizeLinear") or len(node.input) < 3:
            return None
        scale, zero = self.constant(node.input[1]), self.constant(node.input[2])
        is_single = scale is not None and zero is not None and scale.size == zero.size == 1
        if not is_single or scale.dtype != np.float32 or zero.dtype not in (np.int8, np.uint8):
            return None
        names = ("", node.input[1], node.input[2])
        return node, _Integers(names, scale, zero, 0, None)


def _is(node: onnx.NodeProto, *ops: str) -> bool:
    return node.op_type in ops and node.domain in ("", "ai.onnx", MICROSOFT)


def _names_in(node: onnx.NodeProto) -> Iterator[str]:
    """Return all names that the graphs among a node's attributes read."""
    for attribute in node.attribute:
        for graph in [*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs]:
            for inner in graph.node:
                yield from inner.input
                yield from _names_in(inner)
            yield from (each.name for each in graph.output)


def with_integer_operators(graph: onnx.GraphProto) -> list[onnx.NodeProto]:
    """Return the nodes of a graph, in which operators of quantized tensors are of integers.

    Nodes whose results nobody needs any more are left out.
    """
    if not any(_is(node, "DequantizeLinear") for node in graph.node):
        return list(graph.node)
    known = _Graph(graph)
    replaced: dict[int, list[onnx.NodeProto]] = {}
    dropped: set[int] = set()
    for node in graph.node:
        if node.domain != MICROSOFT and _is(node, *_OPERATORS, *_MOVES):
            replacement = _moved if node.op_type in _MOVES else _replacement
            made = replacement(known, node)
            if made is not None:
                replaced[id(node)] = made[0]
                dropped |= {id(each) for each in made[1]}
    nodes = [
        each
        for node in graph.node
        for each in replaced.get(id(node), [] if id(node) in dropped else [node])
    ]
    return _needed(nodes, known.outputs)


def _needed(nodes: Sequence[onnx.NodeProto], outputs: set[str]) -> list[onnx.NodeProto]:
    """Return the nodes without DequantizeLinear that nothing reads."""
    read = outputs | {name for node in nodes for name in node.input}
    return [n for n in nodes if not _is(n, "DequantizeLinear") or read & {*n.output}]


def _moved(
    known: _Graph, node: onnx.NodeProto
) -> tuple[list[onnx.NodeProto], list[onnx.NodeProto]] | None:
    """Return the nodes that move integers, and the QuantizeLinear that they replace, too."""
    if len(node.output) != 1:
        return None
    after = known.quantized(node.output[0])
    count = len(node.input) if node.op_type == "Concat" else 1
    sides = [known.integers(name) for name in node.input[:count]]
    if after is None or any(each is None or not each.is_single for each in sides):
        return None
    last, wanted = after
    made, names = [], []
    for number, each in enumerate(sides):
        assert each is not None
        if each.constant is not None or each.zero is None:
            return None
        if each.has_steps_of(wanted):
            names.append(each.names[0])
            continue
        stem = f"{node.output[0]}.{number}"
        made.append(make_node("DequantizeLinear", list(each.names), [f"{stem}.numbers"]))
        given = [f"{stem}.numbers", *wanted.names[1:]]
        made.append(make_node("QuantizeLinear", given, [f"{stem}.integers"]))
        names.append(f"{stem}.integers")
    moved = onnx.NodeProto()
    moved.CopyFrom(node)
    moved.input[:count] = names
    moved.output[0] = last.output[0]
    return [*made, moved], [last]


def _replacement(
    known: _Graph, node: onnx.NodeProto
) -> tuple[list[onnx.NodeProto], list[onnx.NodeProto]] | None:
    """Return the nodes for a product, and the nodes after it that they replace, too."""
    left, right = (known.integers(name) for name in node.input[:2])
    if left is None or right is None or not left.is_single or left.constant is not None:
        return None
    attributes = {each.name: get_attribute_value(each) for each in node.attribute}
    if not _has_right_scales(node, right, attributes):
        return None
    bias = _bias_of(known, node, left, right)
    if bias is None:
        return None
    between = _limits_after(known, node.output[0])
    after = None if between is None else known.quantized(between[-1].output[0])
    if after is None:
        between, after = [], known.quantized(node.output[0])
    operator = {"Conv": _conv, "MatMul": _matmul, "Gemm": _gemm}[node.op_type]
    made = operator(node, left, right, bias, after, attributes)
    if made is None:
        return None
    if after is None:
        return made, []
    return [*made, *_limited(made[-1], between or [], after, known)], [*(between or []), after[0]]


def _has_right_scales(node: onnx.NodeProto, right: _Integers, attributes: dict[str, Any]) -> bool:
    """Whether scales of the right side differ by output channels or columns at most."""
    if right.is_single:
        return True
    if right.constant is None:
        return False
    rank = right.constant.ndim
    own = 0 if node.op_type == "Conv" or attributes.get("transB", 0) else rank - 1
    is_plain = node.op_type == "Conv" or rank == 2
    return is_plain and right.axis % rank == own


def _bias_of(known: _Graph, node: onnx.NodeProto, left: _Integers, right: _Integers) -> str | None:
    """Return the name of the integers of the bias; "" without a bias, None for another one."""
    if len(node.input) < 3 or not node.input[2]:
        return ""
    bias = known.integers(node.input[2])
    if bias is None or bias.constant is None or bias.constant.dtype != np.int32:
        return None
    wanted = left.scale.reshape(()) * right.scale
    is_centered = bias.zero is None or not bias.zero.any()
    try:
        fits = bool(np.allclose(bias.scale, wanted, rtol=1e-5, atol=0))
    except ValueError:
        return None
    return bias.names[0] if fits and is_centered and bias.constant.ndim == 1 else None


def _limits_after(known: _Graph, name: str) -> list[onnx.NodeProto] | None:
    """Return the Relu or Clip with constant limits that alone reads a tensor; None for others."""
    node = known.only_reader(name)
    if node is None or not _is(node, "Relu", "Clip"):
        return None
    if node.op_type == "Relu":
        return [node]
    bounds = [known.constant(each) if each else np.float32(0) for each in node.input[1:]]
    is_known = all(each is not None for each in bounds)
    return [node] if is_known and not node.attribute and len(bounds) > 0 else None


def _limited(
    made: onnx.NodeProto,
    between: list[onnx.NodeProto],
    after: tuple[onnx.NodeProto, _Integers],
    known: _Graph,
) -> list[onnx.NodeProto]:
    """Return the nodes that limit quantized integers as the nodes between limit numbers.

    Quantization never decreases, so that limits may be quantized, too.
    """
    node, scales = after
    if not between:
        return []
    lowest, highest = None, None
    (limit,) = between
    if limit.op_type == "Relu":
        lowest = np.float32(0)
    else:
        bounds = [known.constant(each) if each else None for each in limit.input[1:]]
        lowest, highest = [*bounds, None][:2]
    info = np.iinfo(scales.zero.dtype)

    def integer(bound: Any, default: int) -> int:
        if bound is None:
            return default
        number = np.rint(np.float32(bound).reshape(()) / scales.scale.reshape(()))
        return int(np.clip(number + int(scales.zero.reshape(())), info.min, info.max))

    limits = integer(lowest, info.min), integer(highest, info.max)
    if limits == (info.min, info.max):
        return []
    result, inner = made.output[0], made.output[0] + ".unlimited"
    made.output[0] = inner
    names = [f"{result}.{which}" for which in ("least", "most")]
    constants = [
        make_node("Constant", [], [name], value=_tensor(np.array(v, scales.zero.dtype)))
        for name, v in zip(names, limits, strict=True)
    ]
    return [*constants, make_node("Clip", [inner, *names], [result], name=f"{node.name}.limits")]


def _tensor(array: NDArray[Any]) -> onnx.TensorProto:
    return onnx.numpy_helper.from_array(array)


def _conv(node, left, right, bias, after, attributes):  # type: ignore[no-untyped-def]
    if after is None:
        return None
    result, scales = after
    zero = after[1].names[2]
    inputs = [*_factor(left), *_factor(right), scales.names[1], zero, bias]
    return [_node("QLinearConv", node, inputs, result.output, attributes)]


def _matmul(node, left, right, bias, after, attributes):  # type: ignore[no-untyped-def]
    if after is not None:
        result, scales = after
        inputs = [*_factor(left), *_factor(right), *scales.names[1:]]
        return [_node("QLinearMatMul", node, inputs, result.output, {})]
    inputs = [left.names[0], right.names[0], left.names[1], right.names[1]]
    inputs += [left.names[2], right.names[2]]
    return [_node("MatMulIntegerToFloat", node, inputs, node.output, {}, MICROSOFT)]


def _gemm(node, left, right, bias, after, attributes):  # type: ignore[no-untyped-def]
    if attributes.get("beta", 1.0) != 1 or attributes.get("alpha", 1.0) != 1:
        return None
    kept = {name: attributes.get(name, 0) for name in ("transA", "transB")}
    scales = after[1].names[1:] if after is not None else ()
    inputs = [*_factor(left), *_factor(right), bias, *scales]
    output = node.output if after is None else after[0].output
    return [_node("QGemm", node, inputs, output, kept, MICROSOFT)]


def _factor(side: _Integers) -> tuple[str, str, str]:
    return side.names


def _node(op, like, inputs, outputs, attributes, domain=""):  # type: ignore[no-untyped-def]
    while inputs and not inputs[-1]:
        inputs.pop()
    return make_node(op, inputs, list(outputs), name=like.name, domain=domain, **attributes)


__all__ = ["with_integer_operators"]
