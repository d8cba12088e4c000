"""Processes that build kernels side by side, ahead of their trials."""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from itertools import count
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from types import TracebackType

from ..devices.lookup import devices, present
from ..records import Place
from .device_process import LIMITS, BuildRequest, DeviceProcess, Request
from .kernel_build import Build, Phase
from .working_time import WorkingTime

_MOST_BUILDERS = 4  # each opens the device, and takes some of its memory


def builders(most: int = _MOST_BUILDERS) -> int:
    """Return how many processes build for a device of this machine, at most so many."""
    return min(os.cpu_count() or 1, _MOST_BUILDERS, most)


class BuildPool:
    """Builds points for one device in several processes, which are started when they are needed.

    Parameters
    ----------
    device : str
        Such as ``"opencl:0"``.
    place : Place
        Of the device.
    processes : int
    working : WorkingTime, optional
        Is told when the processes built.
    limits : mapping of Phase to float, optional
        The seconds that phases of a build may take.

    Attributes
    ----------
    disturbs : bool
        Whether builds take processors from the device, so that nothing should be measured
        meanwhile.
    """

    def __init__(
        self,
        device: str,
        place: Place,
        processes: int,
        working: WorkingTime | None = None,
        limits: Mapping[Phase, float] = LIMITS,
    ) -> None:
        own = present(device)
        self.disturbs = devices(own.driver)[own.device_id]["type"] == "cpu"
        self._processes = [
            DeviceProcess(device, place, limits, working=working) for _ in range(processes)
        ]
        self._idle: SimpleQueue[DeviceProcess] = SimpleQueue()
        for each in self._processes:
            self._idle.put(each)
        self._threads = ThreadPoolExecutor(processes)
        self._folder = TemporaryDirectory(prefix="texloom-builds-")
        self._names = count()
        self._begun: set[Future[Build]] = set()

    def __enter__(self) -> BuildPool:
        """Return itself; in the end, the processes are killed, and packages are removed."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it."""
        del kind, error, trace
        self.close()

    def close(self) -> None:
        """Kill the processes, and remove packages."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        while wait(list(self._begun), timeout=0.05).not_done:
            for each in self._processes:  # one of them may have been starting
                each.interrupt()
        self._threads.shutdown()
        for each in self._processes:
            each.kill()
        self._folder.cleanup()

    def start(self, trial: Request) -> Future[Build]:
        """Begin to build the point of a trial."""
        package = Path(self._folder.name, f"{next(self._names)}.tlp")
        begun = self._threads.submit(self._built, BuildRequest(trial, package))
        self._begun.add(begun)
        begun.add_done_callback(self._begun.discard)
        return begun

    def _built(self, request: BuildRequest) -> Build:
        process = self._idle.get()
        try:
            return process.build(request)
        finally:
            self._idle.put(process)


__all__ = ["BuildPool", "builders"]
