"""The bodies that the ONNX standard gives for operators that are functions of others."""

from __future__ import annotations

from collections.abc import Sequence

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
        return _corrected(node, _function(body)) if body else None
    return schema.function_body if schema.has_function else None


def has_body(node: onnx.NodeProto, version: int) -> bool:
    """Whether the standard gives a body for the operator, at least for some attributes."""
    schema = schema_of(node, version)
    return schema is not None and (schema.has_function or schema.has_context_dependent_function)


def _function(body: bytes) -> onnx.FunctionProto:
    function = onnx.FunctionProto()
    function.ParseFromString(body)
    return function


def _corrected(node: onnx.NodeProto, body: onnx.FunctionProto) -> onnx.FunctionProto:
    """Keep the first axis of the result of Attention, which the body drops for a batch of one."""
    if node.op_type == "Attention":
        for each in body.node:
            if each.op_type == "Squeeze" and len(each.input) == 1:
                each.op_type = "Identity"
    return body


def _type_of(value: Value) -> onnx.TypeProto:
    return onnx.helper.make_tensor_type_proto(element_type(value.dtype), value.shape)


__all__ = ["function_body", "has_body"]
