"""The peers of the networks' benchmark, each an arm that is timed in turns with the others.

PyTorch and tinygrad run in processes of their own (``pytorch_child.py``, ``tinygrad_child.py``):
their libraries and those of an OpenCL implementation, such as LLVM, may conflict.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import texloom
from texloom.command_line.peers import onnxruntime_session
from texloom.graph import RunnableGraph
from texloom.measure.loop import Arm, BatchArm

FOLDER = Path(__file__).parent
DTYPES = {"fp32": "float32", "fp16": "float16"}
"""The types of peers for the precisions of ``texloom compile``."""


class Peer:
    """A peer's process; see ``pytorch_child.py`` for its requests.

    Attributes
    ----------
    device : str or None
        What it runs on; without it, nothing can be measured.
    """

    def __init__(self, process: subprocess.Popen[str], name: str) -> None:
        self._process = process
        self._name = name
        self.device: str | None = self._answer()

    def ask(self, do: str, **request: Any) -> Any:
        """Return the answer to a request."""
        assert self._process.stdin is not None
        print(json.dumps({"do": do, **request}), file=self._process.stdin, flush=True)
        return self._answer()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"{self._name}'s process ended with status {self._process.wait()}")
        return json.loads(line)


@contextmanager
def started(
    name: str, python: str, variables: Mapping[str, str], script: str | None = None
) -> Iterator[Peer]:
    """Start the process of a peer by a Python that has its package.

    Its script is that of the peer if `script` does not name another one of this folder.
    """
    kept = {n: v for n, v in os.environ.items() if n not in ("PYTHONHOME", "PYTHONPATH")}
    with subprocess.Popen(
        [python, FOLDER / (script or f"{name.lower()}_child.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**kept, **variables},
    ) as process:
        try:
            yield Peer(process, name)
        finally:
            process.kill()


def pytorch(python: str) -> Any:
    """Start PyTorch's process."""
    return started("PyTorch", python, {})


def exporting_pytorch(python: str) -> Any:
    """Start PyTorch's process for a network that it exports; see ``exported_child.py``."""
    variables = {"TORCHINDUCTOR_COMPILE_THREADS": "2"}  # processes run side by side
    return started("PyTorch", python, variables, "exported_child.py")


def tinygrad() -> Any:
    """Start tinygrad's process, on the first device of OpenCL and without its beam search."""
    return started("tinygrad", sys.executable, {"DEV": "CL"})


@dataclass(frozen=True)
class PeerArm:
    """A way to run a network that a peer's process times."""

    peer: Peer
    number: int

    def seconds(self, count: int) -> float:
        """Return seconds per run, for `count` runs with one wait."""
        return float(self.peer.ask("time", number=self.number, count=count))


def own_arm(graph: RunnableGraph, device: texloom.Device) -> BatchArm:
    """Return the arm of a compiled network, whose inputs and outputs stay on the device."""
    return BatchArm(lambda count: graph.time(count, device))


class OnnxRuntimeArm:
    """A session of onnxruntime on the processor."""

    def __init__(self, model: bytes) -> None:
        self._session = onnxruntime_session(model)
        self._inputs: dict[str, NDArray[Any]] = {}

    def output(self, inputs: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
        """Run once; return the first output. :meth:`seconds` has the same inputs."""
        self._inputs = dict(inputs)
        return np.asarray(self._session.run(None, self._inputs)[0])

    def seconds(self, count: int) -> float:
        """Return seconds per run."""
        return Arm(lambda: self._session.run(None, self._inputs)).seconds(count)


Reference = Callable[[NDArray[Any]], NDArray[Any]]
"""Computes the first output of a network of one input."""

__all__ = [
    "DTYPES",
    "OnnxRuntimeArm",
    "Peer",
    "PeerArm",
    "Reference",
    "exporting_pytorch",
    "own_arm",
    "pytorch",
    "started",
    "tinygrad",
]
