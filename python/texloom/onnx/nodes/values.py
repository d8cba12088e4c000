"""Values of a model while it is imported."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...extents import Extent, number_of
from ...graph.tensor import GraphTensor
from .errors import Unsupported
from .types import STORED, dtype_of_array, numpy_dtype


@dataclass(frozen=True)
class Quotient:
    """A quotient of two extents, which need not be whole; both are nonnegative.

    It is an element of :attr:`Value.sizes` of floats.
    """

    above: Extent
    below: Extent


@dataclass(frozen=True)
class Value:
    """The value of an ONNX name: a constant, a tensor of the graph, or a sequence of these.

    Sequences and optional values exist only while a model is imported. An optional value that is
    present is represented by the value itself.

    Attributes
    ----------
    shape : tuple of int or Expr
        Extents that are known only at a run are expressions.
    dtype : str
        NumPy's name; ONNX's for a type that NumPy lacks, such as ``"int4"``. A tensor of such a
        type is stored in another one: see :data:`~texloom.onnx.nodes.types.STORED`.
    array : array or None
        The elements of a constant; None if they are known only at a run.
    tensor : GraphTensor or None
        The tensor of the graph, if the value is not a constant.
    asked : frozenset of str
        The model's inputs that the elements depend on.
    items : tuple of Value or None
        The values of a sequence. The shape of a sequence has no meaning, and its dtype is that of
        its tensors.
    is_absent : bool
        Whether it is an absent optional value.
    count : Value or None
        An int64 scalar: the length of the tensor along an axis, if the length depends on data. The
        shape then has the largest possible length, and elements after the count have no meaning.
    counted_axis : int
        The axis whose length is `count`.
    sizes : array or None
        The elements, numbers and expressions, if they are extents that are known only at a run.
    """

    shape: tuple[Extent, ...]
    dtype: str
    array: NDArray[Any] | None = None
    tensor: GraphTensor | None = None
    asked: frozenset[str] = frozenset()
    items: tuple[Value, ...] | None = None
    is_absent: bool = False
    count: Value | None = None
    counted_axis: int = 0
    sizes: NDArray[Any] | None = None

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def is_constant(self) -> bool:
        """Whether the elements are known."""
        return self.array is not None

    @property
    def is_empty(self) -> bool:
        """Whether it is a tensor without elements."""
        return self.array is not None and self.array.size == 0

    @property
    def is_tensor(self) -> bool:
        """Whether it is neither a sequence nor absent."""
        return self.items is None and not self.is_absent

    def counted_by(self, count: Value | None, axis: int = 0) -> Value:
        """Return the value with `count` as its length along an axis; None removes the count."""
        if count is not None and count.array is not None and self.array is not None:
            return constant(self.array[(slice(None),) * axis + (slice(int(count.array)),)])
        return replace(self, count=count, counted_axis=axis)

    def tensors(self) -> list[Value]:
        """Return the value itself, the tensors of a sequence, or nothing for an absent value."""
        if self.items is not None:
            return [tensor for item in self.items for tensor in item.tensors()]
        return [] if self.is_absent else [self]

    def computed(self, array_of: Callable[[Value], Any]) -> Any:
        """Return the array of a tensor, a list of the arrays of a sequence, or None if absent."""
        if self.items is not None:
            return [item.computed(array_of) for item in self.items]
        return None if self.is_absent else array_of(self)


def sequence(items: Sequence[Value], dtype: str) -> Value:
    """Return a sequence of tensors."""
    asked = frozenset().union(*(each.asked for each in items))
    return Value((), dtype, asked=asked, items=tuple(items))


ABSENT = Value((), "", is_absent=True)
"""An absent optional value."""


def constant(array: Any) -> Value:
    """Return a constant."""
    array = np.asarray(array)
    return Value(tuple(array.shape), dtype_of_array(array), array=array)


def empty(shape: Sequence[Extent], dtype: str, what: str = "its result") -> Value:
    """Return a constant without elements.

    Raises
    ------
    Unsupported
        If extents are open, as constants have none; `what` is the subject of the reason.
    """
    known = [extent for extent in map(number_of, shape) if extent is not None]
    assert 0 in known, shape
    if len(known) < len(shape):
        text = ", ".join(map(str, shape))
        raise Unsupported(f"{what} of the shape ({text}) has no elements, so no extent may be open")
    return Value(tuple(known), dtype, array=np.zeros(known, numpy_dtype(dtype)))


def of_sizes(sizes: NDArray[Any], dtype: str = "int64") -> Value:
    """Return a value whose elements are extents that are known only at a run."""
    return Value(tuple(sizes.shape), dtype, sizes=sizes)


def of_tensor(tensor: GraphTensor, asked: frozenset[str]) -> Value:
    """Return the value of a tensor of the graph."""
    return Value(tensor.shape, tensor.dtype, tensor=tensor, asked=asked)


def check_is_computed(value: Value) -> None:
    """Refuse a value whose elements are only stored, not computed with."""
    if value.dtype in STORED:
        raise Unsupported(
            f"it computes with elements of type {value.dtype}, which are only stored: cast them to "
            "float32 before it, and its result back"
        )


def as_stored(value: Value) -> Value:
    """Return a value in the type in which graphs store its elements."""
    if value.dtype not in STORED:
        return value
    array = None if value.array is None else stored_array(value.array)
    return replace(value, dtype=STORED[value.dtype], array=array)


def of_stored(value: Value, dtype: str) -> Value:
    """Return the value of type `dtype` that is stored as `value`."""
    if dtype not in STORED:
        return value
    array = None if value.array is None else array_of_stored(value.array, dtype)
    return replace(value, dtype=dtype, array=array)


def stored_array(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array in the dtype in which graphs store its elements."""
    dtype = dtype_of_array(array)
    if dtype not in STORED:
        return array
    return array.view("uint8") if "float" in dtype else array.astype(STORED[dtype])


def array_of_stored(array: NDArray[Any], dtype: str) -> NDArray[Any]:
    """Return the array of type `dtype` that is stored as `array`."""
    own = numpy_dtype(dtype)
    return array.view(own) if "float" in dtype else array.astype(own)


__all__ = ["ABSENT", "Quotient", "Value", "array_of_stored", "as_stored"]
__all__ += ["check_is_computed", "constant", "empty"]
__all__ += ["of_sizes", "of_stored", "of_tensor", "sequence", "stored_array"]
