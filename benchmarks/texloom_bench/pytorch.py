"""cuBLAS and cuDNN through PyTorch, if available: the reference times on NVIDIA GPUs.

PyTorch runs in a separate process (:mod:`texloom_bench.pytorch_child`), because its libraries and
those of an OpenCL implementation, such as LLVM, may conflict.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


class PyTorch:
    """PyTorch's process, started by :func:`running`.

    Attributes
    ----------
    device : str | None
        The CUDA device; without one, nothing can be measured.
    """

    def __init__(self, process: subprocess.Popen[str], folder: Path) -> None:
        self._process = process
        self._folder = folder
        self.device: str | None = self._answer()

    def arms(self, make: str, *arrays: NDArray[Any], **options: int) -> dict[str, PyTorchArm]:
        """Make an arm by a function of the child's `MAKERS`, from arrays and options."""
        files = []
        for i, array in enumerate(arrays):
            files.append(str(self._folder / f"{i}.npy"))
            np.save(files[-1], array)
        made = self.ask({"make": make, "arrays": files, "options": options})
        return {name: PyTorchArm(self, number) for name, number in made.items()}

    def ask(self, request: dict[str, Any]) -> Any:
        """Return the answer to a request.

        Raises
        ------
        RuntimeError
            If the process ended; its error is on standard error.
        """
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            print(json.dumps(request), file=self._process.stdin, flush=True)
        return self._answer()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"PyTorch's process ended with status {self._process.wait()}")
        return json.loads(line)


@dataclass(frozen=True)
class PyTorchArm:
    """An arm (:class:`.timing.Timed`) that PyTorch's process times."""

    pytorch: PyTorch
    number: int

    def seconds(self, count: int) -> float:
        """Return seconds per run, for `count` runs with one wait."""
        return float(self.pytorch.ask({"time": self.number, "count": count}))


def described(pytorch: PyTorch | None) -> str:
    """Return the CUDA device, or what is missing."""
    if pytorch is None:
        return "not measured: cuBLAS and cuDNN need PyTorch with a CUDA device"
    return str(pytorch.device)


@contextlib.contextmanager
def running() -> Iterator[PyTorch | None]:
    """Start PyTorch with its CUDA device; None if either is missing."""
    if find_spec("torch") is None:
        yield None
        return
    child = Path(__file__).with_name("pytorch_child.py")
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(
            [sys.executable, child], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as process,
    ):
        try:
            pytorch = PyTorch(process, Path(folder))
            yield pytorch if pytorch.device is not None else None
        finally:
            process.kill()
