"""Times runs of a compiled network in separate processes.

Time stamps need a second context on the device, and drivers are slower, or fail, with several
contexts in one process. So one process runs the network as it is, and another with time stamps.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import fsencode
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import refuse

MOST_SECONDS = 300.0
"""The time limit of one process, which is then ended."""

_PROCESSES = 3  # that run without time stamps


@dataclass(frozen=True)
class Runs:
    """The times of runs of a network.

    Attributes
    ----------
    total : float
        The nanoseconds of a run without time stamps, in the fastest of several processes. Other
        work on the machine, and an unlucky placement of memory, only make a run slower.
    begins, ends : array
        The times at which each launch begins and ends, in nanoseconds, for all runs with time
        stamps.
    runs : int
        The number of runs with time stamps.
    """

    total: float
    begins: NDArray[np.float64]
    ends: NDArray[np.float64]
    runs: int

    def stamps(self, launches: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return begins and ends with a row for each run and a column for each of its launches.

        Raises
        ------
        TVMError
            TL5007 if a run has a different number of commands.
        """
        if self.begins.size != self.runs * launches:
            refuse(
                "DeviceError",
                f"{self.runs} runs of {launches} kernels had {self.begins.size} commands on the "
                "device",
                "measure a model without custom operators",
            )
        shape = (self.runs, launches)
        return self.begins.reshape(shape), self.ends.reshape(shape)


def timed_runs(compiled: Any, device: Any, inputs: Sequence[NDArray[Any]]) -> Runs:
    """Time runs of a compiled graph of the core, without and with time stamps.

    Raises
    ------
    TVMError
        TL5007 if a process fails, or takes longer than :data:`MOST_SECONDS`.
    """
    with _saved(compiled, inputs) as folder:
        total = _least_total(folder, device)
        stamped = _results(folder, device, "stamped")
    return Runs(total, stamped["begins"], stamped["ends"], int(stamped["runs"]))


def run_time(compiled: Any, device: Any, inputs: Sequence[NDArray[Any]]) -> float:
    """Time runs without time stamps only; return :attr:`Runs.total`.

    Raises
    ------
    TVMError
        As :func:`timed_runs`.
    """
    with _saved(compiled, inputs) as folder:
        return _least_total(folder, device)


@contextmanager
def _saved(compiled: Any, inputs: Sequence[NDArray[Any]]) -> Iterator[Path]:
    """Give a folder with the package and the inputs."""
    with tempfile.TemporaryDirectory() as at:
        folder = Path(at)
        compiled.save(fsencode(folder / "network.tlp"), {}, [])
        np.savez(folder / "inputs.npz", *inputs)
        yield folder


def _least_total(folder: Path, device: Any) -> float:
    return min(float(_results(folder, device, "plain")["total"]) for _ in range(_PROCESSES))


def _results(folder: Path, device: Any, how: str) -> dict[str, NDArray[Any]]:
    """Run a process and return its results; see :mod:`texloom.graph.timed_run`."""
    name = f"{device.driver}:{device.device_id}"
    command = [sys.executable, "-m", "texloom.graph.timed_run", str(folder), name, how]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=MOST_SECONDS
        )
    except subprocess.TimeoutExpired:
        refuse(
            "DeviceError",
            f"a network ran for more than {MOST_SECONDS:.0f} s",
            "measure on a faster device, or a smaller model",
        )
    if done.returncode != 0:
        refuse(
            "DeviceError",
            f"the process that ran a network ended with {done.returncode}: {_reason(done.stderr)}",
            "run the model by `texloom bench` on that device to see more",
        )
    with np.load(folder / f"{how}.npz") as results:
        return dict(results)


def _reason(text: str) -> str:
    """Return the message of a Python traceback: its last line that is not indented."""
    lines = [line for line in text.splitlines() if line and not line[0].isspace()]
    return lines[-1] if lines else "it wrote nothing"


__all__ = ["MOST_SECONDS", "Runs", "run_time", "timed_runs"]
