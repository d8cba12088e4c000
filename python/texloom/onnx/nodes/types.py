"""Types of the inputs and outputs of a model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import prod
from string import ascii_uppercase
from typing import Any, NoReturn

import numpy as np
import onnx
from numpy.typing import NDArray

from ...extents import Extent, symbol
from .errors import refuse_model

_ELEMENT_TYPES = {
    "float32": onnx.TensorProto.FLOAT,
    "float64": onnx.TensorProto.DOUBLE,
    "float16": onnx.TensorProto.FLOAT16,
    "bfloat16": onnx.TensorProto.BFLOAT16,
    "int8": onnx.TensorProto.INT8,
    "uint8": onnx.TensorProto.UINT8,
    "int16": onnx.TensorProto.INT16,
    "uint16": onnx.TensorProto.UINT16,
    "int32": onnx.TensorProto.INT32,
    "uint32": onnx.TensorProto.UINT32,
    "int64": onnx.TensorProto.INT64,
    "uint64": onnx.TensorProto.UINT64,
    "bool": onnx.TensorProto.BOOL,
}

_MOST_ELEMENTS = 1 << 40

DTYPES = tuple(_ELEMENT_TYPES)
"""Element types that graphs support."""

STORED = {
    "float8e4m3fn": "uint8",
    "float8e4m3fnuz": "uint8",
    "float8e5m2": "uint8",
    "float8e5m2fnuz": "uint8",
    "float8e8m0": "uint8",
    "float4e2m1": "uint8",
    "int4": "int8",
    "uint4": "uint8",
    "int2": "int8",
    "uint2": "uint8",
}
"""The dtypes in which graphs store elements of types that they do not compute in, one in each:
the bits of a small float, and the number of a small integer."""


def dtype_name(element_type: int) -> str:
    """Return the name of an ONNX element type: NumPy's name or, if NumPy lacks it, ONNX's."""
    for name, each in _ELEMENT_TYPES.items():
        if each == element_type:
            return name
    if element_type not in onnx.TensorProto.DataType.values():
        return f"type {element_type}"
    return str(onnx.TensorProto.DataType.Name(element_type)).lower()


def numpy_dtype(dtype: str) -> np.dtype[Any]:
    """Return NumPy's dtype of a name that :func:`dtype_name` returned."""
    return np.dtype(onnx.helper.tensor_dtype_to_np_dtype(element_type(dtype)))


def float_name(element_type: int) -> str | None:
    """Return the name of a floating-point type that graphs support; None for other types."""
    name = dtype_name(element_type)
    return name if name in DTYPES and "float" in name else None


def element_type(dtype: str) -> int:
    """Return the ONNX element type of a name that :func:`dtype_name` returned."""
    known = _ELEMENT_TYPES.get(dtype)
    return int(onnx.TensorProto.DataType.Value(dtype.upper()) if known is None else known)


def dtype_of_array(array: NDArray[Any]) -> str:
    """Return the name of an array's element type, as :func:`dtype_name` does."""
    if array.dtype.kind in "OSU":
        return "string"
    try:
        return dtype_name(onnx.helper.np_dtype_to_tensor_dtype(array.dtype))
    except ValueError:  # a type that ONNX lacks
        return array.dtype.name


def dtype_of(value: onnx.ValueInfoProto) -> str:
    """Return the element type of a tensor that graphs can have, or can store.

    Raises
    ------
    Unsupported
        For other types: sequences, maps, optional values, strings and complex numbers.
    """
    kind = value.type.WhichOneof("value")
    if kind != "tensor_type":
        what = (kind or "value without a type").removesuffix("_type").replace("_", " ")
        refuse_model(
            f"{value.name!r} is not a tensor but a {what}",
            "change the model: inputs and outputs of other types are not supported",
        )
    name = dtype_name(value.type.tensor_type.elem_type).removeprefix("type ")
    if name not in DTYPES and name not in STORED:
        refuse_model(
            f"{value.name!r} has elements of the type {name}",
            f"use one of {', '.join((*DTYPES, *STORED))}",
        )
    return name


def shape_of(value: onnx.ValueInfoProto) -> tuple[int | str, ...] | None:
    """Return the extents, with a name or "?" for each open one; None if the rank is open.

    Some exporters write -1 for an open extent.
    """
    if not value.type.tensor_type.HasField("shape"):
        return None
    return tuple(
        each.dim_value
        if each.HasField("dim_value") and each.dim_value != -1
        else each.dim_param or "?"
        for each in value.type.tensor_type.shape.dim
    )


def static_shape(value: onnx.ValueInfoProto) -> tuple[int, ...]:
    """Return a shape; refuse open extents."""
    shape = shape_of(value)
    if shape is None or not all(isinstance(each, int) for each in shape):
        refuse_open([value])
    if any(each < 0 for each in shape):  # type: ignore[operator]
        refuse_model(
            f"{value.name!r} has a negative extent: its shape is {shape}",
            "correct the shape in the model",
        )
    return shape  # type: ignore[return-value]


def open_shape(value: onnx.ValueInfoProto) -> tuple[Extent, ...]:
    """Return a shape with symbols where the model leaves extents open."""
    shape = shape_of(value)
    if shape is None:
        refuse_open([value])
    return tuple(
        extent if isinstance(extent, int) else symbol(_symbol_name(value.name, axis, extent))
        for axis, extent in enumerate(shape)
    )


def _symbol_name(tensor: str, axis: int, extent: str) -> str:
    """Return a symbol name for an open extent; an extent without a name is named after its axis."""
    name = f"{tensor}_{axis}" if extent == "?" else extent
    name = re.sub(r"\W", "_", name, flags=re.ASCII).strip("_")
    return name if re.match("[A-Za-z]", name) and name not in ("min", "max") else f"extent_{name}"


def check_size(name: str, shape: Sequence[int]) -> None:
    """Refuse a shape that is too large for any memory, not counting extents of 0."""
    count = prod(extent for extent in shape if isinstance(extent, int) and extent)
    if count > _MOST_ELEMENTS:
        refuse_model(
            f"{name!r} has the shape {tuple(shape)}, more than {_MOST_ELEMENTS:,} elements",
            "use smaller extents",
        )


def refuse_open(values: Sequence[onnx.ValueInfoProto]) -> NoReturn:
    """Refuse open extents: list those that have to be given, and how to give them."""
    letters = iter(ascii_uppercase)
    told, python, options = [], [], []
    for each in values:
        shape = shape_of(each)
        if shape is None:
            told.append(f"the rank of {each.name!r}")
            words = [next(letters, "Z"), "..."]
        else:
            places = [i for i, extent in enumerate(shape) if not isinstance(extent, int)]
            named = ", ".join(f"{i} ({shape[i]})" if shape[i] != "?" else str(i) for i in places)
            told.append(f"extent{'s' * (len(places) > 1)} {named} of {each.name!r}")
            words = [str(e) if isinstance(e, int) else next(letters, "Z") for e in shape]
        python.append(f"{each.name!r}: ({', '.join(words)})")
        options.append(f"--shape {each.name}={'x'.join(words)}")
    refuse_model(
        f"the model leaves open {', and '.join(told)}",
        f"give numbers for the letters in shapes={{{', '.join(python)}}}; on the command line, in "
        f"{' '.join(options)}",
    )


__all__ = [
    "DTYPES",
    "STORED",
    "check_size",
    "dtype_name",
    "dtype_of",
    "dtype_of_array",
    "element_type",
    "numpy_dtype",
    "open_shape",
    "refuse_open",
    "shape_of",
    "static_shape",
]
