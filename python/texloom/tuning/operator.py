"""An operator of a network, alone on a device."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import Function, Program, _Task
from ..building import build
from ..graph.scheduler import alternatives_of
from ..graph.tuned_knobs import subject_of
from ..measure.loop import Arm
from ..ops.schedules import Choice
from ..ops.schedules.family import Kernel, KernelTask
from ..records import Subject
from .arguments import Arguments


class Operator:
    """An operator on a device, with random inputs.

    Parameters
    ----------
    text : str
        The text form of the task.
    device : Device

    Attributes
    ----------
    kernels : dict of Kernel to KernelTask
        The kernels that a family of schedules makes.

    Raises
    ------
    TVMError
        If the text is not that of a task that can be scheduled.
    """

    def __init__(self, text: str, device: Any) -> None:
        self._task, self._device = _Task.parse(text), device
        random = np.random.default_rng(0)
        inputs = [
            _random(random, tuple(map(int, each.shape)), each.dtype)
            for each in self._task.computation.inputs
        ]
        outputs = [
            np.zeros(tuple(map(int, each.shape)), each.dtype)
            for each in self._task.computation.outputs
        ]
        values = [*inputs, *outputs]
        self._arguments = Arguments(values, range(len(inputs), len(values)), device)
        choice = Choice()
        alternatives_of(self._task, choice)
        self.kernels: dict[Kernel, KernelTask] = choice.kernels

    @property
    def device(self) -> Any:
        """The device."""
        return self._device

    def tunable(self) -> list[Kernel]:
        """Return the kernels that have several points."""
        return [each for each, task in self.kernels.items() if len(each[0].space(task)) > 1]

    def subject(self, kernel: Kernel) -> Subject:
        """Return what trials of a kernel measure."""
        return subject_of(self._task, kernel)

    def kernel_of(self, subject: Subject) -> Kernel | None:
        """Return the kernel of a subject, in the same version of its space; None if it has none."""
        own = (each for each in self.kernels if self.subject(each).identity == subject.identity)
        return next(own, None)

    def programs(self, kernel: Kernel, knobs: Any) -> list[Program]:
        """Return the program of each alternative if a kernel has these knobs."""
        return [each.program for each in alternatives_of(self._task, Choice({kernel: knobs}))]

    def place_of(self, kernel: Kernel) -> int:
        """Return the place of the alternative whose program has the kernel.

        The kernel must have several points.
        """
        family, task = kernel[0], self.kernels[kernel]
        default = family.default(task)
        other = next(each for each in family.space(task) if each != default)
        pairs = zip(
            map(str, self.programs(kernel, default)),
            map(str, self.programs(kernel, other)),
            strict=True,
        )
        return next(number for number, (one, two) in enumerate(pairs) if one != two)

    def built(self, program: Program) -> Function:
        """Return the compiled function of a program; the device's compiler has not run yet."""
        return build(program, target=self._task.target)

    def first_run(self, function: Function) -> tuple[Arm, list[NDArray[Any]]]:
        """Run a function, which compiles its kernels; return how to time it, and its outputs."""
        return self._arguments.first_run(function)


def _random(random: np.random.Generator, shape: tuple[int, ...], dtype: str) -> NDArray[Any]:
    """Return numbers from -1 to 1; integers are 0, because they may be indices."""
    if np.dtype(dtype).kind != "f":
        return np.zeros(shape, dtype)
    return random.uniform(-1, 1, shape).astype(dtype)


__all__ = ["Operator"]
