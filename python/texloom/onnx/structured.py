"""Models whose inputs are sequences or optional values.

For given lengths of the sequences, such a model becomes a model of tensors only: added nodes make
the sequences and the optional values from the tensors.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from .model import Model


def takes_only_tensors(model: onnx.ModelProto) -> bool:
    """Whether all inputs of a model are tensors."""
    return all(each.type.WhichOneof("value") == "tensor_type" for each in model.graph.input)


class StructuredModel:
    """A model that takes sequences, as lists of arrays, and optional values, which may be None.

    Parameters
    ----------
    model : ModelProto
    **options
        As for :class:`texloom.onnx.Model`. The model is compiled when it runs, for the numbers and
        shapes of its tensors.
    """

    def __init__(self, model: onnx.ModelProto, **options: Any) -> None:
        self._model = model
        self._options = options
        self._flat: dict[tuple[int | None, ...], Model] = {}
        initialized = {each.name for each in model.graph.initializer}
        self._inputs = [each for each in model.graph.input if each.name not in initialized]
        self.inputs = [each.name for each in self._inputs]
        self.outputs = [each.name for each in model.graph.output]

    def run(self, inputs: Mapping[str, Any], device: Any = None) -> Any:
        """Run the model and wait for its outputs, as :meth:`texloom.onnx.Model.run`."""
        key = tuple(_length(inputs[name]) for name in self.inputs)
        if key not in self._flat:
            flat = _flattened(self._model, dict(zip(self.inputs, key, strict=True)))
            self._flat[key] = Model(flat, **self._options)
        arrays: dict[str, NDArray[Any]] = {}
        for name in self.inputs:
            value = inputs[name]
            if isinstance(value, list):
                arrays.update({_item(name, i): np.asarray(each) for i, each in enumerate(value)})
            elif value is not None:
                arrays[name] = np.asarray(value)
        return self._flat[key].run(arrays, device)


def _item(name: str, number: int) -> str:
    return f"{name}[{number}]"


def _length(value: Any) -> int | None:
    """Return the number of tensors of a sequence or optional value; None for one tensor."""
    return 0 if value is None else len(value) if isinstance(value, list) else None


def _flattened(model: onnx.ModelProto, lengths: Mapping[str, int | None]) -> onnx.ModelProto:
    """Return the model with only tensors as inputs, given the lengths of its sequences."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    graph = made.graph
    del graph.input[:], graph.node[:]
    for each in model.graph.input:
        length = lengths.get(each.name)
        if each.type.WhichOneof("value") == "tensor_type":
            graph.input.append(each)
        elif length is None:
            graph.input.append(_tensor_of(each.name, each.type))
        else:
            names = [_item(each.name, i) for i in range(length)]
            graph.input.extend(_tensor_of(name, each.type) for name in names)
            graph.node.append(_maker(names, each))
    graph.node.extend(model.graph.node)
    return made


def _sequence_type(kind: onnx.TypeProto) -> onnx.TypeProto.Sequence | None:
    """Return the type of a sequence or an optional sequence; None for an optional tensor."""
    inner = kind.optional_type.elem_type if kind.HasField("optional_type") else kind
    return inner.sequence_type if inner.HasField("sequence_type") else None


def _element_type(kind: onnx.TypeProto) -> int:
    """Return the element type of the tensors of a sequence or optional value."""
    sequence = _sequence_type(kind)
    inner = sequence.elem_type if sequence is not None else kind.optional_type.elem_type
    return int(inner.tensor_type.elem_type)


def _tensor_of(name: str, kind: onnx.TypeProto) -> onnx.ValueInfoProto:
    return onnx.helper.make_tensor_value_info(name, _element_type(kind), None)


def _maker(names: list[str], value: onnx.ValueInfoProto) -> onnx.NodeProto:
    """Return the node that makes a sequence, or an optional value that is absent."""
    if names:
        return onnx.helper.make_node("SequenceConstruct", names, [value.name])
    if value.type.HasField("optional_type"):
        kind = value.type.optional_type.elem_type
        return onnx.helper.make_node("Optional", [], [value.name], type=kind)
    dtype = _element_type(value.type)
    return onnx.helper.make_node("SequenceEmpty", [], [value.name], dtype=dtype)


__all__ = ["StructuredModel", "takes_only_tensors"]
