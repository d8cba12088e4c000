"""What a tuner does after each batch of trials."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Sequence
from io import TextIOBase
from os import PathLike
from pathlib import Path
from typing import Any

from ...errors import refuse
from ..measure import MeasureInput, MeasureResult
from ..measure.log import cost_of, encode
from .tuner import Callback, Tuner, format_si_prefix

_LOGGER = logging.getLogger("autotvm")


def log_to_file(file_out: str | PathLike[str] | TextIOBase, protocol: str = "json") -> Callback:
    """Return a callback that appends a line to a log for each trial.

    Parameters
    ----------
    file_out : str, path or file
    protocol : str
        ``"json"``.

    Raises
    ------
    TVMError
        TL5018 if the folder does not exist; the callback raises OSError if it cannot write.
    """
    if not isinstance(file_out, TextIOBase) and not Path(file_out).absolute().parent.is_dir():
        refuse("FileError", f"there is no folder for {file_out}", "make it first")

    def callback(
        tuner: Tuner, inputs: Sequence[MeasureInput], results: Sequence[MeasureResult]
    ) -> None:
        del tuner
        pairs = zip(inputs, results, strict=True)
        text = "".join(encode(*each, protocol) + "\n" for each in pairs)
        if isinstance(file_out, TextIOBase):
            file_out.write(text)
            return
        with Path(file_out).open("a") as file:
            file.write(text)

    return callback


def log_to_database(db: Any) -> Callback:
    """Return a callback that saves each trial in a :class:`.DummyDatabase`."""

    def callback(
        tuner: Tuner, inputs: Sequence[MeasureInput], results: Sequence[MeasureResult]
    ) -> None:
        del tuner
        for inp, result in zip(inputs, results, strict=True):
            db.save(inp, result)

    return callback


class Monitor:
    """A callback that collects operations per second, and when each trial ended.

    Attributes
    ----------
    scores : list of float
    timestamps : list of float
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget all trials."""
        self.scores: list[float] = []
        self.timestamps: list[float] = []

    def __call__(
        self, tuner: Tuner, inputs: Sequence[MeasureInput], results: Sequence[MeasureResult]
    ) -> None:
        """Add trials."""
        for inp, result in zip(inputs, results, strict=True):
            self.scores.append(_flops(inp, result))
            self.timestamps.append(result.timestamp)

    def trial_scores(self) -> list[float]:
        """Return the operations per second of each trial, 0 for one that failed."""
        return list(self.scores)

    def trial_timestamps(self) -> list[float]:
        """Return when each trial ended, in seconds since 1970."""
        return list(self.timestamps)


def progress_bar(total: int, prefix: str = "", si_prefix: str = "G") -> Callback:
    """Return a callback that writes the progress to standard output, in one line.

    Parameters
    ----------
    total : int
        Trials.
    prefix : str
        Written before it.
    si_prefix : str
        Of operations per second.
    """
    best = done = 0
    begin = time.monotonic()

    def callback(
        tuner: Tuner, inputs: Sequence[MeasureInput], results: Sequence[MeasureResult]
    ) -> None:
        nonlocal best, done
        del tuner
        scores = [_flops(*each) for each in zip(inputs, results, strict=True)]
        best, done = max([best, *scores]), done + len(scores)
        if _LOGGER.getEffectiveLevel() > logging.DEBUG:  # which has a line for each trial
            current, fastest = (
                format_si_prefix(each, si_prefix) for each in (max(scores, default=0.0), best)
            )
            sys.stdout.write(
                f"\r{prefix} Current/Best: {current:7.2f}/{fastest:7.2f} {si_prefix}FLOPS | "
                f"Progress: ({done}/{total}) | {time.monotonic() - begin:.2f} s"
                + ("\n" if done >= total else "")
            )
            sys.stdout.flush()

    return callback


def _flops(inp: MeasureInput, result: Any) -> float:
    return inp.task.flop / cost_of(result) if result.error_no == 0 else 0.0


__all__ = ["Monitor", "log_to_database", "log_to_file", "progress_bar"]
