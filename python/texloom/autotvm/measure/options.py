"""Who builds and measures the configurations of a task."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...errors import refuse
from ..task.task import Task
from .measure import Builder, MeasureInput, MeasureResult, Runner
from .measure_methods import LocalBuilder, LocalRunner


def measure_option(builder: Builder | str, runner: Runner | str) -> dict[str, Any]:
    """Return how configurations are built and run, for :meth:`.Tuner.tune`.

    Parameters
    ----------
    builder : Builder or str
        ``"local"`` for a :class:`.LocalBuilder`.
    runner : Runner or str
        ``"local"`` for a :class:`.LocalRunner`.

    Raises
    ------
    TVMError
        TL5016 for other names.
    """
    own: dict[str, Any] = {"builder": builder, "runner": runner}
    for name, made in (("builder", LocalBuilder), ("runner", LocalRunner)):
        if isinstance(own[name], str):
            if own[name] != "local":
                refuse("UnknownName", f"there is no {name} {own[name]!r}", 'use "local"')
            own[name] = made()
    return own


def create_measure_batch(
    task: Task, option: Mapping[str, Any]
) -> Callable[[Sequence[MeasureInput]], Sequence[MeasureResult]]:
    """Return the function that builds and measures configurations of a task."""
    builder, runner = option["builder"], option["runner"]
    runner.set_task(task)
    builder.set_task(task, runner.get_build_kwargs())

    def measure_batch(measure_inputs: Sequence[MeasureInput]) -> Sequence[MeasureResult]:
        return runner.run(measure_inputs, builder.build(measure_inputs))

    measure_batch.n_parallel = builder.n_parallel  # type: ignore[attr-defined]
    return measure_batch


__all__ = ["create_measure_batch", "measure_option"]
