"""One node of a model, as converters see it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from ..._core import Tensor
from ...extents import Extent
from ...graph.loop_body import LoopBody
from ...graph.tensor import GraphTensor
from ...ops.products.dots import DotProducts
from ...ops.random import Stream
from .errors import NeedsValues, Unsupported
from .types import element_type
from .values import Value, constant


class Emitter(Protocol):
    """Adds operators to the graph that is built."""

    dots: DotProducts | None
    """How kernels multiply 8-bit integers by words of several of them; None if they do not."""
    fast_math: bool
    """Whether native code may compute other formulas, which round differently."""

    def emit(
        self,
        op: str,
        function: Callable[..., Tensor | Sequence[Tensor]],
        inputs: Sequence[Value],
        attributes: dict[str, Any],
        part: str = "",
    ) -> list[Value]:
        """Add an operator named after the node, followed by `part`; return its outputs."""
        ...

    def tensor_of(self, value: Value) -> GraphTensor:
        """Return the graph's tensor of a value; a constant is added to the graph."""
        ...

    def convert(
        self, op: str, inputs: Sequence[Value | None], attributes: dict[str, Any], outputs: int
    ) -> list[Value]:
        """Convert an operator of the newest operator set, as if it were a node of the model."""
        ...

    def asking(self, condition: Value) -> AbstractContextManager[None]:
        """If nodes are refused meanwhile, ask for the values that `condition` is computed from."""
        ...

    def chooses(self, condition: Value) -> bool:
        """Whether a condition is an input whose value has to be given."""
        ...

    def stream(self, seed: float | None) -> tuple[Stream, list[Value]]:
        """Return random words for the node; `seed` is its attribute."""
        ...


Subgraph = Callable[[Any, Sequence[Value]], list[Value]]
"""Converts the nodes of a graph among a node's attributes, given its inputs."""

Port = tuple[tuple[Extent, ...], str]
"""The shape and the dtype of a tensor that each step of a loop gives to its body."""

Recorded = Callable[[Any, "Sequence[Value | Port]"], "tuple[LoopBody, list[Value]]"]
"""Converts the nodes of a graph among a node's attributes to the body of a loop."""


class Node:
    """A node that is being converted.

    Attributes
    ----------
    op : str
        The operator's type, such as ``"Conv"``.
    domain : str
        The operator's domain; empty for ONNX's own.
    name : str
        The node's name, or that of its first output.
    version : int
        The version of the operator set that the model states.
    inputs : list of Value or None
        None for an optional input that is left out. Trailing inputs may be missing: see
        :meth:`has`.
    outputs : list of str
        Names; empty for an unused output.
    attributes : dict
        The attributes by name: numbers, strings, lists, arrays, and graphs as ONNX gives them.
    subgraph : callable
        ``subgraph(graph, inputs)`` converts the nodes of a graph among the attributes, in which the
        names around the node are visible; it returns the outputs of the graph.
    recorded : callable
        ``recorded(graph, inputs)`` converts such a graph to the body of a loop, and returns this
        body and the outputs of the graph. Inputs are values, or shapes and dtypes.
    """

    def __init__(
        self,
        op: str,
        domain: str,
        name: str,
        version: int,
        inputs: list[Value | None],
        outputs: list[str],
        attributes: dict[str, Any],
        emitter: Emitter,
        subgraph: Subgraph,
        recorded: Recorded,
    ) -> None:
        self.op = op
        self.domain = domain
        self.name = name
        self.version = version
        self.inputs = inputs
        self.outputs = outputs
        self.attributes = attributes
        self._emitter = emitter
        self.subgraph = subgraph
        self.recorded = recorded

    @property
    def dots(self) -> DotProducts | None:
        """How kernels multiply 8-bit integers by words of several; None if they do not."""
        return self._emitter.dots

    @property
    def fast_math(self) -> bool:
        """Whether native code may compute other formulas, which round differently."""
        return self._emitter.fast_math

    def has(self, index: int) -> bool:
        """Whether the optional input is given."""
        return index < len(self.inputs) and self.inputs[index] is not None

    def input(self, index: int) -> Value:
        """Return an input that must be a tensor."""
        value = self.value(index)
        if not value.is_tensor:
            self.refuse(f"its input {index} is not a tensor")
        return value

    def value(self, index: int) -> Value:
        """Return an input that must be given: a tensor, a sequence or an optional value."""
        value = self.inputs[index] if index < len(self.inputs) else None
        if value is None:
            self.refuse(f"its input {index} is missing")
        return value

    def known(self, index: int) -> NDArray[Any]:
        """Return the elements of an input that must be known, such as a shape.

        Raises
        ------
        NeedsValues
            If the elements depend on inputs of the model, whose values must then be given.
        """
        value = self.input(index)
        if value.sizes is not None:
            self.refuse(f"its input {index} depends on open extents, but has to be a constant")
        if value.array is None:
            self.needs(value, f"it needs the elements of its input {index}")
        return value.array

    def asking(self, condition: Value) -> AbstractContextManager[None]:
        """Return a context for nodes that are computed whether or not a condition holds.

        If nodes are refused in it, it raises :class:`NeedsValues` for the inputs that the condition
        is computed from, if there are any.
        """
        return self._emitter.asking(condition)

    def chooses(self, condition: Value) -> bool:
        """Whether a condition is an input of the model whose value has to be given."""
        return self._emitter.chooses(condition)

    def needs(self, value: Value, why: str) -> NoReturn:
        """Raise because the elements of a value have to be known; `why` is the reason.

        Raises
        ------
        NeedsValues
            If the value is computed from inputs of the model.
        Unsupported
            Otherwise.
        """
        if not value.asked:
            self.refuse(f"{why}, which only a run computes")
        raise NeedsValues(value.asked, why)

    def ints(self, index: int) -> list[int]:
        """Return the elements of a known input as a list of ints; a scalar gives one int.

        Elements that are extents known only at a run are expressions.
        """
        sizes = self.input(index).sizes
        if sizes is not None:
            return list(sizes.reshape(-1))
        return [int(each) for each in self.known(index).reshape(-1)]

    def ints_or(self, attribute: str, index: int, default: Any = None) -> Any:
        """Return the list of ints of an input or, in older versions, of an attribute."""
        if self.has(index):
            return self.ints(index)
        return self.attributes.get(attribute, default)

    def wants(self, index: int) -> bool:
        """Whether the output is used."""
        return index < len(self.outputs) and bool(self.outputs[index])

    def refuse(self, why: str) -> NoReturn:
        """Refuse to convert the node; `why` is the reason."""
        raise Unsupported(why)

    def emit(
        self,
        op: str,
        function: Callable[..., Tensor | Sequence[Tensor]],
        inputs: Sequence[Value],
        **attributes: Any,
    ) -> Value:
        """Add an operator of one output to the graph: ``function(*tensors, **attributes)``.

        Inputs whose values are known become constants of the graph. The function is one of
        :mod:`texloom.ops`; `op` is its name in texts.
        """
        (output,) = self._emitter.emit(op, function, inputs, attributes)
        return output

    def emit_part(
        self,
        part: str,
        op: str,
        function: Callable[..., Tensor | Sequence[Tensor]],
        inputs: Sequence[Value],
        **attributes: Any,
    ) -> Value:
        """Like :meth:`emit`, for an operator that computes a part of the node's result."""
        (output,) = self.emit_parts(part, op, function, inputs, **attributes)
        return output

    def emit_parts(
        self,
        part: str,
        op: str,
        function: Callable[..., Tensor | Sequence[Tensor]],
        inputs: Sequence[Value],
        **attributes: Any,
    ) -> list[Value]:
        """Like :meth:`emit_all`, for an operator that computes parts of the node's result."""
        return self._emitter.emit(op, function, inputs, attributes, f".{part}")

    def emit_all(
        self,
        op: str,
        function: Callable[..., Tensor | Sequence[Tensor]],
        inputs: Sequence[Value],
        **attributes: Any,
    ) -> list[Value]:
        """Like :meth:`emit`, for an operator of several outputs."""
        return self._emitter.emit(op, function, inputs, attributes)

    def convert(self, op: str, inputs: Sequence[Value | None], **attributes: Any) -> Value:
        """Convert an operator of the newest ONNX operator set, and return its first output.

        None among the inputs is an optional input that is left out.
        """
        return self._emitter.convert(op, inputs, attributes, 1)[0]

    def cast(self, x: Value, dtype: str) -> Value:
        """Return a value in another element type, by the name that :func:`dtype_name` returns."""
        return x if x.dtype == dtype else self.convert("Cast", [x], to=element_type(dtype))

    def convert_all(
        self, op: str, inputs: Sequence[Value | None], *, outputs: int, **attributes: Any
    ) -> list[Value]:
        """Like :meth:`convert`, for an operator of several outputs."""
        return self._emitter.convert(op, inputs, attributes, outputs)

    def stream(self) -> tuple[Stream, list[Value]]:
        """Return random words that no other call returns, unless nodes have equal seeds.

        Also returns the seed among the inputs of the model, as a list of one, if the words depend
        on it.
        """
        return self._emitter.stream(self.attributes.get("seed"))

    def tensor(self, value: Value) -> GraphTensor:
        """Return the graph's tensor of a value; a constant is added to the graph."""
        return self._emitter.tensor_of(value)

    def constant(self, array: Any, dtype: str | None = None) -> Value:
        """Return a constant value."""
        return constant(np.asarray(array, dtype))


__all__ = ["Emitter", "Node", "Port"]
