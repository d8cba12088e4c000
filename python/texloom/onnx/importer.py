"""Imports an ONNX model into a graph.

Each node is converted by the function of its operator type (:mod:`texloom.onnx.converters`). A node
without a converter is expanded into the function body of the ONNX standard, if there is one. An
operator whose inputs are all constants is evaluated at once, and gives the same results as a run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import onnx
from numpy.typing import NDArray

from .. import extents
from ..custom.operators import Operator
from ..errors import TVMError, refuse
from ..graph.graph import Graph
from ..graph.loop_body import LoopBody
from ..graph.progress import Progress
from ..ops.products.dots import DotProducts
from ..ops.random import Stream
from .attributes import attributes_of
from .converter_errors import LostError, explained
from .converters import converter_of
from .converters.registry import Converter
from .converters.stored import on_stored
from .count_propagation import converted_counted, has_count
from .emission import Emission
from .empty_outputs import empty_outputs
from .function_bodies import function_body, has_body, nodes_of_call
from .inference import ShapeInference
from .initializers import array_of, initializers
from .nodes import (
    NOT_SUPPORTED,
    NeedsValues,
    Node,
    Port,
    Refusal,
    Unsupported,
    Value,
    constant,
    empty,
    of_stored,
    of_tensor,
    reason_of,
    refuse_model,
    refuse_nodes,
)
from .nodes.types import STORED, check_size, dtype_of, open_shape, static_shape
from .quantized_nodes import with_integer_operators
from .schemas import NodeChecks
from .scope import Scope, canonical, versions_of
from .seeds import Streams
from .sizes import computed_sizes
from .stand_ins import StandIns

_LOST = Value((), "")  # an output of an unconverted node, or of a node that depends on one


class Importer(Emission):
    """Builds a graph from a model, given the shapes of its inputs and the values of some inputs.

    If `is_open`, extents that the model leaves open become symbols of the graph, unless `shapes`
    has them. If `chooses_branches`, an input that is the condition of an If has to be given by its
    value; otherwise both branches are computed. Nodes without a converter call one of the
    `operators`. `seed` is a number or the name of an input, as for :func:`texloom.compile`.

    With `dots`, the target multiplies 8-bit integers by words of several of them, and operators of
    quantized tensors become those of integers, unless `keeps_nodes`. With `fast_math`, native code
    may compute formulas that round differently.

    A node that cannot be converted does not end the import: its outputs are replaced by graph
    inputs of the shapes that ONNX infers, so that all such nodes are found.
    """

    def __init__(
        self,
        model: onnx.ModelProto,
        shapes: Mapping[str, Sequence[int]],
        values: Mapping[str, NDArray[Any]],
        progress: Progress | None = None,
        *,
        is_open: bool = False,
        chooses_branches: bool = False,
        operators: Sequence[Operator] = (),
        seed: int | str = 0,
        dots: DotProducts | None = None,
        fast_math: bool = False,
        keeps_nodes: bool = False,
    ) -> None:
        named = (*model.graph.input, *model.graph.output)
        super().__init__(Graph(model.graph.name or "model"), (each.name for each in named))
        self._model = model
        self._operators = {(each.name, each.version): each for each in operators}
        if len(self._operators) < len(operators):
            keys = Counter((each.name, each.version) for each in operators)
            (name, version), _ = keys.most_common(1)[0]
            refuse(
                "BadValue",
                f"two of the operators are version {version} of {name!r}",
                "give each operator once",
            )
        self.dots = dots
        self.fast_math = fast_math
        self._keeps_nodes = keeps_nodes
        self._is_open = is_open
        self._chooses_branches = chooses_branches
        self._shapes = shapes
        self._given = values
        self.progress = progress
        self._functions = {
            (_domain(each), each.name, each.overload): each for each in model.functions
        }
        self._inference = ShapeInference()
        self._checks = NodeChecks()
        self._refusals: dict[Refusal, None] = {}  # in order
        self._needs: frozenset[str] = frozenset()
        self._reasons: dict[str, None] = {}  # of the needs, in order
        self._streams = Streams(seed)
        self.outputs: list[Value] = []

    def run(self) -> None:
        """Convert all nodes.

        Raises
        ------
        Unsupported
            For all nodes that cannot be converted.
        NeedsValues
            If nodes need the values of inputs that are not among the given ones.
        """
        with self._inference:
            self._run()

    def _run(self) -> None:
        graph = self._model.graph
        scope = Scope(versions_of(self._model.opset_import))
        self._bind_inputs(graph, scope)
        stand_ins = StandIns(self._model, self._shapes, self._inference)
        nodes = list(graph.node)
        if self.dots is not None and not self._keeps_nodes:
            own = {name for name, _ in self._operators}
            own |= {f"{domain}::{name}" for domain, name, _ in self._functions}
            nodes = with_integer_operators(graph, scope, own)
        for number, node in enumerate(nodes):
            if self.progress is not None:
                self.progress("nodes are imported", number, len(nodes))
            self._convert_node(node, scope, stand_ins)
        if self._refusals:
            refuse_nodes(list(self._refusals))
        if self._needs:
            raise NeedsValues(self._needs, *self._reasons)
        self.outputs = [self._made(self._output(scope, each.name)) for each in graph.output]

    def _bind_inputs(self, graph: onnx.GraphProto, scope: Scope) -> None:
        initialized = initializers(graph)
        for name in initialized.keys() - self._given.keys():
            scope[name] = constant(array_of(initialized[name]))
        for each in graph.input:
            if each.name in self._given:
                scope[each.name] = constant(self._given[each.name])
                continue
            if each.name in initialized:
                continue
            given = self._shapes.get(each.name)
            if given is not None:
                shape = tuple(given)
            else:
                shape = open_shape(each) if self._is_open else static_shape(each)
            dtype = dtype_of(each)
            check_size(each.name, shape)
            if 0 in shape:
                scope[each.name] = empty(shape, dtype, f"the input {each.name!r}")
                continue
            tensor = self.graph.input(each.name, shape, STORED.get(dtype, dtype))
            scope[each.name] = of_stored(of_tensor(tensor, frozenset([each.name])), dtype)
        self._streams.bind(scope)

    def _convert_nodes(self, nodes: Sequence[onnx.NodeProto], scope: Scope) -> None:
        for node in nodes:
            self._convert_node(node, scope, None)

    def _convert_node(self, node: onnx.NodeProto, scope: Scope, stand_ins: StandIns | None) -> None:
        """Convert a node, or record why it is refused; bind its outputs to their names."""
        outputs = [_LOST] * len(node.output)
        self._path.append(node.name or next(filter(None, node.output), node.op_type))
        try:
            outputs = self._converted(node, scope)
        except NeedsValues as needs:
            self._needs |= needs.inputs
            where = f"{node.op_type} {'/'.join(self._path)!r}"
            self._reasons.update(dict.fromkeys(f"{where}: {each}" for each in needs.reasons))
        except LostError:
            pass
        except TVMError as error:
            self._refuse(node, reason_of(error))
        finally:
            self._path.pop()
        for name, value in zip(node.output, outputs, strict=False):
            made = value
            if made is _LOST and stand_ins is not None:
                made = stand_ins.input_of(self.graph, name, self.unique_name) or _LOST
            scope[name] = made

    def _refuse(self, node: onnx.NodeProto, reason: str) -> None:
        """Record why a node is refused, once even if a loop repeats the node."""
        domain = "" if node.domain in ("", "ai.onnx") else f"{node.domain}::"
        self._refusals.setdefault(Refusal(domain + node.op_type, "/".join(self._path), reason))

    def _converted(
        self, node: onnx.NodeProto, scope: Scope, is_of_model: bool = True
    ) -> list[Value]:
        """Return the outputs of a node; `is_of_model` is false for nodes that converters make."""
        if not any(node.output):
            return []
        inputs = _inputs_of(node, scope)
        domain = _domain(node)
        function = self._functions.get((domain, node.op_type, node.overload))
        if function is not None:
            return self._inlined(function, node, inputs, scope)
        version = scope.version_of(domain)
        self._check_given_version(node, version)
        if any(each is _LOST for each in inputs):
            self._check_is_supported(node, version)
            return [_LOST] * len(node.output)
        if is_of_model and self._operator_of(node, version) is None:
            self._checks.check(node, inputs, version)
        sizes = self._computed_sizes(node, inputs, version)
        if sizes is not None:
            return [sizes]
        try:
            return self._emitted(node, inputs, version, scope)
        except TVMError:  # the converter may have read an element of an empty tensor
            if not any(each is not None and each.is_empty for each in inputs):
                raise
            outputs = empty_outputs(node, inputs, version, self._inference)
            if outputs is None:
                raise
            return outputs

    def _check_is_supported(self, node: onnx.NodeProto, version: int) -> None:
        """Refuse an operator that cannot be converted, whatever its inputs are."""
        known = converter_of(_domain(node), node.op_type) or self._operator_of(node, version)
        if known is None and not has_body(node, version):
            raise Unsupported(NOT_SUPPORTED)

    def _check_given_version(self, node: onnx.NodeProto, version: int) -> None:
        """Refuse a node whose operator is given, but of other versions than the model's."""
        name = f"{_domain(node)}::{node.op_type}"
        given = sorted(number for each, number in self._operators if each == name)
        if given and version not in given:
            raise Unsupported(
                f"the model has version {version} of its domain, but operators= has version "
                f"{' and '.join(map(str, given))} of {name!r}: give it with version={version}"
            )

    def _operator_of(self, node: onnx.NodeProto, version: int) -> Operator | None:
        """Return the custom operator that a node calls, if one is given."""
        return self._operators.get((f"{_domain(node)}::{node.op_type}", version))

    def _computed_sizes(
        self, node: onnx.NodeProto, inputs: Sequence[Value | None], version: int
    ) -> Value | None:
        """Return the output of a node that only computes with open extents; else None."""
        reads_sizes = any(each is not None and each.sizes is not None for each in inputs)
        if _domain(node) or not reads_sizes:  # only ONNX's own operators are known here
            return None
        with extents.collected() as conditions:
            sizes = computed_sizes(node.op_type, inputs, attributes_of(node), version)
        if sizes is not None:
            self._builder.require(self._path[-1], conditions)
        return sizes

    def _emitted(
        self,
        node: onnx.NodeProto,
        inputs: Sequence[Value | None],
        version: int,
        scope: Scope,
    ) -> list[Value]:
        """Return the outputs of a node that becomes operators of the graph.

        In order of preference: a custom operator is called, the converter adds them, or the
        operator's body in the standard is converted.
        """
        operator = self._operator_of(node, version)
        if operator is not None:
            return self.call(operator, inputs, attributes_of(node), len(node.output))
        domain = _domain(node)
        converter = converter_of(domain, node.op_type)
        if converter is not None:
            converter = on_stored(converter, domain, node.op_type)
            return self._converted_by(converter, node, inputs, version, scope)
        body = function_body(node, inputs, version)
        if body is None:
            raise Unsupported(NOT_SUPPORTED)
        return self._inlined(body, node, inputs, scope)

    def _converted_by(
        self,
        converter: Converter,
        node: onnx.NodeProto,
        inputs: Sequence[Value | None],
        version: int,
        scope: Scope,
    ) -> list[Value]:
        view = Node(
            node.op_type,
            _domain(node),
            self._path[-1],
            version,
            list(inputs),
            list(node.output),
            attributes_of(node),
            self,
            partial(self._subgraph, scope),
            partial(self._recorded, scope),
        )
        with explained(node.op_type, self._path[-1], inputs):
            with extents.collected() as conditions:
                made = converted_counted(view, converter) if has_count(view) else converter(view)
            self._builder.require(self._path[-1], conditions)
        return [made] if isinstance(made, Value) else list(made)

    def _inlined(
        self,
        function: onnx.FunctionProto,
        node: onnx.NodeProto,
        inputs: Sequence[Value | None],
        scope: Scope,
    ) -> list[Value]:
        """Convert the body of a function in a scope of its own.

        Bodies of the standard may import no version of ONNX's own operators: that of the model.
        """
        inner = Scope({**scope.versions, **versions_of(function.opset_import)})
        for name, value in zip(function.input, inputs, strict=False):
            inner[name] = value
        self._convert_nodes(nodes_of_call(function, node), inner)
        return [inner[name] for name in function.output]  # type: ignore[misc]

    def _subgraph(
        self, outer: Scope, graph: onnx.GraphProto, inputs: Sequence[Value]
    ) -> list[Value]:
        """Convert a graph among the attributes of a node."""
        inner = Scope(outer.versions, outer)
        for name, each in initializers(graph).items():
            inner[name] = constant(array_of(each))
        for each, value in zip(graph.input, inputs, strict=True):
            inner[each.name] = value
        self._convert_nodes(graph.node, inner)
        return _none_lost([self._output(inner, each.name) for each in graph.output])

    def chooses(self, condition: Value) -> bool:
        """Whether a condition is an input whose value has to be given."""
        return self._chooses_branches and condition.tensor in self.graph.inputs

    @contextmanager
    def asking(self, condition: Value) -> Iterator[None]:
        """If nodes are refused meanwhile, ask for the values that `condition` is computed from.

        Raises
        ------
        NeedsValues
            If nodes are refused, and the condition is computed from inputs.
        """
        if not condition.asked:
            yield
            return
        around = self._refusals, self._needs, self._reasons
        self._refusals, self._needs, self._reasons = {}, frozenset(), {}
        try:
            yield
        except (LostError, TVMError) as error:
            why = [reason_of(error)] if isinstance(error, TVMError) else []
            why += [f"{each.op} {each.node!r}: {each.reason}" for each in self._refusals]
            why += [*self._reasons, "it reads a node that cannot be converted"]
            raise NeedsValues(condition.asked, why[0]) from None
        finally:
            self._refusals, self._needs, self._reasons = around

    def _recorded(
        self, outer: Scope, graph: onnx.GraphProto, inputs: Sequence[Value | Port]
    ) -> tuple[LoopBody, list[Value]]:
        """Convert a graph among the attributes of a node as the body of a loop."""
        around, body = self._builder, LoopBody(self._builder)
        self._builder = body
        try:
            given = [
                each
                if isinstance(each, Value)
                else of_tensor(body.input(self.unique_name(name.name), *each), frozenset())
                for name, each in zip(graph.input, inputs, strict=True)
            ]
            return body, self._subgraph(outer, graph, given)
        finally:
            self._builder = around

    def convert(
        self, op: str, inputs: Sequence[Value | None], attributes: dict[str, Any], outputs: int
    ) -> list[Value]:
        """Convert an operator of the newest operator set."""
        scope = Scope({"": onnx.defs.onnx_opset_version()})
        names = ["" if each is None else f"input_{i}" for i, each in enumerate(inputs)]
        for name, value in zip(names, inputs, strict=True):
            if value is not None:
                scope[name] = value
        node = onnx.helper.make_node(
            op, names, [f"output_{i}" for i in range(outputs)], **attributes
        )
        return _none_lost(self._converted(node, scope, is_of_model=False))

    def stream(self, seed: float | None) -> tuple[Stream, list[Value]]:
        """Return random words for the node that is being converted; `seed` is its attribute."""
        if isinstance(self._builder, LoopBody):
            raise Unsupported(
                "it draws random numbers in a loop that is not unrolled, whose steps would all "
                "draw the same ones"
            )
        return self._streams.next("/".join(self._path), seed)

    def _made(self, value: Value) -> Value:
        """Return the value of an output; extents that are known only at a run become a tensor."""
        if value.sizes is None:
            return value
        return of_tensor(self.tensor_of(value), frozenset())

    def _output(self, scope: Scope, name: str) -> Value:
        value = scope[name]
        if value is None:
            refuse_model(
                f"no node computes the output {name!r}",
                "correct the name of the output in the model",
            )
        return value


def _none_lost(values: list[Value]) -> list[Value]:
    if any(each is _LOST for each in values):
        raise LostError
    return values


def _inputs_of(node: onnx.NodeProto, scope: Scope) -> list[Value | None]:
    inputs = [scope[name] for name in node.input]
    for name, value in zip(node.input, inputs, strict=True):
        if name and value is None:
            raise Unsupported(f"no node computes its input {name!r}")
    return inputs


def _domain(each: onnx.NodeProto | onnx.FunctionProto) -> str:
    return canonical(str(each.domain))


__all__ = ["Importer"]
