"""The quantized tensors of a graph: integers, their scales and zero points."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx.helper import get_attribute_value

from .converters.registry import MICROSOFT
from .initializers import array_of, initializers
from .nodes import Unsupported, Value
from .schemas import NodeChecks, schema_of
from .scope import Scope, canonical

MOVES = ("Concat", "DepthToSpace", "Expand", "Flatten", "Identity", "MaxPool", "Reshape", "Slice")
MOVES += ("SpaceToDepth", "Squeeze", "Transpose", "Unsqueeze")
"""Operators that move elements of their first input, or take the largest."""

_TYPES = {
    onnx.TensorProto.UINT8: np.dtype("uint8"),
    onnx.TensorProto.INT8: np.dtype("int8"),
    onnx.TensorProto.INT32: np.dtype("int32"),
}
_FLOATS = (0, onnx.TensorProto.FLOAT)  # the values of an attribute for which numbers are float32


@dataclass(frozen=True)
class Integers:
    """What a DequantizeLinear reads: the names of integers, their scale and their zero point.

    A zero point that the node leaves out has a name and elements, too.
    """

    names: tuple[str, str, str]
    scale: NDArray[Any]
    zero: NDArray[Any]
    axis: int
    constant: NDArray[Any] | None

    @property
    def is_single(self) -> bool:
        """Whether all integers have one scale and one zero point."""
        return bool(self.scale.size == 1)

    @property
    def is_of_bytes(self) -> bool:
        """Whether the integers have 8 bits."""
        return self.zero.dtype.itemsize == 1

    def has_steps_of(self, other: Integers) -> bool:
        """Whether integers stand for the numbers that those of `other` stand for; both single."""
        same_zero = self.zero.dtype == other.zero.dtype and (self.zero == other.zero).all()
        return bool(same_zero and (self.scale == other.scale).all())


@dataclass
class QuantizedGraph:
    """The nodes of a graph by the names that they make and read.

    `scope` has the versions of the model's operators. `constants` are those that nodes which were
    made may read, by name.
    """

    graph: onnx.GraphProto
    scope: Scope
    producers: dict[str, onnx.NodeProto] = field(default_factory=dict)
    readers: dict[str, list[onnx.NodeProto]] = field(default_factory=lambda: defaultdict(list))
    constants: dict[str, NDArray[Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.nodes = list(self.graph.node)
        self._initializers = initializers(self.graph)
        self._given = {each.name: each.type.tensor_type.elem_type for each in self.graph.input}
        self._types: dict[str, str] = {}  # of integers, scales and zero points
        self._integers: dict[str, Integers | None] = {}
        self._checks = NodeChecks()
        self.outputs = {each.name for each in self.graph.output}
        for node in self.nodes:
            self.producers.update(dict.fromkeys(filter(None, node.output), node))
            for name in {*node.input}:
                self.readers[name].append(node)
            for attribute in node.attribute:  # names that branches read may be any
                if attribute.HasField("g") or attribute.graphs:
                    self.outputs |= {*_names_in(node)}
        self._names = {*self.producers, *self.readers, *self._initializers, *self._given}
        self._names |= self.outputs

    def unique_name(self, stem: str) -> str:
        """Return a name that the graph does not have."""
        name = stem
        while name in self._names:
            name += "_"
        self._names.add(name)
        return name

    def named_constant(self, stem: str, array: NDArray[Any]) -> str:
        """Return the name of a constant that nodes which were made may read."""
        name = self.unique_name(stem)
        self.constants[name] = array
        self._types[name] = array.dtype.name
        return name

    def constant(self, name: str) -> NDArray[Any] | None:
        """Return the values of a constant; None for other names."""
        if name in self._given:
            return None
        if name in self._initializers:
            return array_of(self._initializers[name])
        node = self.producers.get(name)
        if node is None or node.op_type != "Constant" or canonical(node.domain):
            return None
        value = plain_attributes(node).get("value")
        return None if value is None else onnx.numpy_helper.to_array(value)

    def integers(self, name: str) -> Integers | None:
        """Return what a DequantizeLinear of 8-bit integers, or of int32, reads to make float32."""
        if name not in self._integers:
            self._integers[name] = self._read_integers(name)
        return self._integers[name]

    def _read_integers(self, name: str) -> Integers | None:
        node = self.producers.get(name)
        if node is None or not is_one(node, "DequantizeLinear"):
            return None
        attributes = plain_attributes(node)
        if attributes.get("block_size", 0) or attributes.get("output_dtype", 0) not in _FLOATS:
            return None
        made = self.constant(node.input[0])
        steps = self._steps(node, node.input[0], self._type_of(node.input[0]))
        if steps is None or (made is not None and made.dtype != steps.zero.dtype):
            return None
        return Integers(steps.names, steps.scale, steps.zero, attributes.get("axis", 1), made)

    def _steps(self, node: onnx.NodeProto, name: str, dtype: Any) -> Integers | None:
        """Return the constant scales and zero points among a node's inputs, of integers `name`.

        Scales are positive, as those of quantizations that never decrease. `dtype` is that of the
        integers if the node has no zero points; None is none that is known.
        """
        scale = self.constant(node.input[1])
        if scale is None or scale.dtype != np.float32 or scale.ndim > 1 or not are_plain(scale):
            return None
        own = node.input[2] if len(node.input) > 2 else ""
        zero = None if dtype is None else np.zeros(scale.shape, dtype)
        if own:
            zero = self.constant(own)
        if zero is None or zero.dtype not in _TYPES.values():
            return None
        if zero.size != scale.size or zero.ndim > 1:
            return None
        own = own or self.named_constant(f"{node.output[0]}.zero", zero)
        self._types |= {node.input[1]: "float32", own: zero.dtype.name}
        if name:
            self._types[name] = zero.dtype.name
        return Integers((name, node.input[1], own), scale, zero, 0, None)

    def _type_of(self, name: str) -> Any:
        """Return the type of integers by the node that makes them; None if it is not known."""
        node = self.producers.get(name)
        while node is not None and is_one(node, *MOVES):
            name = node.input[0]
            node = self.producers.get(name)
        if name in self._given:
            return _TYPES.get(self._given[name])
        if node is not None and is_one(node, "QuantizeLinear"):
            return self._type_made(node)
        made = self.constant(name)
        return None if made is None else made.dtype

    def _type_made(self, node: onnx.NodeProto) -> Any:
        """Return the type that a QuantizeLinear makes; None if it is not known."""
        if len(node.input) > 2 and node.input[2]:
            zero = self.constant(node.input[2])
            return None if zero is None else zero.dtype
        given = plain_attributes(node).get("output_dtype", 0)
        return _TYPES.get(given or onnx.TensorProto.UINT8)

    def only_reader(self, name: str) -> onnx.NodeProto | None:
        """Return the node that reads a tensor, if it is one and nothing else needs the tensor."""
        readers = self.readers[name] if name else []
        return readers[0] if len(readers) == 1 and name not in self.outputs else None

    def quantized(self, name: str) -> tuple[onnx.NodeProto, Integers] | None:
        """Return the only reader of a tensor, if it is a QuantizeLinear with constant scales.

        It makes 8-bit integers, by one scale.
        """
        node = self.only_reader(name)
        if node is None or not is_one(node, "QuantizeLinear") or node.input[0] != name:
            return None
        attributes = plain_attributes(node)
        if attributes.get("block_size", 0) or attributes.get("precision", 0) not in _FLOATS:
            return None
        dtype = self._type_made(node)
        if attributes.get("output_dtype", 0) and _TYPES.get(attributes["output_dtype"]) != dtype:
            return None
        steps = self._steps(node, "", dtype)
        is_plain = steps is not None and steps.is_single and steps.is_of_bytes
        return (node, steps) if steps is not None and is_plain else None

    def takes(self, nodes: Sequence[onnx.NodeProto]) -> bool:
        """Whether the operators, of the model's versions, take what nodes that were made read."""
        for node in nodes:
            version = self.scope.version_of(canonical(node.domain))
            given = [Value((), self._types.get(each, "")) if each else None for each in node.input]
            try:
                self._checks.check(node, given, version)
            except Unsupported:
                return False
            if schema_of(node, version) is None:
                return False
        return True


def plain_attributes(node: onnx.NodeProto) -> dict[str, Any]:
    """Return the attributes of a node by name."""
    return {each.name: get_attribute_value(each) for each in node.attribute}


def are_plain(scales: NDArray[Any]) -> bool:
    """Whether float32 rounds products of scales and 8-bit integers, and none is 0 or infinite."""
    return bool(((scales >= np.finfo("float32").tiny) & (scales <= 1e30)).all())


def is_one(node: onnx.NodeProto, *ops: str) -> bool:
    """Whether a node is one of these operators of ONNX or of onnxruntime."""
    return node.op_type in ops and node.domain in ("", "ai.onnx", MICROSOFT)


def _names_in(node: onnx.NodeProto) -> Iterator[str]:
    """Return all names that the graphs among a node's attributes read."""
    for attribute in node.attribute:
        for graph in [*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs]:
            for inner in graph.node:
                yield from inner.input
                yield from _names_in(inner)
            yield from (each.name for each in graph.output)


def is_quantized(graph: onnx.GraphProto) -> bool:
    """Whether nodes of a graph make numbers of integers."""
    return any(is_one(node, "DequantizeLinear") for node in graph.node)


__all__ = [
    "MOVES",
    "Integers",
    "QuantizedGraph",
    "are_plain",
    "is_one",
    "is_quantized",
    "plain_attributes",
]
