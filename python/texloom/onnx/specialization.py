"""A model compiled as a graph: for fixed shapes, or for open ones that each run says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import te
from .._core import Tensor
from ..extents import are_known
from ..graph.compiled import CompiledGraph
from ..graph.tensor import GraphTensor
from .compile_options import CompileOptions
from .importer import Importer
from .nodes import Value, refuse_model


def _copied(x: Tensor) -> Tensor:
    return te.compute(x.shape, lambda *i: x(*i), name="copy")


class Specialization:
    """A model compiled for shapes of its inputs, and for the values of some of them.

    Parameters
    ----------
    imported : Importer
        After its run.
    names : sequence of str
        Of the outputs.
    options : CompileOptions
    copies : bool
        Whether the graph has every output under its own name. Else those that are inputs, constants
        or other outputs are not in the graph: :meth:`run` adds them, but no package has them.

    Attributes
    ----------
    graph : CompiledGraph or None
        None if it would compute nothing.
    names_all_outputs : bool
        Whether the graph has every output under its own name.
    """

    def __init__(
        self,
        imported: Importer,
        names: Sequence[str],
        options: CompileOptions,
        copies: bool = False,
    ) -> None:
        self._imported = imported
        self._outputs = dict(zip(names, imported.outputs, strict=True))
        self._inputs = [each.name for each in imported.graph.inputs]
        self._name_of: dict[GraphTensor, str] = {}  # of tensors that the graph has as outputs
        self.names_all_outputs = True
        for name, value in self._outputs.items():
            if value.is_tensor:
                self._mark(name, value, copies)
                if value.count is not None:
                    self._mark(f"{name}.count", value.count, copies)
                continue
            self.names_all_outputs = False
            for number, each in enumerate(value.tensors()):
                self._mark(f"{name}.{number}", each, copies=False)
        self.graph: CompiledGraph | None = None
        if self._name_of:
            self.graph = imported.graph.compile(
                options.target,
                scopes=options.scopes,
                precision=options.precision,
                progress=options.progress,
                costs=options.costs,
                measure=options.measure,
            )

    def _mark(self, name: str, value: Value, copies: bool) -> None:
        """Make a value an output of the graph, unless it is none and may not be copied."""
        tensor = value.tensor
        if tensor is None or tensor.name in self._inputs or tensor in self._name_of:
            self.names_all_outputs &= copies
            if not copies:
                return
            tensor = self._copy(name, value)
        self._imported.graph.output(tensor, name)
        self._name_of[tensor] = name

    def _copy(self, name: str, value: Value) -> GraphTensor:
        """Add a node that gives a value a tensor of its own."""
        if 0 in value.shape:
            refuse_model(f"the output {name!r} has no elements", "remove it from the model")
        if name in self._inputs:
            refuse_model(
                f"the input {name!r} is an output, too",
                "give the output a name of its own, by a node Identity",
            )
        tensor = self._imported.tensor_of(value)
        unique = self._imported.unique_name(f"{name}.copy")
        (made,) = self._imported.graph.op(unique, "copy", _copied, [tensor])
        return made

    def run(self, inputs: Mapping[str, NDArray[Any]], device: Any) -> dict[str, Any]:
        """Return the outputs by name, in the model's order: arrays, lists of them, or None."""
        given = {name: inputs[name] for name in self._inputs}
        made = self.graph.run(given, device) if self.graph is not None else {}

        def array_of(value: Value) -> NDArray[Any]:
            if value.tensor is None:
                array = value.array
            elif value.tensor in self._name_of:
                array = made[self._name_of[value.tensor]]
            else:
                array = given[value.tensor.name]
            whole = np.array(array)
            if are_known(value.shape):
                whole = whole.reshape(value.shape)
            if value.count is None:
                return whole
            return whole[(slice(None),) * value.counted_axis + (slice(int(array_of(value.count))),)]

        return {name: value.computed(array_of) for name, value in self._outputs.items()}

    def save(
        self,
        path: str | PathLike[str],
        inputs: Sequence[str],
        metadata: Mapping[str, str],
        others: Sequence[Specialization] = (),
    ) -> None:
        """Write a package for these inputs, which has the graphs of `others`, too."""
        empty = [name for name in inputs if name not in self._inputs]
        if empty:
            refuse_model(f"the input {empty[0]!r} has no elements", "remove it from the model")
        for name, value in self._outputs.items():
            if not value.is_tensor:
                refuse_model(f"the output {name!r} is no tensor", "packages have only tensors")
        assert self.graph is not None  # a model has an output
        graphs = [each.graph for each in others if each.graph is not None]
        self.graph.save(path, metadata, graphs)

    def __str__(self) -> str:
        """Return the outputs and the summary of the graph."""
        lines = [f"output {name}: {v.dtype}{list(v.shape)}" for name, v in self._outputs.items()]
        return "\n".join([*lines, *([str(self.graph).rstrip()] if self.graph is not None else [])])


__all__ = ["Specialization"]
