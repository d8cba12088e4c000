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
from ...tuning.build_pool import BuildPool, builders
from ...tuning.device_process import DeviceProcess, Request
from ...tuning.kernel_build import Build, Phase
from ...tuning.kernel_trial import SHORT
from ...tuning.program_trial import UserProgram
from ...tuning.user_kernel import UserKernel, refused
from ..task.space import InstantiationError
from ..task.task import Task
from .measure import Builder, MeasureErrorNo, MeasureInput, MeasureResult, Runner


@dataclass(frozen=True)
class BuildResult:
    """A configuration that was built, as well as it could be.

    Attributes
    ----------
    program : UserProgram or None
        None if the template failed.
    build : Build or None
        None if the runner has not told its device: where the program runs, it must be built first.
    error : Exception or None
        What the template has raised.
    timeout : float
        The seconds that compiling may take.
    time_cost : float
        The seconds that the template took.
    """

    program: UserProgram | None
    build: Build | None
    error: Exception | None
    timeout: float
    time_cost: float


class LocalBuilder(Builder):
    """Builds configurations side by side, for the device of a :class:`LocalRunner`.

    Other runners are given programs that are not compiled.

    Parameters
    ----------
    timeout : float
        The seconds that compiling may take.
    n_parallel : int, optional
        How many configurations a tuner chooses at a time, and the most processes that build.
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
        self._pool: BuildPool | None = None

    def set_task(self, task: Task, build_kwargs: Mapping[str, Any] | None = None) -> None:
        """Say for which task configurations will be built."""
        super().set_task(task, build_kwargs)
        self.close()
        self._kernel = task.measured

    def build(self, measure_inputs: Sequence[MeasureInput]) -> list[BuildResult]:
        """Return the program of each configuration, and what was built of it."""
        assert self._kernel is not None
        made = [self._made(self._kernel, each) for each in measure_inputs]
        pool = self._started()
        if pool is None:
            return made
        subject = self._kernel.subject
        begun = [
            None
            if each.program is None
            else pool.start(Request(subject, one.config.point, SHORT, program=each.program))
            for one, each in zip(measure_inputs, made, strict=True)
        ]
        pairs = zip(made, begun, strict=True)
        return [each if own is None else replace(each, build=own.result()) for each, own in pairs]

    def close(self) -> None:
        """End the processes that build."""
        if self._pool is not None:
            self._pool.close()
        self._pool = None

    def _made(self, kernel: UserKernel, one: MeasureInput) -> BuildResult:
        begin, program, error = time.monotonic(), None, None
        try:
            program = kernel.program(one.config.point)
        except Exception as raised:
            error = raised
        return BuildResult(program, None, error, self.timeout, time.monotonic() - begin)

    def _started(self) -> BuildPool | None:
        name = self.build_kwargs.get("device")
        if self._pool is None and name is not None:
            limits = _limits(self.timeout, self.build_kwargs["run_seconds"])
            place = Place.here(measured_device(present(name)))
            self._pool = BuildPool(name, place, builders(self.n_parallel), limits=limits)
        return self._pool


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
        kind = _core.driver_of_kind(resolve(self._kernel.target).kind)
        name = name_of(present(self._device or f"{kind}:0"))
        if name != self._on:
            self.close()
        self._on = name

    def get_build_kwargs(self) -> Mapping[str, Any]:
        """Return what the builder must know of the device: its name, and how long runs may take."""
        return {"device": self._on, "run_seconds": self.timeout}

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
            request = replace(request, program=self._compared(built.program), build=built.build)
        trial = self._started(built.timeout).trial(request)
        if built.build is not None and built.build.package is not None:
            built.build.package.unlink(missing_ok=True)
        return trial

    def _compared(self, program: UserProgram) -> UserProgram:
        """Return a program with the inputs, and without what is expected if it is not compared."""
        inputs = None if self.ref_input is None else tuple(map(np.asarray, self.ref_input))
        return replace(
            program, inputs=inputs, expected=program.expected if self._is_checked else None
        )

    def _started(self, build_seconds: float) -> DeviceProcess:
        if self._process is None:
            place = Place.here(measured_device(present(self._on)))
            self._process = DeviceProcess(self._on, place)
        pause = self._sampling.rounds * self._sampling.pause_seconds
        limits = _limits(build_seconds, self.timeout)
        self._process.limits = limits | {Phase.RUN: self.timeout + pause}
        return self._process


def _limits(build_seconds: float, run_seconds: float) -> dict[Phase, float]:
    """Return how long the phases before the timed runs may take."""
    return {
        Phase.HOST_COMPILE: build_seconds,
        Phase.DEVICE_COMPILE: build_seconds,
        Phase.FIRST_RUN: build_seconds + run_seconds,
    }


def _result_of(trial: Trial, error: Exception | None, seconds: float) -> MeasureResult:
    spent, now = seconds + sum(trial.phases.values()), time.time()
    if trial.failure is None:
        return MeasureResult(trial.times, MeasureErrorNo.NO_ERROR, spent, now)
    number = MeasureErrorNo(NUMBERS[trial.failure])
    if number is MeasureErrorNo.INSTANTIATION_ERROR:
        error = InstantiationError(trial.message)
    return MeasureResult((error or RuntimeError(trial.message),), number, spent, now)


__all__ = ["BuildResult", "LocalBuilder", "LocalRunner"]
