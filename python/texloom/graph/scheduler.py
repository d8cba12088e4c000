"""The schedules that operators get: alternatives of kernels for a task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial

from .._core import Program, Tensor, _Alternative, _Task
from ..errors import TVMError
from ..ops.contraction import Contraction
from ..ops.schedules import schedule_default
from ..ops.schedules.family import Choose, default_knobs
from ..ops.schedules.processor import is_transform
from ..ops.schedules.storages import channels_last_storages, row_major_storages
from ..ops.schedules.texels import activation_storage, weight_storage
from ..ops.stages import stages_of
from .node_functions import scheduled


class Collected(dict[str, _Task]):
    """Tasks by their identities.

    Attributes
    ----------
    operators : Counter of str
        How many operators have each task, by identities; 0 if a compilation failed.
    """

    def __init__(self) -> None:
        super().__init__()
        self.operators: Counter[str] = Counter()

    def where(self, accepts: Callable[[_Task], bool]) -> Collected:
        """Return the tasks that a function accepts, with their numbers of operators."""
        made = Collected()
        made |= {identity: task for identity, task in self.items() if accepts(task)}
        made.operators += Counter({each: self.operators[each] for each in made})
        return made


_COLLECTED: ContextVar[Collected | None] = ContextVar("collected", default=None)


@contextmanager
def collected_tasks() -> Iterator[Collected]:
    """Collect the tasks that compilations in this context schedule."""
    tasks = Collected()
    outer = _COLLECTED.set(tasks)
    try:
        yield tasks
    finally:
        _COLLECTED.reset(outer)


def collect_operators(counts: Mapping[str, int]) -> None:
    """Tell :func:`collected_tasks` how many operators have a task, by the tasks' texts."""
    collected = _COLLECTED.get()
    if collected is not None:
        for identity, task in collected.items():
            collected.operators[identity] += counts.get(str(task), 0)


def alternatives_of(task: _Task, choose: Choose = default_knobs) -> list[_Alternative]:
    """Return the kernels that an operator may have, for the compiler to choose by cost.

    The core calls this once for each task of a compilation; graph passes call the methods of
    :class:`.kernel_library.KernelLibrary` instead.

    Parameters
    ----------
    task : _Task
        What an operator computes, where its operands may be stored, and the target
        (src/graph/task.h).
    choose : callable, optional
        Which knobs kernels have; see :func:`.schedule_default`.

    Raises
    ------
    TVMError
        TL3042 if a schedule raises another exception.
    """
    collected = _COLLECTED.get()
    if collected is not None:
        collected[task.identity] = task
    made = _over_buffers(task, choose)
    if task.textures:
        texels = _scheduled_if_possible(task, _texture_storages(task), choose)
        made += [] if texels is None else [_Alternative("texture", texels, may_fail=True)]
    return made


def _over_buffers(task: _Task, choose: Choose) -> list[_Alternative]:
    """Return the schedules with row-major buffers, and those with channels last if possible.

    A convolution that can have channels last gets no schedule with row-major buffers.
    """
    last = _with_channels_last(task, choose)
    if last is not None and last[1]:
        return [_Alternative("channels last", last[0])]
    row_major = _scheduled(task, _row_major_storages(task, choose), choose)
    alternatives = [_Alternative("global", row_major)]
    if last is not None:
        alternatives.append(_Alternative("channels last", last[0], may_fail=True))
    return alternatives


def _row_major_storages(task: _Task, choose: Choose) -> tuple[str, ...]:
    inputs, outputs = task.computation.inputs, task.computation.outputs
    constants = _stored_as("constant", (*inputs, *outputs), task)
    stages = stages_of(outputs)
    return row_major_storages(outputs, inputs, stages, constants, task.target, choose)


def _stored_as(storage: str, tensors: Sequence[Tensor], task: _Task) -> set[Tensor]:
    """Return those of the inputs, then outputs, that the task stores so."""
    return {each for each, own in zip(tensors, task.operands, strict=True) if own == storage}


def _with_channels_last(task: _Task, choose: Choose) -> tuple[Program, bool] | None:
    """Return a schedule with channels last, and whether the operator belongs to a convolution.

    None if there is no such schedule.
    """
    inputs, outputs = task.computation.inputs, task.computation.outputs
    stages = stages_of(outputs)
    fixed, constants = (
        _stored_as(storage, (*inputs, *outputs), task) for storage in ("row_major", "constant")
    )
    storages = channels_last_storages(
        outputs, inputs, stages, fixed, constants, task.target, choose
    )
    program = None if storages is None else _scheduled_if_possible(task, storages, choose)
    if program is None:
        return None
    multiplies = any(Contraction.of(each) is not None or is_transform(each) for each in stages)
    return program, multiplies


def _scheduled(task: _Task, storages: Sequence[str], choose: Choose) -> Program:
    schedule = partial(schedule_default, choose=choose)
    return scheduled("an operator", schedule, task.computation, tuple(storages), task.target)


def _scheduled_if_possible(task: _Task, storages: Sequence[str], choose: Choose) -> Program | None:
    """Return the schedule for these storages.

    None if all storages are row-major, or if the schedule is refused.

    Some computations cannot write texels, because the elements of a texel may need separate
    kernels. Some of these computations can be scheduled but not compiled; the compiler drops those
    alternatives.
    """
    if set(storages) == {"global"}:
        return None
    try:
        return _scheduled(task, storages, choose)
    except TVMError as error:
        if error.code == "TL3042":  # the schedule function itself is wrong
            raise
        return None


def _texture_storages(task: _Task) -> list[str]:
    """Return where the operands are stored if as many as possible are in textures."""
    tensors = (*task.computation.inputs, *task.computation.outputs)
    return [
        (weight_storage if storage == "constant" else activation_storage)(
            tensor.shape, tensor.dtype, task.target
        )
        for tensor, storage in zip(tensors, task.operands, strict=True)
    ]


__all__ = ["Collected", "alternatives_of", "collect_operators", "collected_tasks"]
