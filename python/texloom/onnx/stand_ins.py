"""Inputs that stand for the outputs of nodes that cannot be converted.

With stand-ins, the nodes after a refused node are converted, too, so that all errors are reported
at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

import onnx

from ..errors import TVMError
from ..graph.graph import Graph
from .inference import ShapeInference
from .nodes import Value, of_stored, of_tensor
from .nodes.types import STORED, dtype_of, static_shape


class StandIns:
    """The types that ONNX infers for the values of a model, inferred on first use."""

    def __init__(
        self,
        model: onnx.ModelProto,
        shapes: Mapping[str, Sequence[int]],
        inference: ShapeInference,
    ) -> None:
        self._model = model
        self._shapes = shapes
        self._inference = inference

    @cached_property
    def _types(self) -> dict[str, onnx.ValueInfoProto]:
        model = onnx.ModelProto()
        model.CopyFrom(self._model)
        for each in model.graph.input:
            if each.name in self._shapes:
                extents = each.type.tensor_type.shape
                del extents.dim[:]
                for extent in self._shapes[each.name]:
                    if isinstance(extent, int):
                        extents.dim.add().dim_value = extent
                    else:
                        extents.dim.add().dim_param = str(extent)
        inferred = self._inference.inferred(model, strict=False)
        if inferred is None:
            return {}
        graph = inferred.graph
        return {each.name: each for each in (*graph.value_info, *graph.output)}

    def input_of(self, graph: Graph, name: str, unique: Callable[[str], str]) -> Value | None:
        """Return a new input of the graph of the shape and dtype of a value, if they are known."""
        if name not in self._types:
            return None
        try:
            shape, dtype = static_shape(self._types[name]), dtype_of(self._types[name])
            tensor = graph.input(unique(name), shape, STORED.get(dtype, dtype))
            return of_stored(of_tensor(tensor, frozenset()), dtype)
        except TVMError:
            return None


__all__ = ["StandIns"]
