"""Values of a model while it is imported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...graph.tensor import GraphTensor
from .types import dtype_of_array


@dataclass(frozen=True)
class Value:
    """What an ONNX name stands for: a constant, or a tensor of the graph.

    Attributes
    ----------
    shape : tuple of int
    dtype : str
        NumPy's name; ONNX's for a constant of a type that NumPy lacks, such as ``"int4"``.
    array : array or None
        The elements, if they are known when the model is imported.
    tensor : GraphTensor or None
        The tensor, if they are not.
    asked : frozenset of str
        The model's inputs that the elements depend on.
    """

    shape: tuple[int, ...]
    dtype: str
    array: NDArray[Any] | None = None
    tensor: GraphTensor | None = None
    asked: frozenset[str] = frozenset()

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def is_constant(self) -> bool:
        """Whether the elements are known."""
        return self.array is not None


def constant(array: Any) -> Value:
    """Return a constant."""
    array = np.asarray(array)
    return Value(tuple(array.shape), dtype_of_array(array), array=array)


def of_tensor(tensor: GraphTensor, asked: frozenset[str]) -> Value:
    """Return the value of a tensor of the graph."""
    return Value(tensor.shape, tensor.dtype, tensor=tensor, asked=asked)


__all__ = ["Value", "constant", "of_tensor"]
