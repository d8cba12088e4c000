"""A model compiled as a graph: for fixed shapes, or for open shapes, which each run determines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import Device
from ..extents import are_known
from ..functions.files import LINKED_FILES
from ..graph.compiled import CompiledGraph
from ..graph.graph_passes import graph_passes
from .compile_options import CompileOptions
from .network import Network
from .nodes import Value, refuse_model
from .nodes.types import STORED
from .nodes.values import array_of_stored, stored_array


@dataclass(frozen=True)
class ReadyRun:
    """A run of arrays that are known to fit.

    Attributes
    ----------
    graph : CompiledGraph
    inputs : list of str
        In the graph's order.
    outputs : dict of str to int
        The places of the model's outputs among those of the graph.
    """

    graph: CompiledGraph
    inputs: list[str]
    outputs: dict[str, int]

    def run(self, inputs: Mapping[str, NDArray[Any]], device: Any) -> dict[str, Any]:
        """Return the outputs by name, in the model's order."""
        made = self.graph._run([inputs[name] for name in self.inputs], device)
        return {name: made[place] for name, place in self.outputs.items()}


def _is_whole(value: Value) -> bool:
    """Whether the value of a tensor is the tensor's array."""
    tensor = value.tensor
    return (
        tensor is not None
        and value.items is None
        and value.count is None
        and value.dtype not in STORED
        and are_known(value.shape)
        and are_known(tensor.shape)
        and tuple(value.shape) == tuple(tensor.shape)
    )


class Specialization:
    """A model compiled for shapes of its inputs, and for the values of some of them.

    Parameters
    ----------
    network : Network
    options : CompileOptions

    Attributes
    ----------
    graph : CompiledGraph or None
        None if there is nothing to compute.
    names_all_outputs : bool
        Whether the graph has every output under its own name. Otherwise :meth:`run` adds the
        missing ones.
    """

    def __init__(self, network: Network, options: CompileOptions) -> None:
        self._network, self._options = network, options
        self.names_all_outputs = network.names_all_outputs
        self.graph: CompiledGraph | None = None
        if network.name_of:
            self.graph = network.graph.compile(
                options.target,
                scopes=options.scopes,
                precision=options.precision,
                progress=options.progress,
                costs=options.costs,
                measure=options.measure,
                placed=options.placed,
                compare_storages=options.compare_storages,
                tuned=options.tuned,
            )

    def run(self, inputs: Mapping[str, NDArray[Any]], device: Any) -> dict[str, Any]:
        """Return the outputs by name, in the model's order: arrays, lists of arrays, or None."""
        given = {name: stored_array(inputs[name]) for name in self._network.inputs}
        made = self.graph.run(given, device) if self.graph is not None else {}

        def array_of(value: Value) -> NDArray[Any]:
            if value.tensor is None:
                array = value.array
            elif value.tensor in self._network.name_of:
                array = made[self._network.name_of[value.tensor]]
            else:
                array = given[value.tensor.name]
            whole = np.array(array)
            if value.tensor is not None and value.dtype in STORED:
                whole = array_of_stored(whole, value.dtype)
            if are_known(value.shape):
                whole = whole.reshape(value.shape)
            if value.count is None:
                return whole
            return whole[(slice(None),) * value.counted_axis + (slice(int(array_of(value.count))),)]

        return {name: value.computed(array_of) for name, value in self._network.outputs.items()}

    def ready_for(self, inputs: Mapping[str, NDArray[Any]]) -> ReadyRun | None:
        """Return a run without checks, for arrays with the dtypes and shapes of these.

        None if arrays are not given to the graph, or not returned, as they are.
        """
        graph, network = self.graph, self._network
        if graph is None or any(stored_array(inputs[n]) is not inputs[n] for n in network.inputs):
            return None
        places = {tensor.name: place for place, tensor in enumerate(graph.outputs)}
        outputs = {}
        for name, value in network.outputs.items():
            if value.tensor not in network.name_of or not _is_whole(value):
                return None
            outputs[name] = places[network.name_of[value.tensor]]
        if len(set(outputs.values())) < len(outputs):
            return None
        return ReadyRun(graph, [tensor.name for tensor in graph.inputs], outputs)

    def halves(self) -> frozenset[str]:
        """Return the names of the graph's tensors that nodes compute and store as float16.

        The values between the operators of a fused kernel, which are not stored, are among them.
        """
        options, graph = self._options, self._network.graph
        if self.graph is None or options.precision != "fp16":
            return frozenset()
        passes = graph_passes("fp16", textures=options.scopes == "texture")
        text = graph.text(options.target, passes[: passes.index("store_halves") + 1])
        edges = (line.split() for line in text.splitlines() if line.startswith("  edge "))
        return frozenset(name[:-1] for _, name, dtype, *_ in edges if dtype.startswith("float16["))

    def save(
        self,
        path: str | PathLike[str],
        inputs: Sequence[str],
        metadata: Mapping[str, str],
        others: Sequence[Specialization] = (),
        emit: Sequence[str] = tuple(LINKED_FILES),
        binaries: Device | str | Sequence[Device | str] = (),
    ) -> None:
        """Write a package for these inputs, with the graphs of `others` as further variants."""
        empty = [name for name in inputs if name not in self._network.inputs]
        if empty:
            refuse_model(
                f"the input {empty[0]!r} has no elements", "remove this input from the model"
            )
        for name, value in self._network.outputs.items():
            if not value.is_tensor:
                refuse_model(
                    f"the output {name!r} is not a tensor, but a package holds only tensors",
                    "change the output in the model, or run the model without a package",
                )
        assert self.graph is not None  # a model has at least one output
        graphs = [each.graph for each in others if each.graph is not None]
        self.graph.save(path, metadata, graphs, emit=emit, binaries=binaries)

    def __str__(self) -> str:
        """Return the outputs and the summary of the graph."""
        lines = [
            f"output {name}: {v.dtype}{list(v.shape)}" for name, v in self._network.outputs.items()
        ]
        return "\n".join([*lines, *([str(self.graph).rstrip()] if self.graph is not None else [])])


__all__ = ["Specialization"]
