"""Adds timing and the interface of a module to compiled functions."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, inf
from numbers import Integral, Real
from statistics import fmean, median, pstdev
from typing import Any, NoReturn

from . import module_file
from ._core import Device, Function, NDArray
from .argument_kinds import shown
from .checked_calls import check_methods
from .errors import MissingNameError, MisuseError, refuse
from .measure import benchmark


@dataclass(frozen=True)
class TimeResult:
    """Times of a function, in seconds per run: means of `number` runs, `repeat` times.

    They are `results`, in the order of measurement.
    """

    results: tuple[float, ...]
    number: int

    @property
    def mean(self) -> float:
        """The mean of all results."""
        return fmean(self.results)

    @property
    def median(self) -> float:
        """The median of all results."""
        return median(self.results)

    @property
    def min(self) -> float:
        """The shortest result."""
        return min(self.results)

    @property
    def max(self) -> float:
        """The longest result."""
        return max(self.results)

    @property
    def std(self) -> float:
        """The standard deviation."""
        return pstdev(self.results)


def _time_evaluator(
    self: Function,
    func_name: str,
    dev: Device,
    number: int = 10,
    repeat: int = 1,
    min_repeat_ms: float = 0,
    cooldown_interval_ms: float = 0,
    repeats_to_cooldown: int = 1,
    f_preproc: str = "",
) -> Callable[..., TimeResult]:
    """Return a function that times this one: `number` runs, `repeat` times.

    `number` is increased until one repetition takes `min_repeat_ms`. After every
    `repeats_to_cooldown` repetitions the device rests for `cooldown_interval_ms`. `f_preproc`, the
    name of a TVM runtime function to call between runs, is refused. Raises TL2044 (also a
    ValueError) for numbers of runs that are not positive, and for negative times.
    """
    if f_preproc:
        refuse(
            "NotProvided",
            f"f_preproc={f_preproc!r}: nothing is called between the runs, which are enqueued "
            "together",
            "vary the arguments between calls of the evaluator",
        )
    _named(self, func_name)
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

    def timed(runs: int, args: tuple[Any, ...]) -> float:
        dev.sync()
        begin = time.perf_counter()
        self.enqueue(runs, *args)
        dev.sync()
        return time.perf_counter() - begin

    def evaluate(*args: Any) -> TimeResult:
        if any(array.device != dev for array in args if isinstance(array, NDArray)):
            refuse(
                "WrongDevice",
                f"the arrays are not on {dev}, the device to time",
                "make them with device=, or copy them with copyto",
            )
        timed(1, args)  # a warm-up, which builds kernels and allocates memory
        runs = number
        while (seconds := timed(runs, args)) * 1e3 < min_repeat_ms:
            runs = max(2 * runs, ceil(runs * min_repeat_ms / 1e3 / max(seconds, 1e-9)))
        results = []
        for number_so_far in range(repeat):
            if number_so_far > 0 and number_so_far % repeats_to_cooldown == 0:
                time.sleep(cooldown_interval_ms / 1e3)
            results.append(timed(runs, args) / runs)
        return TimeResult(tuple(results), runs)

    return evaluate


def _check_count(name: str, value: Any) -> None:
    if not isinstance(value, Integral) or value < 1:
        refuse(
            "BadValue",
            f"time_evaluator: {name} is {shown(value)}, not a positive number of runs",
            f"give a whole number of at least 1: {name}=1",
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


def _named(self: Function, name: str) -> Function:
    """Return the function of this name, the module's only one."""
    if name not in (self.name, self.entry_name, "__tvm_main__"):
        refuse(
            "UnknownName",
            f"the module has no function {name!r}",
            f"it has one: {self.name!r}",
            MissingNameError,
        )
    return self


def _get_function(self: Function, name: str, query_imports: bool = False) -> Function:
    """The function of this name."""
    del query_imports
    return _named(self, name)


def _import_module(self: Function, module: Any) -> NoReturn:
    """Refused: a module has only the functions that it was built from."""
    del module
    refuse(
        "NotProvided",
        f"import_module into {self.name!r}: a module has only the functions it was built from",
        "build the programs together: texloom.build([one, other]) is one module",
    )


def _export_library(
    self: Function, file_name: str | os.PathLike[str], fcompile: Any = None, **options: Any
) -> None:
    """Write the function to a file that :func:`load_module` reads, here or elsewhere.

    Parameters
    ----------
    file_name : str or path
        Any name; an existing file is replaced.
    fcompile, **options
        Accepted for the sake of existing scripts: there is no host code to compile.

    Raises
    ------
    TVMError
        TL5018 when the file cannot be written.
    """
    del fcompile, options
    module_file.export([self], file_name)


# A compiled function is a module of one function, and the module of its kernels.
Function.entry_func = property(lambda self: self, doc="The function itself.")
Function.get_function = _get_function
Function.__getitem__ = _named
Function.imported_modules = property(
    lambda self: [self], doc="The modules that contain the kernels' source."
)
Function.import_module = _import_module
Function.time_evaluator = _time_evaluator
Function.benchmark = benchmark
Function.export_library = _export_library
Function.save = module_file.save

__all__ = ["TimeResult"]
check_methods(Function)
