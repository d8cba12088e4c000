"""Imports an ONNX model into a graph.

Each node is converted by the function of its operator type (:mod:`texloom.onnx.converters`). A node
without one is expanded by the function body that the ONNX standard gives, if it gives one. A node
whose inputs are all known is computed at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from .._core import Tensor
from ..graph.graph import Graph
from .attributes import attributes_of
from .converters import converter_of
from .fold import computed_now
from .function_bodies import function_body
from .nodes import NeedsValues, Node, Unsupported, Value, constant, of_tensor
from .nodes.types import DTYPES, dtype_of, static_shape


class Scope:
    """The names that are visible in a graph or in the body of a function."""

    def __init__(self, versions: Mapping[str, int], outer: Scope | None = None) -> None:
        self.versions = versions
        self._outer = outer
        self._values: dict[str, Value | None] = {}

    def __setitem__(self, name: str, value: Value | None) -> None:
        self._values[name] = value

    def __getitem__(self, name: str) -> Value | None:
        if not name:
            return None
        if name in self._values:
            return self._values[name]
        return self._outer[name] if self._outer is not None else None


class Importer:
    """Builds a graph from a model, given the shapes of its inputs and the values of some."""

    def __init__(
        self,
        model: onnx.ModelProto,
        shapes: Mapping[str, Sequence[int]],
        values: Mapping[str, NDArray[Any]],
    ) -> None:
        self._model = model
        self._shapes = shapes
        self._given = values
        self._names: Counter[str] = Counter()
        self._constants: dict[int, Any] = {}
        self._functions = {(f.domain, f.name): f for f in model.functions}
        self.graph = Graph(model.graph.name or "model")
        self.outputs: list[Value] = []

    def run(self) -> None:
        """Convert all nodes.

        Raises
        ------
        Unsupported
            For nodes that cannot be converted; the text has all reasons that were found.
        NeedsValues
            If nodes need the values of inputs that are not among the given ones.
        """
        graph = self._model.graph
        scope = Scope({each.domain: each.version for each in self._model.opset_import})
        self._bind_inputs(graph, scope)
        self._convert_nodes(graph.node, scope)
        self.outputs = [self._output(scope, each.name) for each in graph.output]

    def _bind_inputs(self, graph: onnx.GraphProto, scope: Scope) -> None:
        for initializer in graph.initializer:
            scope[initializer.name] = constant(_array_of(initializer))
        initialized = {each.name for each in graph.initializer}
        for each in graph.input:
            if each.name in initialized:
                continue
            if each.name in self._given:
                scope[each.name] = constant(self._given[each.name])
                continue
            shape = tuple(self._shapes.get(each.name, ())) or static_shape(each)
            dtype = dtype_of(each)
            if 0 in shape:
                scope[each.name] = constant(np.zeros(shape, dtype))
                continue
            tensor = self.graph.input(each.name, shape, dtype)
            scope[each.name] = of_tensor(tensor, frozenset([each.name]))

    def _convert_nodes(self, nodes: Sequence[onnx.NodeProto], scope: Scope) -> None:
        for node in nodes:
            outputs = self._converted(node, scope)
            for name, value in zip(node.output, outputs, strict=False):
                scope[name] = value

    def _converted(self, node: onnx.NodeProto, scope: Scope) -> list[Value]:
        inputs = [scope[name] for name in node.input]
        for name, value in zip(node.input, inputs, strict=True):
            if name and value is None:
                raise Unsupported(f"{_title(node)}: nothing computes its input {name!r}")
        domain = "" if node.domain == "ai.onnx" else node.domain
        function = self._functions.get((node.domain, node.op_type))
        if function is not None:
            return self._inlined(function, node, inputs, scope)
        version = scope.versions.get(domain, 1)
        if all(each is None or each.is_constant for each in inputs):
            folded = computed_now(node, [e.array if e else None for e in inputs], version)
            if folded is not None:
                return [constant(each) for each in folded]
        converter = converter_of(domain, node.op_type)
        if converter is None:
            body = function_body(node, inputs, version)
            if body is None:
                raise Unsupported(f"{_title(node)}: the operator is not supported")
            return self._inlined(body, node, inputs, scope)
        view = Node(
            node.op_type,
            node.name or node.output[0],
            version,
            inputs,
            list(node.output),
            attributes_of(node),
            self,
            partial(self._subgraph, scope),
        )
        try:
            made = converter(view)
        except Unsupported as error:
            raise Unsupported(f"{_title(node)}: {error}") from None
        return [made] if isinstance(made, Value) else list(made)

    def _inlined(
        self,
        function: onnx.FunctionProto,
        node: onnx.NodeProto,
        inputs: Sequence[Value | None],
        scope: Scope,
    ) -> list[Value]:
        """Convert the body of a function in a scope of its own."""
        versions = {each.domain: each.version for each in function.opset_import}
        inner = Scope(versions or scope.versions)
        for name, value in zip(function.input, inputs, strict=False):
            inner[name] = value
        self._convert_nodes(_with_attributes(function, node), inner)
        return [inner[name] for name in function.output]  # type: ignore[misc]

    def _subgraph(
        self, outer: Scope, graph: onnx.GraphProto, inputs: Sequence[Value]
    ) -> list[Value]:
        """Convert a graph among the attributes of a node."""
        inner = Scope(outer.versions, outer)
        for initializer in graph.initializer:
            inner[initializer.name] = constant(_array_of(initializer))
        for each, value in zip(graph.input, inputs, strict=True):
            inner[each.name] = value
        self._convert_nodes(graph.node, inner)
        return [self._output(inner, each.name) for each in graph.output]

    def convert(self, op: str, inputs: Sequence[Value], attributes: dict[str, Any]) -> list[Value]:
        """Convert an operator of the newest operator set."""
        scope = Scope({"": onnx.defs.onnx_opset_version()})
        names = [f"input_{i}" for i in range(len(inputs))]
        for name, value in zip(names, inputs, strict=True):
            scope[name] = value
        return self._converted(onnx.helper.make_node(op, names, ["output"], **attributes), scope)

    def emit(
        self,
        op: str,
        function: Callable[..., Tensor | Sequence[Tensor]],
        inputs: Sequence[Value],
        attributes: dict[str, Any],
    ) -> list[Value]:
        """Add an operator to the graph."""
        asked = frozenset().union(*(each.asked for each in inputs))
        tensors = [self._tensor(each) for each in inputs]
        made = self.graph.op(self._unique(op), op, partial(function, **attributes), tensors)
        return [of_tensor(each, asked) for each in made]

    def _tensor(self, value: Value) -> Any:
        if value.tensor is not None:
            return value.tensor
        array = value.array
        assert array is not None
        if array.size == 0:
            raise Unsupported("an operator reads an empty tensor")
        if value.dtype not in DTYPES:
            raise Unsupported(f"an operator reads a constant of type {value.dtype}")
        key = id(array)
        if key not in self._constants:
            tensor = self.graph.constant(self._unique("constant"), array)
            self._constants[key] = (tensor, array)  # the array lives as long as its id counts
        return self._constants[key][0]

    def _unique(self, stem: str) -> str:
        self._names[stem] += 1
        return f"{stem}_{self._names[stem]}"

    def _output(self, scope: Scope, name: str) -> Value:
        value = scope[name]
        if value is None:
            raise Unsupported(f"nothing computes the output {name!r}")
        return value


def _title(node: onnx.NodeProto) -> str:
    return f"{node.op_type} {node.name or node.output[0]!r}"


def _array_of(initializer: onnx.TensorProto) -> NDArray[Any]:
    return onnx.numpy_helper.to_array(initializer)


def _with_attributes(function: onnx.FunctionProto, node: onnx.NodeProto) -> list[onnx.NodeProto]:
    """Return the nodes of a function with the attributes that a call gives."""
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


__all__ = ["Importer", "NeedsValues"]
