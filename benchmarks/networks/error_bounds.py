"""How far the output of a network may be from the exact one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

_UNITS = {"float32": 2.0**-24, "float16": 2.0**-11}


def error_bound(model: onnx.ModelProto, dtype: str) -> float:
    """Return how far an output may be from the exact one, as a share of its norm.

    Rounding errors of a sum of n terms have random signs, and grow as the root of n; those of
    layers add up, three roundings for each (products, bias, activation). Sums are float32.

    This is for layers that keep errors as small as they are: the output of a softmax, whose errors
    grow with the magnitude of its inputs, has no such bound, but its inputs have.
    """
    terms = list(_terms_of_sums(model))
    sums = _UNITS["float32"] * float(np.sum(np.sqrt(terms)))
    return sums + 3 * _UNITS[dtype] * len(model.graph.node)


def _terms_of_sums(model: onnx.ModelProto) -> list[int]:
    """Return the number of terms of each sum of products, and of each average."""
    inferred = onnx.shape_inference.infer_shapes(_without_values(model)).graph
    values = (*inferred.value_info, *inferred.input, *inferred.output)
    shapes = {v.name: [d.dim_value for d in v.type.tensor_type.shape.dim] for v in values}
    shapes |= {each.name: list(each.dims) for each in model.graph.initializer}
    terms = []
    for node in model.graph.node:
        attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        if node.op_type == "Conv":
            terms.append(int(np.prod(shapes[node.input[1]][1:])))
        elif node.op_type == "Gemm":
            terms.append(shapes[node.input[1]][1 if attributes.get("transB") else 0])
        elif node.op_type == "GlobalAveragePool":
            terms.append(int(np.prod(shapes[node.input[0]][2:])))
        elif node.op_type == "AveragePool":
            terms.append(int(np.prod(attributes["kernel_shape"])))
        elif node.op_type == "LRN":
            terms.append(attributes["size"])
    return terms


def _without_values(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a model whose large initializers are inputs: shapes do not depend on their values."""
    small = onnx.ModelProto()
    small.ir_version = model.ir_version
    small.opset_import.extend(model.opset_import)
    graph = small.graph
    graph.name = model.graph.name
    graph.node.extend(model.graph.node)
    graph.input.extend(model.graph.input)
    graph.output.extend(model.graph.output)
    for each in model.graph.initializer:
        if each.data_type == onnx.TensorProto.INT64:
            graph.initializer.append(each)
        else:
            value = onnx.helper.make_tensor_value_info(each.name, each.data_type, each.dims)
            graph.input.append(value)
    return small


def measured_bound(
    run: Callable[[NDArray[Any]], NDArray[Any]], x: NDArray[Any], model: onnx.ModelProto
) -> float:
    """Return the bound for a network of float32 whose layers may make errors grow.

    A roundoff of the inputs changes the output by a measured share. Each node rounds its own
    results: together they change it by that much for each node, if the network does not amplify
    roundoffs of later nodes more than those of its inputs.
    """
    unit = _UNITS["float32"]
    signs = np.random.default_rng(2).choice([-1, 1], (4, *x.shape)).astype("float32")
    exact = run(x)
    change = max(distance(run(x * (1 + each * np.float32(2 * unit))), exact) for each in signs)
    nodes = sum(node.op_type != "Constant" for node in model.graph.node)
    return nodes * max(change, unit)


def distance(output: NDArray[np.floating], exact: NDArray[np.floating]) -> float:
    """Return the norm of the difference, as a share of the norm."""
    difference = np.linalg.norm(output.astype("float64") - exact)
    return float(difference / np.linalg.norm(exact))


__all__ = ["distance", "error_bound", "measured_bound"]
