"""Runs of a compiled network, timed in processes of their own.

A device that stamps commands with times has a context of its own, and drivers are slower, or fail,
where a process has several. So one process runs the network as it is, another with time stamps.
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
"""Of one process; after that it is ended."""

_PROCESSES = 3  # without time stamps


@dataclass(frozen=True)
class Runs:
    """The times of runs of a network.

    Attributes
    ----------
    total : float
        The nanoseconds of a run without time stamps, in the fastest of some processes: what else
        the machine does, and where a process has its memory, only make it slower.
    begins, ends : array
        When each launch begins and ends, in nanoseconds, for all runs with time stamps.
    runs : int
        How many these are.
    """

    total: float
    begins: NDArray[np.float64]
    ends: NDArray[np.float64]
    runs: int

    def stamps(self, launches: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return begins and ends with a row for each run, which has so many launches.

        Raises
        ------
        TVMError
            TL5007 if runs have other commands.
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
    """Run a network of the core.

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
    """Return :attr:`Runs.total` alone.

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
    """Return what a process writes; see :mod:`texloom.graph.timed_run`."""
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
    """Return the line of an error that says what went wrong: the last one that is not indented."""
    lines = [line for line in text.splitlines() if line and not line[0].isspace()]
    return lines[-1] if lines else "it wrote nothing"


__all__ = ["MOST_SECONDS", "Runs", "run_time", "timed_runs"]
