"""Computes nodes whose inputs are all known, with ONNX's reference implementation."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import onnx.reference
from numpy.typing import NDArray

from ..extents import are_known
from .nodes import Value, constant, empty
from .nodes.types import dtype_of, element_type, shape_of

_RANDOM = frozenset(
    ["Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform"]
    + ["RandomUniformLike"]
)
_CONTROL = frozenset(["If", "Loop", "Scan"])  # may read outer names
_CONVERTED = frozenset(
    # The reference implementation contradicts the standard, or takes seconds for an image,
    ["CenterCropPad", "Col2Im", "GridSample", "OneHot", "Resize", "RoiAlign", "Shape", "Slice"]
    # or makes constants that fill the memory.
    + ["ConstantOfShape", "Expand", "EyeLike", "Range", "Tile", "Upsample"]
)
_MOST_SIZES = 1024  # elements of constants that shapes may follow from


def computed_now(
    node: onnx.NodeProto, arrays: Sequence[NDArray[Any] | None], version: int
) -> list[NDArray[Any]] | None:
    """Return the outputs of a node, or None if it cannot be computed here."""
    if node.op_type in _RANDOM | _CONTROL | _CONVERTED or node.domain not in ("", "ai.onnx"):
        return None
    names = [name for name in dict.fromkeys(node.input) if name]
    graph = onnx.helper.make_graph(
        [node],
        "fold",
        [onnx.ValueInfoProto(name=name) for name in names],
        [onnx.ValueInfoProto(name=name) for name in node.output if name],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", version)])
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # NaN and infinities are values as others
            evaluator = onnx.reference.ReferenceEvaluator(model)
            given = {n: a for n, a in zip(node.input, arrays, strict=True) if n}
            results = iter(evaluator.run(None, given))
    except Exception:  # whatever the reference implementation does not do
        return None
    made = [next(results) if name else np.zeros(0) for name in node.output]
    if any(each is None or isinstance(each, list) for each in made):
        return None  # sequences and optional values are not arrays
    return [np.asarray(each) for each in made]


def empty_outputs(
    node: onnx.NodeProto, inputs: Sequence[Value | None], version: int
) -> list[Value] | None:
    """Return the outputs of a node if none has an element, as ONNX infers; else None.

    Their shapes are all that is to know of them.
    """
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
    try:
        inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
    except onnx.shape_inference.InferenceError:
        return None
    made = {"": constant(np.zeros(0))}
    for each in inferred.graph.output:
        if each.type.WhichOneof("value") != "tensor_type":
            return None
        shape = shape_of(each)
        if shape is None or 0 not in shape or not all(isinstance(e, int) for e in shape):
            return None
        made[each.name] = empty(shape, dtype_of(each))
    return [made[name] for name in node.output]


__all__ = ["computed_now", "empty_outputs"]
