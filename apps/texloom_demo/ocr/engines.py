"""Engines that run the networks: Texloom, and onnxruntime to compare with."""

from __future__ import annotations

import time
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from texloom._core import Device


class Engine(Protocol):
    """Runs networks of one input and one output."""

    def prepare(self, network: str, shape: tuple[int, ...]) -> None:
        """Begin to compile a network for a size of its input, which `run` will be given."""
        ...

    def run(self, network: str, x: NDArray[Any]) -> NDArray[Any]:
        """Return the output of the network of this name."""
        ...


class _Process:
    """The state of a process of `TexloomEngine`."""

    def __init__(self, file: Path, driver: str, number: int) -> None:
        from texloom.onnx import load
        from texloom.target import target_for

        self._device = Device(driver, number)
        self._model = load(file, target=target_for(self._device))
        self._seconds: float | None = None

    def run(self, x: NDArray[Any]) -> tuple[NDArray[Any], float]:
        """Return the output, and the seconds of the first run, in which kernels are compiled."""
        begin = time.perf_counter()
        made = self._model.run({self._model.inputs[0]: x}, self._device)[self._model.outputs[0]]
        if self._seconds is None:
            self._seconds = time.perf_counter() - begin
        return made, self._seconds


_process: _Process | None = None  # in a process of the engine


def _open(file: Path, driver: str, number: int) -> None:
    global _process
    _process = _Process(file, driver, number)


def _run(x: NDArray[Any]) -> tuple[NDArray[Any], float]:
    assert _process is not None
    return _process.run(x)


class TexloomEngine:
    """Runs each network, for each size of its input, in a process of its own.

    An OpenCL implementation on a processor compiles the kernels of a process one after another;
    several processes compile at the same time.

    Attributes
    ----------
    seconds : dict
        How long the first run of a network took, in which its kernels were compiled, by its name
        and the shape of its input.
    """

    def __init__(self, files: Mapping[str, Path], driver: str, number: int) -> None:
        self._files, self._device = files, (driver, number)
        self._processes: dict[tuple[str, tuple[int, ...]], ProcessPoolExecutor] = {}
        self.seconds: dict[tuple[str, tuple[int, ...]], float] = {}

    def __enter__(self) -> TexloomEngine:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes.values():
            process.shutdown(cancel_futures=True)

    def prepare(self, network: str, shape: tuple[int, ...]) -> None:
        """Begin to compile a network for a size of its input."""
        if (network, shape) not in self._processes:
            self._process(network, shape).submit(_run, np.zeros(shape, "float32"))

    def run(self, network: str, x: NDArray[Any]) -> NDArray[Any]:
        """Return the output of the network of this name."""
        made, self.seconds[network, x.shape] = (
            self._process(network, x.shape).submit(_run, x).result()
        )
        return made

    def _process(self, network: str, shape: tuple[int, ...]) -> ProcessPoolExecutor:
        if (network, shape) not in self._processes:
            self._processes[network, shape] = ProcessPoolExecutor(
                1,
                mp_context=get_context("spawn"),
                initializer=_open,
                initargs=(self._files[network], *self._device),
            )
        return self._processes[network, shape]


class OnnxRuntimeEngine:
    """Runs the networks with onnxruntime."""

    def __init__(self, files: Mapping[str, Path]) -> None:
        import onnxruntime

        self._sessions = {
            name: onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
            for name, file in files.items()
        }

    def prepare(self, network: str, shape: tuple[int, ...]) -> None:
        """Do nothing: sessions take inputs of all sizes."""

    def run(self, network: str, x: NDArray[Any]) -> NDArray[Any]:
        """Return the output of the network of this name."""
        session = self._sessions[network]
        return np.asarray(session.run(None, {session.get_inputs()[0].name: x})[0])


__all__ = ["Engine", "OnnxRuntimeEngine", "TexloomEngine"]
