"""A process that serves requests, replaced if it ends or takes too long."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from typing import Any


class Worker:
    """Sends requests to `serve(connection, *options)`, which answers each with (outcome, detail).

    None is the last request. A request that takes more than `seconds` has the outcome "hung"; one
    that ends the process has the outcome "crashed".
    """

    def __init__(
        self, serve: Callable[..., None], options: tuple[Any, ...], seconds: float
    ) -> None:
        self._serve, self._options, self._seconds = serve, options, seconds
        self._start()

    def _start(self) -> None:
        self._here, there = multiprocessing.Pipe()
        self._process = multiprocessing.Process(target=self._serve, args=(there, *self._options))
        self._process.start()
        there.close()

    def run(self, request: Any) -> tuple[str, Any]:
        self._here.send(request)
        try:
            if self._here.poll(self._seconds):
                return self._here.recv()
            result = "hung", f"over {self._seconds:g} s"
        except EOFError:
            self._process.join()
            result = "crashed", f"exit status {self._process.exitcode}"
        self._process.kill()
        self._start()
        return result

    def stop(self) -> None:
        self._here.send(None)
        self._process.join()
