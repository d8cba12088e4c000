"""What runs the networks: Texloom, or onnxruntime to compare with."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..._core import Device


class Engine(Protocol):
    """Runs a network of one input and one output."""

    def run(self, network: str, x: NDArray[Any]) -> NDArray[Any]:
        """Return the output of the network of this name."""
        ...


class TexloomEngine:
    """Compiles each network once for each size of its input."""

    def __init__(self, files: Mapping[str, Path], device: Device | None) -> None:
        from ...onnx import load
        from ...target import target_for

        target = target_for(device)
        self._models = {name: load(file, target=target) for name, file in files.items()}
        self._device = device

    def run(self, network: str, x: NDArray[Any]) -> NDArray[Any]:
        """Return the output of the network of this name."""
        model = self._models[network]
        return model.run({model.inputs[0]: x}, self._device)[model.outputs[0]]


class OnnxRuntimeEngine:
    """Runs the networks with onnxruntime."""

    def __init__(self, files: Mapping[str, Path]) -> None:
        import onnxruntime

        self._sessions = {
            name: onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
            for name, file in files.items()
        }

    def run(self, network: str, x: NDArray[Any]) -> NDArray[Any]:
        """Return the output of the network of this name."""
        session = self._sessions[network]
        return np.asarray(session.run(None, {session.get_inputs()[0].name: x})[0])


__all__ = ["Engine", "OnnxRuntimeEngine", "TexloomEngine"]
