"""Bodies of functions: functions of a model, and ONNX's definitions of its operators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import onnx

from .nodes import Value
from .nodes.types import element_type
from .schemas import schema_of


def function_body(
    node: onnx.NodeProto, inputs: Sequence[Value | None], version: int
) -> onnx.FunctionProto | None:
    """Return the body for a node, or None if the standard has none."""
    schema = schema_of(node, version)
    if schema is None:
        return None
    if schema.has_context_dependent_function:
        types = [_type_of(each).SerializeToString() if each else b"" for each in inputs]
        body = schema.get_context_dependent_function(node.SerializeToString(), types)
        return _function(body) if body else None
    return schema.function_body if schema.has_function else None


def has_body(node: onnx.NodeProto, version: int) -> bool:
    """Whether the standard gives a body for the operator, at least for some attributes."""
    schema = schema_of(node, version)
    return schema is not None and (schema.has_function or schema.has_context_dependent_function)


def _function(body: bytes) -> onnx.FunctionProto:
    function = onnx.FunctionProto()
    function.ParseFromString(body)
    return function


def _type_of(value: Value) -> onnx.TypeProto:
    return onnx.helper.make_tensor_type_proto(element_type(value.dtype), value.shape)


def nodes_of_call(function: onnx.FunctionProto, node: onnx.NodeProto) -> list[onnx.NodeProto]:
    """Return the nodes of a function, with attributes set as `node`, its call, gives them."""
    given = {each.name: each for each in function.attribute_proto}
    given.update({each.name: each for each in node.attribute})
    made = []
    for inner in function.node:
        copied = onnx.NodeProto()
        copied.CopyFrom(inner)
        _resolve(copied, given)
        made.append(copied)
    return made


def _resolve(node: onnx.NodeProto, given: Mapping[str, onnx.AttributeProto]) -> None:
    kept = []
    for attribute in node.attribute:
        if attribute.HasField("g"):
            for inner in attribute.g.node:
                _resolve(inner, given)
        if not attribute.ref_attr_name:
            kept.append(attribute)
        elif attribute.ref_attr_name in given:
            value = onnx.AttributeProto()
            value.CopyFrom(given[attribute.ref_attr_name])
            value.name = attribute.name
            kept.append(value)
    del node.attribute[:]
    node.attribute.extend(kept)


__all__ = ["function_body", "has_body", "nodes_of_call"]
