"""Attributes of ONNX nodes as Python values."""

from __future__ import annotations

from typing import Any

import onnx


def attributes_of(node: onnx.NodeProto) -> dict[str, Any]:
    """Return the attributes by name: strings decoded, tensors as arrays, graphs unchanged."""
    return {each.name: _value_of(each) for each in node.attribute}


def _value_of(attribute: onnx.AttributeProto) -> Any:
    value = onnx.helper.get_attribute_value(attribute)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, onnx.TensorProto):
        return onnx.numpy_helper.to_array(value)
    if attribute.type == onnx.AttributeProto.STRINGS:
        return [each.decode("utf-8", "replace") for each in value]
    if attribute.type in (onnx.AttributeProto.INTS, onnx.AttributeProto.FLOATS):
        return list(value)
    return value


__all__ = ["attributes_of"]
