"""A model as a graph with outputs, for fixed or open shapes, independent of a target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import onnx
from numpy.typing import NDArray

from .. import te
from .._core import Tensor
from ..custom.operators import Operator
from ..graph.progress import Progress
from ..graph.tensor import GraphTensor
from ..ops.products.dots import DotProducts
from .importer import Importer
from .nodes import Unsupported, Value, as_stored, refuse_model
from .quantized_tensors import is_quantized


def _copied(x: Tensor) -> Tensor:
    return te.compute(x.shape, lambda *i: x(*i), name="copy")


class Network:
    """The graph of a model, for shapes of its inputs and for the values of some of them.

    Parameters
    ----------
    imported : Importer
        An importer that has run.
    names : sequence of str
        Names of the outputs.
    copies : bool
        Whether the graph has every output under its own name. Otherwise outputs that are also
        inputs, constants or other outputs are not in the graph: a run adds them, but a package
        lacks them.

    Attributes
    ----------
    graph : Graph
    inputs : list of str
        The names of the graph's inputs.
    outputs : dict of str to Value
        The outputs by name, in the model's order.
    name_of : dict of GraphTensor to str
        The tensors that are outputs of the graph.
    names_all_outputs : bool
        Whether the graph has every output under its own name.
    """

    def __init__(self, imported: Importer, names: Sequence[str], copies: bool = False) -> None:
        self._imported = imported
        self.graph = imported.graph
        self.outputs = dict(zip(names, imported.outputs, strict=True))
        self.inputs = [each.name for each in imported.graph.inputs]
        self.name_of: dict[GraphTensor, str] = {}
        self.names_all_outputs = True
        for name, value in self.outputs.items():
            if value.is_tensor:
                self._mark(name, value, copies)
                if value.count is not None:
                    self._mark(f"{name}.count", value.count, copies)
                continue
            self.names_all_outputs = False
            for number, each in enumerate(value.tensors()):
                self._mark(f"{name}.{number}", each, copies=False)

    def _mark(self, name: str, value: Value, copies: bool) -> None:
        """Make a value an output of the graph; skip it if it needs a copy and `copies` is false."""
        tensor = value.tensor
        if tensor is None or tensor.name in self.inputs or tensor in self.name_of:
            self.names_all_outputs &= copies
            if not copies:
                return
            tensor = self._copy(name, value)
        self._imported.graph.output(tensor, name)
        self.name_of[tensor] = name

    def _copy(self, name: str, value: Value) -> GraphTensor:
        """Add a node that copies a value to a new tensor."""
        if 0 in value.shape:
            refuse_model(
                f"the output {name!r} has no elements, and a package takes no extent of 0",
                "give positive extents for the inputs; remove an output of the model that never "
                "has elements",
            )
        if name in self.inputs:
            refuse_model(
                f"{name!r} is both an input and an output, which a package cannot have",
                "give the output another name, with an Identity node",
            )
        tensor = self._imported.tensor_of(as_stored(value))
        unique = self._imported.unique_name(f"{name}.copy")
        (made,) = self._imported.graph.op(unique, "copy", _copied, [tensor])
        return made


class Imports:
    """The networks of a model; each is imported once for all targets.

    Parameters
    ----------
    model : ModelProto
    values : mapping of str to array
        Values of inputs that are constants in all networks.
    operators : sequence of Operator
        Operators for nodes that have no converter.
    progress : callable, optional
    seed : int or str
    """

    def __init__(
        self,
        model: onnx.ModelProto,
        values: Mapping[str, NDArray[Any]],
        operators: Sequence[Operator],
        progress: Progress | None,
        seed: int | str = 0,
    ) -> None:
        self._model = model
        self._values = values
        self._operators = operators
        self._progress = progress
        self._seed = seed
        self._networks: dict[Any, Network] = {}

    def network(
        self,
        shapes: Mapping[str, Sequence[Any]],
        values: Mapping[str, NDArray[Any]],
        *,
        is_open: bool = False,
        chooses_branches: bool = False,
        copies: bool = False,
        dots: DotProducts | None = None,
        fast_math: bool = False,
    ) -> Network:
        """Return the network for these shapes and values of inputs.

        `dots` and `fast_math` are those of :class:`Importer`; they depend on the target.
        The errors are those of :meth:`Importer.run`.
        """
        key = (
            tuple(sorted((name, tuple(map(str, shape))) for name, shape in shapes.items())),
            tuple(sorted((name, array.tobytes()) for name, array in values.items())),
            is_open,
            chooses_branches,
            copies,
            dots,
            fast_math,
        )
        if key not in self._networks:
            options = {
                "is_open": is_open,
                "chooses_branches": chooses_branches,
                "dots": dots,
                "fast_math": fast_math,
            }
            imported = self._imported(shapes, {**self._values, **values}, options)
            outputs = [each.name for each in self._model.graph.output]
            self._networks[key] = Network(imported, outputs, copies)
        return self._networks[key]

    def _imported(
        self,
        shapes: Mapping[str, Sequence[Any]],
        values: Mapping[str, NDArray[Any]],
        options: Mapping[str, Any],
    ) -> Importer:
        """Return an importer that has run.

        A node that is refused may be one of integers, which is not the user's. So nodes are
        imported as they are before a model with such nodes is refused.
        """
        for keeps_nodes in (False, True):
            imported = Importer(
                self._model,
                shapes,
                values,
                self._progress,
                operators=self._operators,
                seed=self._seed,
                keeps_nodes=keeps_nodes,
                **options,
            )
            try:
                imported.run()
                return imported
            except Unsupported:
                is_last = options["dots"] is None or not is_quantized(self._model.graph)
                if keeps_nodes or is_last:
                    raise
        raise AssertionError("nodes as they are were imported or refused")


__all__ = ["Imports", "Network"]
