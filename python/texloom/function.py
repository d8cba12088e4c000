"""Adds timing and the interface of a module to compiled functions."""

from __future__ import annotations

import os
from collections.abc import Callable
from math import inf
from numbers import Integral, Real
from typing import Any, NoReturn

from . import module_file
from ._core import Device, Function, NDArray
from .argument_kinds import shown
from .checked_calls import check_methods
from .errors import MissingNameError, MisuseError, refuse
from .measure import Measurement, benchmark
from .measure.loop import BatchArm, Sampling, measure, seconds_of


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
) -> Callable[..., Measurement]:
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
                f"the arrays are not on {dev}, the device to time",
                "make them with device=, or copy them with copyto",
            )
        arm = BatchArm(lambda runs: seconds_of(lambda: self.enqueue(runs, *args), dev.sync))
        return measure([arm], sampling)[0]

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

check_methods(Function)
