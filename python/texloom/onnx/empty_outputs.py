"""Outputs without elements, for which only the shapes have to be known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx

from ..extents import are_known
from .inference import ShapeInference
from .nodes import Value, constant, empty
from .nodes.types import dtype_of, element_type, shape_of

_CONTROL = frozenset(["If", "Loop", "Scan"])  # their bodies may read names of the outer graph
_MOST_SIZES = 1024  # constants with more elements are not given to the inference


def empty_outputs(
    node: onnx.NodeProto,
    inputs: Sequence[Value | None],
    version: int,
    inference: ShapeInference,
) -> list[Value] | None:
    """Return the outputs of a node if ONNX infers that none has an element; else None."""
    if node.op_type in _CONTROL or node.domain not in ("", "ai.onnx"):
        return None
    named = {n: value for n, value in zip(node.input, inputs, strict=True) if value is not None}
    for value in named.values():
        if not value.is_tensor or value.count is not None or not are_known(value.shape):
            return None
    graph = onnx.helper.make_graph(
        [node],
        "empty",
        [
            onnx.helper.make_tensor_value_info(name, element_type(value.dtype), value.shape)
            for name, value in named.items()
        ],
        [onnx.ValueInfoProto(name=name) for name in node.output if name],
        [
            onnx.numpy_helper.from_array(np.asarray(value.array), name)
            for name, value in named.items()
            if value.array is not None and 0 < value.array.size <= _MOST_SIZES
        ],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", version)])
    inferred = inference.inferred(model, strict=True)
    if inferred is None:
        return None
    made = {"": constant(np.zeros(0))}
    for each in inferred.graph.output:
        if each.type.WhichOneof("value") != "tensor_type":
            return None
        shape = shape_of(each)
        if shape is None or 0 not in shape:
            return None
        if not all(isinstance(e, int) and e >= 0 for e in shape):  # -1: windows that do not fit
            return None
        made[each.name] = empty(shape, dtype_of(each))
    return [made[name] for name in node.output]


__all__ = ["empty_outputs"]
