"""ONNX models that run on devices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Literal

import numpy as np
import onnx
from numpy.typing import NDArray

from .._core import Device
from ..graph.compiled import CompiledGraph
from .importer import Importer
from .nodes import NeedsValues, Unsupported, Value
from .nodes.types import shape_of

Storage = Literal["auto", "buffer", "texture"]

_SCOPES = {"auto": "auto", "buffer": "global", "texture": "texture"}


class Variant:
    """A model compiled for shapes of its inputs, and for the values of some of them."""

    def __init__(self, imported: Importer, target: str | None, storage: Storage) -> None:
        self._outputs: list[Value] = imported.outputs
        self._inputs = [t.name for t in imported.graph.inputs]
        self.graph: CompiledGraph | None = None
        marked = set()
        for each in imported.outputs:
            if each.tensor is not None and each.tensor not in marked:
                marked.add(each.tensor)
                if each.tensor.name not in self._inputs:
                    imported.graph.output(each.tensor)
        if any(t.name not in self._inputs for t in marked):
            scopes: Any = _SCOPES[storage]
            self.graph = imported.graph.compile(target, scopes=scopes)

    def run(self, inputs: Mapping[str, NDArray[Any]], device: Any) -> list[NDArray[Any]]:
        """Return the outputs, in the model's order."""
        made: dict[str, NDArray[Any]] = {name: inputs[name] for name in self._inputs}
        if self.graph is not None:
            made.update(self.graph.run(made, device))
        results = []
        for each in self._outputs:
            array = each.array if each.tensor is None else made[each.tensor.name]
            results.append(np.array(array).reshape(each.shape))
        return results


class Model:
    """An ONNX model, compiled for the shapes with which it runs.

    Parameters
    ----------
    model : ModelProto
    target : str, optional
        As for :func:`texloom.build`.
    storage : "auto", "buffer" or "texture"
        Where tensors are stored.
    shapes : mapping of str to sequence of int, optional
        Of inputs.

    Raises
    ------
    Unsupported
        If nodes cannot be converted.
    """

    def __init__(
        self,
        model: onnx.ModelProto,
        target: str | None = None,
        storage: Storage = "auto",
        shapes: Mapping[str, Sequence[int]] | None = None,
    ) -> None:
        self._model = model
        self._target = target
        self._storage: Storage = storage
        self._variants: dict[Any, Variant] = {}
        self._specialized: frozenset[str] = frozenset()  # inputs whose values kernels depend on
        initialized = {each.name for each in model.graph.initializer}
        self._inputs = [each for each in model.graph.input if each.name not in initialized]
        self.inputs = [each.name for each in self._inputs]
        self.outputs = [each.name for each in model.graph.output]
        given = dict(shapes or {})
        if not any(each.name not in given and _is_open(each) for each in self._inputs):
            self._prepare(given)

    def _prepare(self, shapes: Mapping[str, Sequence[int]]) -> None:
        try:
            self._variant(shapes, {})
        except NeedsValues as needs:
            self._specialized |= needs.inputs

    def _variant(
        self, shapes: Mapping[str, Sequence[int]], values: Mapping[str, NDArray[Any]]
    ) -> Variant:
        key = (
            tuple(sorted((name, tuple(shape)) for name, shape in shapes.items())),
            tuple(sorted((name, array.tobytes()) for name, array in values.items())),
        )
        if key not in self._variants:
            imported = Importer(self._model, shapes, values)
            imported.run()
            self._variants[key] = Variant(imported, self._target, self._storage)
        return self._variants[key]

    def run(
        self,
        inputs: Mapping[str, NDArray[Any]],
        device: Device | str | None = None,
    ) -> list[NDArray[Any]]:
        """Run the model and wait for its outputs, which come in the model's order."""
        arrays = {name: np.asarray(inputs[name]) for name in self.inputs}
        shapes = {name: array.shape for name, array in arrays.items()}
        while True:
            values = {name: arrays[name] for name in self._specialized}
            try:
                return self._variant(shapes, values).run(arrays, device)
            except NeedsValues as needs:
                if not needs.inputs - self._specialized:
                    raise Unsupported(
                        "a shape depends on computed values of the inputs " + str(needs)
                    ) from None
                self._specialized |= needs.inputs


def _is_open(value: onnx.ValueInfoProto) -> bool:
    """Whether the shape, which may have no extents at all, is known only when the model runs."""
    shape = shape_of(value)
    return shape is None or not all(isinstance(extent, int) for extent in shape)


def load(path: str | PathLike[str], **options: Any) -> Model:
    """Load and compile a model from a file."""
    return Model(onnx.load(path), **options)


__all__ = ["Model", "Storage", "Variant", "load"]
