"""Measures a function, and compares its rates with the best rates of its device."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from .._core import CallArgument, Device, Function, NDArray
from ..errors import refuse
from .device_rates import Rates, rates_of
from .measurement import Measurement
from .quantities import scaled


@dataclass(frozen=True, kw_only=True)
class Benchmark(Measurement):
    """Times of a function, and the bytes and operations of a run.

    Its `results`, `runs`, `error` and `message` are those of a :class:`Measurement`.

    Attributes
    ----------
    name : str
        The function.
    device : Device
        The device that ran it.
    bytes : int
        Bytes that every implementation moves: the bytes of the array arguments that are read, plus
        those of the array arguments that are written.
    operations : float or None
        Arithmetic operations in the program before lowering: additions, subtractions,
        multiplications, divisions, remainders, minima, maxima, operations on bits and calls of
        element functions, each once for each element of the shape of its stage and each point of
        its reduction. An expression that is used several times counts once; one that the program
        writes several times counts each time. None for programs with externs or foreign functions,
        and for symbolic functions that were loaded from files.
    device_rates : Rates
        Bytes per second of a copy, and float32 operations per second of fmas, measured on the
        device once per process.
    """

    name: str
    device: Device
    bytes: int
    operations: float | None
    device_rates: Rates

    @property
    def bytes_per_second(self) -> float:
        """The bytes of a run, divided by the median time."""
        return self.bytes / self.median

    @property
    def operations_per_second(self) -> float | None:
        """The operations of a run, divided by the median time."""
        return None if self.operations is None else self.operations / self.median

    def __repr__(self) -> str:
        lower, _, upper = (scaled(seconds, "s") for seconds in self.quartiles)
        ends = f"{scaled(self.min, 's')} to {scaled(self.max, 's')}"
        time = f"quartiles {lower} to {upper}, all {ends}"
        lines = [
            f"{self.name} on {self.device}: {len(self.results)} x {self.runs} runs",
            _line("time", scaled(self.median, "s"), time),
            _rate_line("memory", self.bytes, self.bytes_per_second, self.device_rates.bytes, "B"),
        ]
        if self.operations is None or self.operations_per_second is None:
            lines.append(_line("arithmetic", "unknown", "the number of operations is not known"))
        else:
            rates = self.operations_per_second, self.device_rates.operations
            lines.append(_rate_line("arithmetic", self.operations, *rates, "op"))
        return "\n".join(lines)


def _line(name: str, value: str, text: str) -> str:
    return f"  {name:<10}  {value:>11}  {text}"


def _rate_line(name: str, amount: float, rate: float, most: float, unit: str) -> str:
    share = f"{100 * rate / most:.3g} % of {scaled(most, unit)}/s"
    return _line(name, f"{scaled(rate, unit)}/s", f"{share}, {scaled(amount, unit)} a run")


def benchmark(self: Function, *args: Any, repeat: int = 20, min_repeat_ms: float = 5) -> Benchmark:
    """Time the function, and compare its rates with the best rates of the device.

    Parameters
    ----------
    *args
        The arguments of a call. NumPy arrays are copied to the device once, and outputs that are
        left out are allocated once; neither is timed. Outputs that are NumPy arrays do not get the
        results.
    repeat : int
        The number of results.
    min_repeat_ms : float
        The least total milliseconds of the runs of each result.

    Returns
    -------
    Benchmark
        It prints as a few lines. The first benchmark on a device also measures the device.

    Raises
    ------
    TVMError
        As a call does; TL5001 (WrongArgumentCount) if there is no array.
    """
    arguments = self._completed_call(*args)
    passed = [each.passed for each in arguments]
    arrays = [each for each in passed if isinstance(each, NDArray)]
    if not arrays:
        refuse(
            "WrongArgumentCount",
            f"'{self.name}' has no array argument, so the device that runs it is unknown",
            "give the function at least one array argument",
        )
    device = arrays[0].device
    evaluator = self.time_evaluator(
        self.name, device, number=1, repeat=repeat, min_repeat_ms=min_repeat_ms
    )
    times = evaluator(*passed)
    return Benchmark(
        name=self.name,
        device=device,
        results=times.results,
        runs=times.runs,
        bytes=sum(map(_moved_bytes, arguments)),
        operations=self._operations(*passed),
        device_rates=rates_of(device),
    )


def _moved_bytes(argument: CallArgument) -> int:
    """Return the bytes of an array, once if read and once if written; 0 for a number."""
    if not isinstance(argument.passed, NDArray):
        return 0
    transfers = argument.is_read + argument.is_written
    return prod(argument.passed.shape) * _item_bytes(argument.passed.dtype) * transfers


def _item_bytes(dtype: str) -> int:
    return 2 if dtype == "bfloat16" else np.dtype(dtype).itemsize


__all__ = ["Benchmark", "benchmark"]
