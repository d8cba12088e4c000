"""Measurements in separate processes, which are killed if they hang.

Time stamps need a separate context on the device, and drivers are slower, or fail, if a process has
several contexts. A kernel may crash its process, or never end.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from .measurement import ErrorClass, Measurement

MOST_SECONDS = 300.0
"""The time limit of one process, which is then ended."""

REQUEST, RECORD = "request.pickle", "record.pickle"  # files in the folder of a child process


def measured_in_process(
    function: Callable[..., Measurement], *arguments: Any, seconds: float = MOST_SECONDS
) -> Measurement:
    """Call a function of a module in a process of its own; return its measurement.

    Parameters
    ----------
    function : callable
        A function of a module, which :mod:`texloom.measure.child` imports by its name.
    *arguments
        Values that can be pickled.
    seconds : float
        The time limit, after which the process is killed.

    Returns
    -------
    Measurement
        The measurement of the function; it has an error if the function raised, the process ended,
        or the time ran out.

    Raises
    ------
    ValueError
        If no other process can import the function: a function of a script, a lambda, or a function
        inside another function.
    """
    _check_importable(function)
    with tempfile.TemporaryDirectory() as at:
        folder = Path(at)
        request = function.__module__, function.__qualname__, arguments
        (folder / REQUEST).write_bytes(pickle.dumps(request))
        command = [sys.executable, "-m", "texloom.measure.child", at]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        try:
            code, errors = _run(command, environment, seconds)
        except subprocess.TimeoutExpired:
            return Measurement((), 0, ErrorClass.TIMEOUT, f"it took more than {seconds:.0f} s")
        record = folder / RECORD
        if not record.exists():
            message = f"the process ended with code {code}: {_reason(errors)}"
            return Measurement((), 0, ErrorClass.RUN, message)
        measurement = pickle.loads(record.read_bytes())
        assert isinstance(measurement, Measurement)
        return measurement


def _run(command: list[str], environment: dict[str, str], seconds: float) -> tuple[int, str]:
    """Run a process; return its exit code and its output on stderr.

    The process leads a session, so Ctrl-C does not reach it. On Ctrl-C and after the time limit, it
    is killed with its own children, such as compilers.
    """
    with subprocess.Popen(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            _, errors = process.communicate(timeout=seconds)
        except BaseException:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            raise
        return process.returncode, errors


def _check_importable(function: Callable[..., Measurement]) -> None:
    """Refuse a function that is not an attribute of an importable module."""
    module, name = function.__module__, function.__qualname__
    if module == "__main__" or not name.isidentifier():
        raise ValueError(
            f"another process cannot import {name} of {module}: define it at the top level of a "
            "module that can be imported"
        )


def _reason(text: str) -> str:
    """Return the line of a traceback that names the error: the last line without indentation."""
    lines = [line for line in text.splitlines() if line and not line[0].isspace()]
    return lines[-1] if lines else "it wrote nothing to stderr"


__all__ = ["MOST_SECONDS", "RECORD", "REQUEST", "measured_in_process"]
