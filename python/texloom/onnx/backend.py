"""ONNX's backend interface, for test runners that use it.

``texloom.onnx.backend.prepare(model, device="opencl:0", storage="texture").run([arrays])``
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx.backend.base import Backend, BackendRep

from ..devices.lookup import present
from ..errors import TVMError, refuse
from ..target import target_for
from .model import Model
from .structured import StructuredModel, takes_only_tensors

_DEFAULT = ("CPU", "default")


class Prepared(BackendRep):  # type: ignore[misc]
    """A compiled model on a device."""

    def __init__(self, model: Model | StructuredModel, device: str | None) -> None:
        self._model = model
        self._device = device

    def run(self, inputs: Any, **options: Any) -> tuple[Any, ...]:
        """Run the model on a list of arrays, in the order of its inputs."""
        del options
        given = [inputs] if isinstance(inputs, np.ndarray) else list(inputs)
        names = self._model.inputs
        if len(given) > len(names):
            refuse(
                "WrongArgumentCount",
                f"{len(given)} arrays are given, and the model has {len(names)} inputs",
                f"give one array for each input: {', '.join(names) or 'none'}",
            )
        named = dict(zip(names, given, strict=False))  # the run refuses missing inputs
        results = self._model.run(named, self._device)
        return tuple(results[name] for name in self._model.outputs)


class TexloomBackend(Backend):  # type: ignore[misc]
    """Compiles and runs ONNX models."""

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU", **options: Any) -> BackendRep:
        """Compile a model; a model that cannot be compiled is refused here."""
        onnx.checker.check_model(model)
        given = {name: options[name] for name in ("storage", "precision") if name in options}
        kind = Model if takes_only_tensors(model) else StructuredModel
        named = None if device in _DEFAULT else device
        return Prepared(kind(model, target=target_for(named), **given), named)

    @classmethod
    def run_model(
        cls, model: onnx.ModelProto, inputs: Any, device: str = "CPU", **options: Any
    ) -> tuple[Any, ...]:
        """Compile a model and run it once."""
        prepared: tuple[Any, ...] = cls.prepare(model, device, **options).run(inputs)
        return prepared

    @classmethod
    def run_node(
        cls,
        node: onnx.NodeProto,
        inputs: Any,
        device: str = "CPU",
        outputs_info: Sequence[tuple[Any, Sequence[int]]] | None = None,
        **options: Any,
    ) -> tuple[Any, ...]:
        """Run a single node."""
        given = [
            onnx.helper.make_tensor_value_info(
                name, onnx.helper.np_dtype_to_tensor_dtype(array.dtype), array.shape
            )
            for name, array in zip(node.input, inputs, strict=True)
        ]
        outputs = [onnx.ValueInfoProto(name=name) for name in node.output]
        model = onnx.helper.make_model(onnx.helper.make_graph([node], "node", given, outputs))
        inferred = onnx.shape_inference.infer_shapes(model)  # the types of the outputs
        return cls.run_model(inferred, inputs, device, **options)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Whether models run on a device; ``"CPU"`` means the default device."""
        if device in _DEFAULT:
            return True
        try:
            return bool(present(device).info)
        except TVMError:
            return False


prepare = TexloomBackend.prepare
run_model = TexloomBackend.run_model
run_node = TexloomBackend.run_node
supports_device = TexloomBackend.supports_device

__all__ = ["Prepared", "TexloomBackend", "prepare", "run_model", "run_node", "supports_device"]
