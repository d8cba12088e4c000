"""The constants that a graph stores, dense or sparse."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from .nodes import refuse_model
from .nodes.types import dtype_name

Initializer = onnx.TensorProto | onnx.SparseTensorProto


def initializers(graph: onnx.GraphProto) -> dict[str, Initializer]:
    """Return the initializers of a graph by name; a sparse one has the name of its values."""
    dense = {each.name: each for each in graph.initializer}
    return dense | {each.values.name: each for each in graph.sparse_initializer}


def array_of(initializer: Initializer) -> NDArray[Any]:
    """Return the values of an initializer; those of a sparse one as a dense array."""
    is_sparse = isinstance(initializer, onnx.SparseTensorProto)
    stored = initializer.values if is_sparse else initializer
    try:
        values = onnx.numpy_helper.to_array(stored)
        if not is_sparse:
            return values
        made = np.zeros(tuple(initializer.dims), values.dtype)
        places = onnx.numpy_helper.to_array(initializer.indices)
        made[np.unravel_index(places, made.shape) if places.ndim == 1 else tuple(places.T)] = values
        return made
    except Exception as error:
        refuse_model(
            f"the values of the constant {stored.name!r}, "
            f"{dtype_name(stored.data_type)}, cannot be read: {error}",
            "export the model again",
        )


__all__ = ["Initializer", "array_of", "initializers"]
