"""Processes that run programs, so that a crash or a hang affects only one program."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import Any


def processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1  # macOS cannot tell


@dataclass(frozen=True)
class Lost:
    """A job whose process crashed, or was killed at its time limit."""

    kind: str


@dataclass
class _Worker:
    """A process, and its current job."""

    process: multiprocessing.Process
    pipe: Connection
    job: Any = None
    since: float = field(default_factory=time.monotonic)
    busy: bool = False


def _serve(run: Callable[[Any], Any], pipe: Connection) -> None:
    """Run jobs until there are no more; Ctrl-C is handled by the parent process."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The parent reports a crash in one line, so the output of the crashing compiler is dropped.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    with contextlib.suppress(EOFError, OSError):
        while True:
            pipe.send(run(pipe.recv()))


class Workers:
    """Runs a function on jobs, in processes that are restarted when they end."""

    def __init__(self, run: Callable[[Any], Any], count: int, limit: float) -> None:
        # Each is a fresh interpreter, because OpenCL implementations do not survive a fork.
        self._context = multiprocessing.get_context("spawn")
        self._run, self._limit = run, limit
        self._workers = [self._begin() for _ in range(count)]

    def _begin(self) -> _Worker:
        here, there = self._context.Pipe()
        process = self._context.Process(target=_serve, args=(self._run, there), daemon=True)
        process.start()
        there.close()
        return _Worker(process, here)

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *exception: object) -> None:
        for worker in self._workers:
            worker.pipe.close()  # tells the worker that there are no more jobs
        for worker in self._workers:
            if not worker.busy:
                worker.process.join(timeout=5)
            worker.process.kill()

    def results(self, jobs: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
        """Yield each job with its result or `Lost`, in the order of completion."""
        left = iter(jobs)
        ready: deque[_Worker] = deque(self._workers)
        while True:
            for _ in range(len(ready)):
                job = next(left, None)
                if job is None:
                    break
                worker = ready.popleft()
                with contextlib.suppress(OSError):  # a dead process is found by _answer
                    worker.pipe.send(job)
                worker.job, worker.since, worker.busy = job, time.monotonic(), True
            busy = [w for w in self._workers if w.busy]
            if not busy:
                return
            for pipe in wait([w.pipe for w in busy], timeout=0.5):
                worker = next(w for w in busy if w.pipe is pipe)
                yield worker.job, self._answer(worker)
                ready.append(worker)
            for worker in busy:
                if worker.busy and time.monotonic() - worker.since > self._limit:
                    yield worker.job, Lost(f"not finished within {self._limit:.0f} s")
                    self._replace(worker)
                    ready.append(worker)

    def _answer(self, worker: _Worker) -> Any:
        try:
            answer = worker.pipe.recv()
        except (EOFError, OSError):
            worker.process.join()
            answer = Lost(f"crash, status {worker.process.exitcode}")
            self._replace(worker)
        worker.busy = False
        return answer

    def _replace(self, worker: _Worker) -> None:
        worker.process.kill()
        fresh = self._begin()
        worker.process, worker.pipe, worker.busy = fresh.process, fresh.pipe, False
