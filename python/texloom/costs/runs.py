"""Times runs of a compiled network in separate processes.

Time stamps need a second context on the device, and drivers are slower, or fail, with several
contexts in one process. So one process runs the network as it is, and another with time stamps.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import fsencode
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import refuse
from ..measure.measurement import ErrorClass, Measurement
from ..measure.processes import measured_in_process
from . import timed_run

_PROCESSES = 3  # processes that run the network without time stamps


@dataclass(frozen=True)
class Runs:
    """The times of runs of a network.

    Attributes
    ----------
    plain : Measurement
        The runs without time stamps of the fastest of several processes. Other work on the machine,
        and an unlucky placement of memory, only make a run slower.
    begins, ends : array
        The times at which each launch begins and ends, in nanoseconds, for all runs with time
        stamps.
    runs : int
        The number of runs with time stamps.
    """

    plain: Measurement
    begins: NDArray[np.float64]
    ends: NDArray[np.float64]
    runs: int

    @property
    def total(self) -> float:
        """The nanoseconds of a run without time stamps."""
        return self.plain.median * 1e9

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
                f"{self.runs} runs of {launches} kernels executed {self.begins.size} commands on "
                f"the device instead of {self.runs * launches}: one for each kernel of a run",
                "measure a model without custom operators",
            )
        shape = (self.runs, launches)
        return self.begins.reshape(shape), self.ends.reshape(shape)


def timed_runs(compiled: Any, device: Any, inputs: Sequence[NDArray[Any]]) -> Runs:
    """Time runs of a compiled graph of the core, without and with time stamps.

    Raises
    ------
    TVMError
        TL5007 if a process of the measurement fails, or takes too long.
    """
    with _saved(compiled, inputs) as folder:
        plain = _fastest(folder, device)
        runs = _measured(timed_run.stamped, folder, device).runs
        with np.load(folder / timed_run.STAMPS) as stamps:
            return Runs(plain, stamps["begins"], stamps["ends"], runs)


def plain_runs(compiled: Any, device: Any, inputs: Sequence[NDArray[Any]]) -> Measurement:
    """Time runs without time stamps only; return :attr:`Runs.plain`.

    Raises
    ------
    TVMError
        As :func:`timed_runs`.
    """
    with _saved(compiled, inputs) as folder:
        return _fastest(folder, device)


@contextmanager
def _saved(compiled: Any, inputs: Sequence[NDArray[Any]]) -> Iterator[Path]:
    """Yield a folder with the package and the inputs."""
    with tempfile.TemporaryDirectory() as at:
        folder = Path(at)
        compiled.save(fsencode(folder / timed_run.PACKAGE), {}, [], [])
        np.savez(folder / timed_run.INPUTS, *inputs)
        yield folder


def _fastest(folder: Path, device: Any) -> Measurement:
    """Return the measurement of the fastest process."""
    plain = (_measured(timed_run.plain, folder, device) for _ in range(_PROCESSES))
    return min(plain, key=lambda each: each.median)


def _measured(run: Callable[..., Measurement], folder: Path, device: Any) -> Measurement:
    """Return the measurement of a process; refuse a failed measurement."""
    record = measured_in_process(run, folder, f"{device.driver}:{device.device_id}")
    if record.error is None:
        return record
    way_out = "run the model by `texloom bench` on that device to see more"
    if record.error is ErrorClass.TIMEOUT:
        way_out = "measure on a faster device, or a smaller model"
    refuse("DeviceError", f"a network could not be measured: {record.message}", way_out)


__all__ = ["Runs", "plain_runs", "timed_runs"]
