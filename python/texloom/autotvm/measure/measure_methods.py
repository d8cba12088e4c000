"""Builds and measures configurations on a device of this machine, as ``texloom tune`` does."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ... import _core
from ...devices.lookup import name_of, present
from ...measure.loop import Sampling
from ...records import Place, Trial, measured_device, open_records
from ...records.autotvm import NUMBERS
from ...target import resolve
from ...tuning.device_process import DeviceProcess, Request
from ...tuning.kernel_build import Phase
from ...tuning.program_trial import UserProgram
from ...tuning.user_kernel import UserKernel, refused
from ..task.space import InstantiationError
from ..task.task import Task
from .measure import Builder, MeasureErrorNo, MeasureInput, MeasureResult, Runner


@dataclass(frozen=True)
class BuildResult:
    """A schedule that is ready to be compiled where it is measured.

    Attributes
    ----------
    program : UserProgram or None
        None if the template failed.
    error : Exception or None
        What the template, or Texloom, has raised.
    timeout : float
        The seconds that compiling may take.
    time_cost : float
        The seconds that the template took.
    """

    program: UserProgram | None
    error: Exception | None
    timeout: float
    time_cost: float


class LocalBuilder(Builder):
    """Makes schedules; the process that measures compiles them.

    Parameters
    ----------
    timeout : float
        The seconds that compiling may take.
    n_parallel : int, optional
        How many configurations a tuner chooses at a time.
    build_kwargs, build_func, do_fork, runtime
        Accepted for the sake of existing scripts.
    """

    def __init__(
        self,
        timeout: float = 10,
        n_parallel: int | None = None,
        build_kwargs: Mapping[str, Any] | None = None,
        build_func: Any = "default",
        do_fork: bool = False,
        runtime: Any = None,
    ) -> None:
        super().__init__(timeout, n_parallel)
        del build_kwargs, build_func, do_fork, runtime
        self._kernel: UserKernel | None = None

    def set_task(self, task: Task, build_kwargs: Mapping[str, Any] | None = None) -> None:
        """Say for which task configurations will be built."""
        super().set_task(task, build_kwargs)
        self._kernel = task.measured

    def build(self, measure_inputs: Sequence[MeasureInput]) -> list[BuildResult]:
        """Return the program of each configuration."""
        assert self._kernel is not None
        return [self._built(self._kernel, each) for each in measure_inputs]

    def _built(self, kernel: UserKernel, one: MeasureInput) -> BuildResult:
        begin, program, error = time.monotonic(), None, None
        try:
            program = kernel.program(one.config.point)
        except Exception as raised:
            error = raised
        return BuildResult(program, error, self.timeout, time.monotonic() - begin)


class LocalRunner(Runner):
    """Measures on a device of this machine, in a process that is killed if a kernel hangs.

    Outputs are compared with those of another schedule of the same computation.

    Parameters
    ----------
    timeout : float
        The seconds that the runs of a configuration may take.
    number, repeat, min_repeat_ms
        Each of `repeat` times is the mean of `number` runs; of more, if they would take less than
        `min_repeat_ms` milliseconds.
    cooldown_interval : float
        Seconds of rest before each of the times.
    enable_cpu_cache_flush, module_loader
        Accepted for the sake of existing scripts.
    check_correctness : bool
        Whether outputs are compared.
    device : str, optional
        Such as ``"opencl:0"``; by default, the first one of the kind that the target is for.
    records : str or path, optional
        A database to which all trials are added, as for ``texloom tune --db``.

    Attributes
    ----------
    ref_input : sequence of array or None
        Values of all arguments, in place of random ones.
    """

    def __init__(
        self,
        timeout: float = 10,
        number: int = 4,
        repeat: int = 3,
        min_repeat_ms: int = 0,
        cooldown_interval: float = 0.1,
        enable_cpu_cache_flush: bool = False,
        module_loader: Any = None,
        *,
        check_correctness: bool = True,
        device: str | None = None,
        records: Any = None,
    ) -> None:
        super().__init__(timeout, 1)
        del enable_cpu_cache_flush, module_loader
        self._sampling = Sampling(
            repeat,
            min_repeat_ms * 1e-3,
            least_runs=number,
            pause_seconds=cooldown_interval if repeat > 1 else 0.0,
        )
        self._is_checked, self._device, self._database = check_correctness, device, records
        self.ref_input: Sequence[Any] | None = None
        self._kernel: UserKernel | None = None
        self._process: DeviceProcess | None = None
        self._on = ""

    def set_task(self, task: Task) -> None:
        """Say for which task configurations will be measured."""
        super().set_task(task)
        self._kernel = task.measured

    def run(
        self, measure_inputs: Sequence[MeasureInput], build_results: Sequence[BuildResult]
    ) -> list[MeasureResult]:
        """Measure configurations, one after another."""
        pairs = list(zip(measure_inputs, build_results, strict=True))
        with (
            nullcontext() if self._database is None else open_records(self._database, creates=True)
        ) as records:
            results = []
            for one, built in pairs:
                trial, error = self._trial(one, built), built.error
                if records is not None:
                    records.add(trial)
                results.append(_result_of(trial, error, built.time_cost))
        return results

    def close(self) -> None:
        """End the process that measures."""
        if self._process is not None:
            self._process.kill()
        self._process = None

    def _trial(self, one: MeasureInput, built: BuildResult) -> Trial:
        kernel = self._kernel
        assert kernel is not None
        request = Request(kernel.subject, one.config.point, self._sampling)
        if built.error is not None:
            request = replace(request, build=refused(built.error))
        elif built.program is not None:
            request = replace(request, program=self._compared(built.program))
        return self._started(kernel, built.timeout).trial(request)

    def _compared(self, program: UserProgram) -> UserProgram:
        """Return a program with the inputs, and without what is expected if it is not compared."""
        inputs = None if self.ref_input is None else tuple(map(np.asarray, self.ref_input))
        return replace(
            program, inputs=inputs, expected=program.expected if self._is_checked else None
        )

    def _started(self, kernel: UserKernel, build_seconds: float) -> DeviceProcess:
        kind = _core.driver_of_kind(resolve(kernel.target).kind)
        device = present(self._device or f"{kind}:0")
        if self._process is None or self._on != name_of(device):
            self.close()
            self._on = name_of(device)
            self._process = DeviceProcess(self._on, Place.here(measured_device(device)))
        pause = self._sampling.rounds * self._sampling.pause_seconds
        self._process.limits = {
            Phase.HOST_COMPILE: build_seconds,
            Phase.DEVICE_COMPILE: build_seconds,
            Phase.FIRST_RUN: build_seconds + self.timeout,
            Phase.RUN: self.timeout + pause,
        }
        return self._process


def _result_of(trial: Trial, error: Exception | None, seconds: float) -> MeasureResult:
    spent, now = seconds + sum(trial.phases.values()), time.time()
    if trial.failure is None:
        return MeasureResult(trial.times, MeasureErrorNo.NO_ERROR, spent, now)
    number = MeasureErrorNo(NUMBERS[trial.failure])
    if number is MeasureErrorNo.INSTANTIATION_ERROR:
        error = InstantiationError(trial.message)
    return MeasureResult((error or RuntimeError(trial.message),), number, spent, now)


__all__ = ["BuildResult", "LocalBuilder", "LocalRunner"]
