"""Operators between DequantizeLinear and QuantizeLinear, as operators of integers.

Quantized models state each operator as one of real numbers, with nodes before that make numbers of
integers, and a node after that makes integers again (QDQ). A convolution or a product of matrices
among them becomes the operator of integers, whose sums are exact. An operator that only moves
elements, or takes the largest, moves integers: quantization never decreases, and gives the integers
that it was given. Other operators stay.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import prod
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx.helper import make_node

from .converters.registry import MICROSOFT
from .quantized_tensors import (
    MOVES,
    Integers,
    QuantizedGraph,
    are_plain,
    is_one,
    is_quantized,
    plain_attributes,
)
from .scope import Scope

_OPERATORS = ("Conv", "MatMul", "Gemm")
_OTHERS = ("Constant", "QuantizeLinear", "DequantizeLinear", "Relu", "Clip")
_MADE = ("QLinearConv", "QLinearMatMul", "MatMulIntegerToFloat", "QGemm")


def with_integer_operators(
    graph: onnx.GraphProto, scope: Scope, given: Collection[str] = ()
) -> list[onnx.NodeProto]:
    """Return the nodes of a graph, in which operators of quantized tensors are of integers.

    `scope` has the versions of the model's operators, and `given` has operators that functions or
    a user define, as ``domain::name``. Nodes whose results nobody needs any more are left out. The
    nodes are those of the graph if there is nothing to replace.

    Nodes that are made stand in the place of the last node that they replace: constants among
    their inputs may stand just before it.
    """
    known_names = (*_OPERATORS, *MOVES, *_OTHERS, *_MADE)
    is_given = any(f"{d}::{each}" in given for each in known_names for d in ("", MICROSOFT))
    if is_given or not is_quantized(graph):
        return list(graph.node)
    known = QuantizedGraph(graph, scope)
    replaced: dict[int, list[onnx.NodeProto]] = {}
    for node in known.nodes:
        if node.domain != MICROSOFT and is_one(node, *_OPERATORS, *MOVES):
            replacement = _moved if node.op_type in MOVES else _replacement
            made = replacement(known, node)
            if made is not None and known.takes(made[0]):
                replaced |= dict.fromkeys(map(id, (node, *made[1])), [])
                replaced[id((node, *made[1])[-1])] = made[0]
    if not replaced:
        return known.nodes
    nodes = [each for node in known.nodes for each in replaced.get(id(node), [node])]
    read = {name for node in nodes for name in node.input}
    constants = [
        make_node("Constant", [], [name], value=onnx.numpy_helper.from_array(array))
        for name, array in known.constants.items()
        if name in read
    ]
    return _needed([*constants, *nodes], known.outputs)


def _needed(nodes: Sequence[onnx.NodeProto], outputs: set[str]) -> list[onnx.NodeProto]:
    """Return the nodes without DequantizeLinear that nothing reads."""
    read = outputs | {name for node in nodes for name in node.input}
    return [n for n in nodes if not is_one(n, "DequantizeLinear") or read & {*n.output}]


def _moved(
    known: QuantizedGraph, node: onnx.NodeProto
) -> tuple[list[onnx.NodeProto], list[onnx.NodeProto]] | None:
    """Return the nodes that move integers, and the QuantizeLinear that they replace, too."""
    if len(node.output) != 1:
        return None
    after = known.quantized(node.output[0])
    count = len(node.input) if node.op_type == "Concat" else 1
    if after is None:
        return None
    last, wanted = after
    made, names = [], []
    for number, name in enumerate(node.input[:count]):
        each = known.integers(name)
        if each is None or not each.is_single or not each.is_of_bytes or each.constant is not None:
            return None
        if each.has_steps_of(wanted):
            names.append(each.names[0])
            continue
        numbers, integers = (
            known.unique_name(f"{node.output[0]}.{number}.{kind}")
            for kind in ("numbers", "integers")
        )
        made.append(make_node("DequantizeLinear", list(each.names), [numbers]))
        made.append(make_node("QuantizeLinear", [numbers, *wanted.names[1:]], [integers]))
        names.append(integers)
    moved = onnx.NodeProto()
    moved.CopyFrom(node)
    moved.input[:count] = names
    moved.output[0] = last.output[0]
    return [*made, moved], [last]


def _replacement(
    known: QuantizedGraph, node: onnx.NodeProto
) -> tuple[list[onnx.NodeProto], list[onnx.NodeProto]] | None:
    """Return the nodes for a product, and the nodes after it that they replace, too."""
    left, right = (known.integers(name) for name in node.input[:2])
    if left is None or right is None or not left.is_single or left.constant is not None:
        return None
    if not left.is_of_bytes or not right.is_of_bytes:
        return None
    attributes = plain_attributes(node)
    if not _has_right_scales(node, right, attributes):
        return None
    bias = _bias_of(known, node, left, right)
    if bias is None or not _has_exact_sums(node, right, attributes, known.constant(bias)):
        return None
    between = _limits_after(known, node.output[0])
    after = None if between is None else known.quantized(between[-1].output[0])
    if after is None:
        between, after = [], known.quantized(node.output[0])
    if not are_plain(_factors(left, right, after)):
        return None
    operator = {"Conv": _conv, "MatMul": _matmul, "Gemm": _gemm}[node.op_type]
    made = operator(node, left, right, bias, after, attributes)
    if made is None:
        return None
    if after is None:
        return made, []
    return [*made, *_limited(made[-1], between or [], after, known)], [*(between or []), after[0]]


def _has_right_scales(node: onnx.NodeProto, right: Integers, attributes: dict[str, Any]) -> bool:
    """Whether scales of the right side differ by output channels or columns at most."""
    if right.is_single:
        return True
    if right.constant is None:
        return False
    rank = right.constant.ndim
    own = 0 if node.op_type == "Conv" or attributes.get("transB", 0) else rank - 1
    is_plain = node.op_type == "Conv" or rank == 2
    is_own = right.axis in (own, own - rank)
    return is_plain and is_own and right.scale.shape == right.constant.shape[own : own + 1]


def _has_exact_sums(
    node: onnx.NodeProto, right: Integers, attributes: dict[str, Any], bias: Any
) -> bool:
    """Whether int32 holds the sums of products with a constant, plus a bias."""
    if right.constant is None or right.constant.ndim < 2:
        return right.constant is None
    shape = right.constant.shape
    steps = shape[-1] if attributes.get("transB", 0) else shape[-2]
    if node.op_type == "Conv":
        steps = prod(shape[1:])
    most = 0 if bias is None else np.abs(bias.astype("int64")).max(initial=0)
    return bool(255 * 255 * steps + most < 1 << 31)


def _factors(
    left: Integers, right: Integers, after: tuple[onnx.NodeProto, Integers] | None
) -> NDArray[Any]:
    """Return what sums are multiplied by."""
    with np.errstate(all="ignore"):
        factors = left.scale.reshape(()) * right.scale
        return np.asarray(factors if after is None else factors / after[1].scale.reshape(()))


def _bias_of(
    known: QuantizedGraph, node: onnx.NodeProto, left: Integers, right: Integers
) -> str | None:
    """Return the name of the integers of the bias; "" without a bias, None for another one."""
    if len(node.input) < 3 or not node.input[2]:
        return ""
    bias = known.integers(node.input[2])
    if bias is None or bias.constant is None or bias.constant.dtype != np.int32:
        return None
    wanted = left.scale.reshape(()) * right.scale
    is_centered = not bias.zero.any()
    try:
        fits = bool(np.allclose(bias.scale, wanted, rtol=1e-5, atol=0))
    except ValueError:
        return None
    return bias.names[0] if fits and is_centered and bias.constant.ndim == 1 else None


def _limits_after(known: QuantizedGraph, name: str) -> list[onnx.NodeProto] | None:
    """Return the Relu or Clip with constant limits that alone reads a tensor; None for others."""
    node = known.only_reader(name)
    if node is None or not is_one(node, "Relu", "Clip"):
        return None
    if node.op_type == "Relu":
        return [node]
    if node.input[0] != name or node.attribute or len(node.input) < 2:
        return None
    bounds = [known.constant(each) for each in node.input[1:] if each]
    is_known = all(
        each is not None and each.dtype == np.float32 and each.size == 1 and not np.isnan(each)
        for each in bounds
    )
    return [node] if is_known else None


def _limited(
    made: onnx.NodeProto,
    between: list[onnx.NodeProto],
    after: tuple[onnx.NodeProto, Integers],
    known: QuantizedGraph,
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
        with np.errstate(over="ignore"):
            number = np.rint(np.reshape(bound, ()) / scales.scale.reshape(()))
        return int(np.clip(number + int(scales.zero.reshape(())), info.min, info.max))

    limits = integer(lowest, info.min), integer(highest, info.max)
    if limits == (info.min, info.max):
        return []
    result = made.output[0]
    made.output[0] = known.unique_name(f"{result}.unlimited")
    names = [
        known.named_constant(f"{result}.{which}", np.array(limit, scales.zero.dtype))
        for which, limit in zip(("least", "most"), limits, strict=True)
    ]
    return [make_node("Clip", [made.output[0], *names], [result], name=f"{node.name}.limits")]


def _conv(node, left, right, bias, after, attributes):  # type: ignore[no-untyped-def]
    if after is None:
        return None
    result, scales = after
    zero = after[1].names[2]
    inputs = [*left.names, *right.names, scales.names[1], zero, bias]
    return [_node("QLinearConv", node, inputs, result.output, attributes)]


def _matmul(node, left, right, bias, after, attributes):  # type: ignore[no-untyped-def]
    if after is not None:
        result, scales = after
        inputs = [*left.names, *right.names, *scales.names[1:]]
        return [_node("QLinearMatMul", node, inputs, result.output, {})]
    inputs = [left.names[0], right.names[0], left.names[1], right.names[1]]
    inputs += [left.names[2], right.names[2]]
    return [_node("MatMulIntegerToFloat", node, inputs, node.output, {}, MICROSOFT)]


def _gemm(node, left, right, bias, after, attributes):  # type: ignore[no-untyped-def]
    if attributes.get("beta", 1.0) != 1 or attributes.get("alpha", 1.0) != 1:
        return None
    kept = {name: attributes.get(name, 0) for name in ("transA", "transB")}
    scales = after[1].names[1:] if after is not None else ()
    inputs = [*left.names, *right.names, bias, *scales]
    output = node.output if after is None else after[0].output
    return [_node("QGemm", node, inputs, output, kept, MICROSOFT)]


def _node(op, like, inputs, outputs, attributes, domain=""):  # type: ignore[no-untyped-def]
    while inputs and not inputs[-1]:
        inputs.pop()
    return make_node(op, inputs, list(outputs), name=like.name, domain=domain, **attributes)


__all__ = ["with_integer_operators"]
