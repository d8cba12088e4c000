"""The methods ``time_evaluator``, as in TVM, and ``benchmark`` of compiled functions."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from numbers import Integral, Real
from typing import Any

from .._core import Device, Function, NDArray
from ..arrays.host_array import HostArray
from ..checks.argument_kinds import shown
from ..checks.checked_calls import checked
from ..errors import MisuseError, refuse
from ..functions.methods import named
from .benchmark import benchmark
from .loop import BatchArm, Sampling, measure, seconds_of
from .measurement import Measurement

_MOST_RUNS = 2**31 - 1


def time_evaluator(
    self: Function,
    func_name: str,
    dev: Device,
    number: int = 10,
    repeat: int = 1,
    min_repeat_ms: float = 0,
    cooldown_interval_ms: float = 0,
    repeats_to_cooldown: int = 1,
    f_preproc: str = "",
) -> Callable[..., Measurement]:
    """Return a function that times this function: `repeat` times, `number` runs each.

    `number` is increased until one repetition takes `min_repeat_ms`. After every
    `repeats_to_cooldown` repetitions the device rests for `cooldown_interval_ms`. `f_preproc`, the
    name of a TVM runtime function to call between runs, is refused. Raises TL2044 (also a
    ValueError) for numbers of runs that are not positive, and for negative times.
    """
    if f_preproc:
        refuse(
            "NotProvided",
            f"f_preproc={f_preproc!r}: the runs are enqueued together, so no function can be "
            "called between them",
            "vary the arguments between calls of the evaluator",
        )
    if not hasattr(dev, "sync"):
        refuse(
            "BadArgument",
            f"time_evaluator: dev is {shown(dev)}, not a device",
            'make one, as texloom.device("opencl:0")',
        )
    named(self, func_name)
    for name, value in (
        ("number", number),
        ("repeat", repeat),
        ("repeats_to_cooldown", repeats_to_cooldown),
    ):
        _check_count(name, value)
    for name, value in (
        ("min_repeat_ms", min_repeat_ms),
        ("cooldown_interval_ms", cooldown_interval_ms),
    ):
        _check_time(name, value)

    sampling = Sampling(
        rounds=repeat,
        sample_seconds=min_repeat_ms / 1e3,
        least_runs=number,
        pause_seconds=cooldown_interval_ms / 1e3,
        rounds_to_pause=repeats_to_cooldown,
    )

    def evaluate(*args: Any) -> Measurement:
        if any(array.device != dev for array in args if isinstance(array, NDArray)):
            refuse(
                "WrongDevice",
                f"not all arrays are on {dev}, the device of the time_evaluator",
                "make them with device=, or copy them with copyto",
            )
        on, given = dev, args
        if any(isinstance(each, HostArray) for each in args):
            self(*args)  # the caller's outputs are those of a run
            given = [each.passed for each in self._completed_call(*args)]
            on = next(each.device for each in given if isinstance(each, NDArray))
        arm = BatchArm(lambda runs: seconds_of(lambda: self.enqueue(runs, *given), on.sync))
        return measure([arm], sampling)[0]

    return evaluate


def _check_count(name: str, value: Any) -> None:
    if not isinstance(value, Integral) or not 1 <= value <= _MOST_RUNS:
        refuse(
            "BadValue",
            f"time_evaluator: {name} is {shown(value)}, not a positive number of runs",
            f"give a whole number from 1 to {_MOST_RUNS}: {name}=1",
            MisuseError,
        )


def _check_time(name: str, value: Any) -> None:
    if not isinstance(value, Real) or not 0 <= value < inf:
        refuse(
            "BadValue",
            f"time_evaluator: {name} is {shown(value)}, not a time in milliseconds",
            f"give a number of milliseconds: {name}=0",
            MisuseError,
        )


Function.time_evaluator = checked(time_evaluator)
Function.benchmark = checked(benchmark)

__all__ = ["time_evaluator"]
