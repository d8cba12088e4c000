"""Types of the inputs and outputs of a model."""

from __future__ import annotations

import numpy as np
import onnx

from .errors import Unsupported

DTYPES = (
    "float32",
    "float64",
    "float16",
    "bfloat16",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "bool",
)
"""Element types that graphs have."""


def dtype_name(element_type: int) -> str:
    """Return NumPy's name of an ONNX element type."""
    if element_type == onnx.TensorProto.BFLOAT16:
        return "bfloat16"
    return np.dtype(onnx.helper.tensor_dtype_to_np_dtype(element_type)).name


def dtype_of(value: onnx.ValueInfoProto) -> str:
    """Return the element type of a tensor that graphs can have.

    Raises
    ------
    Unsupported
        For other types: sequences, maps, optional values, strings and small floats.
    """
    kind = value.type.WhichOneof("value")
    if kind != "tensor_type":
        raise Unsupported(f"{value.name!r} is no tensor but a {kind}")
    element = value.type.tensor_type.elem_type
    name = dtype_name(element)
    if name not in DTYPES:
        shown = onnx.TensorProto.DataType.Name(element).lower()
        raise Unsupported(f"{value.name!r} has elements of type {shown}")
    return name


def shape_of(value: onnx.ValueInfoProto) -> tuple[int | str, ...] | None:
    """Return the extents, names or "?" for those that are open; None if the rank is open."""
    if not value.type.tensor_type.HasField("shape"):
        return None
    return tuple(
        each.dim_value if each.HasField("dim_value") else each.dim_param or "?"
        for each in value.type.tensor_type.shape.dim
    )


def static_shape(value: onnx.ValueInfoProto) -> tuple[int, ...]:
    """Return a shape that has to be fixed."""
    shape = shape_of(value)
    if shape is None:
        raise Unsupported(f"the rank of the input {value.name!r} is open")
    for each in shape:
        if not isinstance(each, int):
            raise Unsupported(f"the extent {each!r} of the input {value.name!r} is open")
        if each < 0:
            raise Unsupported(f"the input {value.name!r} has the extent {each}")
    return shape  # type: ignore[return-value]


__all__ = ["DTYPES", "dtype_name", "dtype_of", "shape_of", "static_shape"]
